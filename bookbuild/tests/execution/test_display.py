"""What is told while chapters run, and how the news leaves the kernel."""

import json
import logging
from pathlib import Path
from unittest import mock

import pytest

from bookbuild.execution.display import Display
from bookbuild.reporting import progress


def record(experiment: str, step: int, time: float) -> dict[str, object]:
    return {"experiment": experiment, "step": step, "total": 100, "time": time}


def told(*steps: tuple[str, int, float]) -> list[str]:
    """What is printed of a chapter whose experiments are at these steps at these times."""
    now, lines = 0.0, list[str]()
    display = Display(lines.append)
    with mock.patch("time.time", side_effect=lambda: now):
        display.start("paper/a")
        display.progress("paper/a", None)
        for experiment, step, now in steps:
            display.progress("paper/a", record(experiment, step, now))
        display.done("paper/a", 100.0, failed=False)
    return lines


def test_plain_lines_tell_start_progress_now_and_then_and_end() -> None:
    assert told(*(("figure 4", step, step) for step in range(0, 100, 10))) == [
        "paper/a: started",
        "paper/a: figure 4, step 20 of 100, about 80 s left",
        "paper/a: figure 4, step 40 of 100, about 60 s left",
        "paper/a: figure 4, step 60 of 100, about 40 s left",
        "paper/a: figure 4, step 80 of 100, about 20 s left",
        "paper/a: done in 100.0 s",
    ]


def test_the_time_left_is_that_of_the_current_experiment() -> None:
    assert told(("slow", 1, 0.0), ("quick", 0, 30.0), ("quick", 60, 60.0))[1:-1] == [
        "paper/a: quick, step 0 of 100",
        "paper/a: quick, step 60 of 100, about 20 s left",
    ]


def test_the_file_has_what_matters_and_not_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "progress.jsonl"
    monkeypatch.setenv(progress.PROGRESS_FILE, str(path))
    monkeypatch.setattr(progress, "PROGRESS_LOGGER", "bookbuild.test")
    progress.attach_from_environment()
    progress.attach_from_environment()
    log = logging.getLogger("bookbuild.test")
    for experiment in ("first", "second"):
        for step in range(1, 101):
            log.info("", extra={"experiment": experiment, "step": step, "total": 100})
    log.info("a line without an experiment")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    expected = [(experiment, step) for experiment in ("first", "second") for step in (1, 100)]
    assert [(line["experiment"], line["step"]) for line in lines] == expected
