"""What is told while chapters run, and how the news leaves the kernel."""

import json
import logging
from pathlib import Path
from unittest import mock

import pytest

from bookbuild.execution.display import Display
from bookbuild.reporting import progress


def told(*steps: tuple[str, int, float]) -> list[str]:
    """What is printed of a chapter whose experiments are at these steps at these times."""
    now, lines = 0.0, list[str]()
    display = Display(lines.append)
    with mock.patch("time.time", side_effect=lambda: now):
        display.start("paper/a")
        display.progress("paper/a", {})
        for experiment, step, now in steps:
            record = {"experiment": experiment, "step": step, "total": 100, "time": now}
            display.progress("paper/a", record)
        display.done("paper/a", 100.0, failed=False)
    return lines


def test_lines_tell_start_progress_now_and_then_and_end() -> None:
    """The time left is that of the current experiment."""
    steps = [("slow", 1, 0.0), *(("quick", step, 20.0 + step) for step in range(0, 60, 10))]
    assert told(*steps) == [
        "paper/a: started",
        "paper/a: quick, step 0 of 100",
        "paper/a: quick, step 20 of 100, about 80 s left",
        "paper/a: quick, step 40 of 100, about 60 s left",
        "paper/a: done in 100.0 s",
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
