"""Stored runs: one command computes them, goes on when killed, and a page tells their code."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bookbuild.errors import BookError
from bookbuild.execution.runs import File, Recording, digests, file_of, remark
from bookbuild.ledger.outcomes import RECORD, Record, Runs, read_outcomes, replaced, text_of
from bookbuild.results.machine import machine_name
from bookbuild.settings import Settings
from running.executors import Serial
from running.records import written
from tools.this_book import ROOT, chapters
from tools.toy_book import Command

BUILDER = ROOT / "bookbuild" / "src" / "bookbuild"

TINY = '''"""A declaration for a test: sums that take their time and tell each step."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch

from running import loop
from running.cache import Task
from running.records import StoredRuns


@dataclass(frozen=True)
class Cell:
    """A sum."""

    seed: int
    steps: int


def run(cell: Cell) -> dict[str, float]:
    """Add a number at each step."""
    x = torch.zeros(())
    for step in loop.steps(Task.of(run, cell=cell), cell.steps, "tiny", x=x):
        with Path("steps.log").open("a") as log:
            log.write(f"{cell.seed} {step}\\n")
        x += 1
        time.sleep(0.01)
    return {"sum": float(x)}


RUNS = StoredRuns(run, (Cell(0, 3), Cell(1, 400), Cell(2, 400)))
'''


class Copy:
    """A copy of the sources that declares tiny runs, and its command in a process of its own."""

    def __init__(self, root: Path) -> None:
        self.root, self.file = root, root / "data" / "tiny.json"
        shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
        (root / "data").mkdir()
        (root / "src/emergence/tiny.py").write_text(TINY, encoding="utf-8")
        declared = "bookbuild: {stored_runs: {data/tiny.json: emergence.tiny}}\n"
        (root / "_config.yml").write_text(declared, encoding="utf-8")
        shutil.copytree(BUILDER, root / "src/bookbuild")  # which is found there first
        self.edit("bookbuild/settings.py", "_INTERVAL = 30.0", "_INTERVAL = 0.2")

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / "src" / path).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (self.root / "src" / path).write_text(text.replace(old, new), encoding="utf-8")

    def start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "bookbuild", "runs", *options],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": str(self.root / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *options: str) -> tuple[int, str]:
        process = self.start(*options)
        told, _ = process.communicate(timeout=120)
        return process.returncode, told

    def steps(self) -> list[tuple[int, int]]:
        log = self.root / "steps.log"
        lines = log.read_text().split("\n")[:-1] if log.exists() else []
        return [(int(seed), int(step)) for seed, step in map(str.split, lines)]

    def entries(self) -> list[dict[str, Any]]:
        return json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else []

    def sums(self) -> list[float]:
        return [entry["result"]["sum"] for entry in self.entries()]


def wait(ready: Callable[[], bool], seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_killed_it_goes_on_from_its_state(tmp_path: Path) -> None:
    copy, jobs = Copy(tmp_path), "2"
    process = copy.start("tiny", "--jobs", jobs)
    wait(lambda: bool(copy.entries()) and (1, 100) in copy.steps())
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert [entry["result"] for entry in copy.entries()] == [{"sum": 3.0}]
    before = len(copy.steps())
    code, told = copy.run("tiny", "--jobs", jobs)
    assert (code, told.splitlines()[-1]) == (0, "tiny: complete")
    again = copy.steps()[before:]
    assert (0, 0) not in again
    assert 0 < min(step for seed, step in again if seed == 1) <= 101
    assert copy.sums() == [3.0, 400.0, 400.0]
    first = copy.entries()[0]
    assert first["configuration"] == {"": "Cell", "seed": 0, "steps": 3}
    assert first["machine"] == machine_name()
    assert {"python", "torch"} == {*first["versions"]}
    assert first["seconds"] >= 0
    assert copy.entries()[1]["seconds"] is None  # it went on from a state
    assert not list((tmp_path / "_build" / "runs").glob("*"))
    whole, before = copy.file.read_bytes(), len(copy.steps())
    assert copy.run("tiny")[0] == 0
    assert (copy.file.read_bytes(), len(copy.steps())) == (whole, before)


def test_an_unknown_name_and_a_damaged_file_are_told_in_a_sentence(
    tmp_path: Path, command: Command
) -> None:
    assert command(tmp_path, "runs", "lost") == (
        "There are no stored runs called 'lost'; the known names are: none."
    )
    (tmp_path / "_config.yml").symlink_to(ROOT / "_config.yml")
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "data/companions").mkdir(parents=True)
    whole = (ROOT / "data/companions/k_hop.json").read_text(encoding="utf-8")
    path = tmp_path / "data/companions/k_hop.json"
    renamed = whole.replace('"n_layers"', '"depth"')
    for text, why in (
        (whole[:900], "the stored runs of Cell are damaged: no JSON"),
        (renamed, "these are no stored runs of Cell: Cell has other"),
    ):
        path.write_text(text, encoding="utf-8")
        told = command(tmp_path, "runs", "k_hop")
        assert told.startswith(f"{path}: {why}")
        assert "\n" not in told
        assert path.read_text(encoding="utf-8") == text


def copied(tmp_path: Path, code: Callable[[str, int], str | None]) -> File:
    """A stored file in a folder, each entry with the code that is asked for."""
    for name in ("src", "_config.yml"):
        (tmp_path / name).symlink_to(ROOT / name)
    file = File(file_of("k_hop", ROOT), ROOT, ROOT / "src")
    path = tmp_path / file.file
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [e._replace(code=code(file.code, i)) for i, e in enumerate(file.entries.values())]
    path.write_text(written(entries), encoding="utf-8")
    return File(file.file, tmp_path, tmp_path / "src")


@pytest.mark.parametrize(
    ("code", "earlier", "told"),
    [
        (lambda today, _: today, 0, ""),
        (lambda today, place: today if place > 2 else None, 3, ", 3 were made by earlier code"),
        (lambda today, place: "f00" if place == 0 else today, 1, ", 1 was made by earlier code"),
    ],
)
def test_a_page_tells_of_runs_by_earlier_code(
    tmp_path: Path, code: Callable[[str, int], str | None], earlier: int, told: str
) -> None:
    file = copied(tmp_path, code)
    assert file.earlier == len([c for c in file.lacking if c in file.entries]) == earlier
    chapter = replace(chapters()[0], data=(file.file,))
    sentence = f"Of the {len(file.entries)} stored runs of this chapter{told}"
    said = remark(chapter, Settings(tmp_path))
    assert said.startswith(sentence) if told else said == ""


def recorded(file: File, same: tuple[str, ...]) -> None:
    """Have the record say which codes made the same runs, and what the file holds."""
    line = Runs(file.file, same, digests(file.path.read_text(encoding="utf-8")))
    (file.root / RECORD).write_text(text_of(replaced(Record(), [line])), encoding="utf-8")


def test_a_run_that_was_changed_by_hand_is_refused_and_one_made_again_recorded(
    tmp_path: Path,
) -> None:
    file = copied(tmp_path, lambda today, _: today)
    recorded(file, ("f00", file.code))
    file = File(file.file, tmp_path, tmp_path / "src")
    *_, last = file.entries.values()
    file.keep(last._replace(result={"moments": [], "right": []}))
    known = read_outcomes(tmp_path).runs[file.file]
    assert known.same == ("f00", file.code)
    whole = file.path.read_text(encoding="utf-8")
    assert known.entries == digests(whole)
    entries = json.loads(whole)
    entries[2]["seconds"] = 7.0
    for changed, place in ((entries, 3), (entries[:2], 3), (entries[1:], 1)):
        file.path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(BookError, match=f"entry {place}: it was changed by hand"):
            File(file.file, tmp_path, tmp_path / "src")


def called(function: Callable[[int], int], size: int) -> int:
    """Call a function, as the sweep does in a worker."""
    return function(size)


def failing(size: int) -> int:
    """A run that fails for one size."""
    if size == 2:
        raise ArithmeticError("two")
    return -size


def test_each_result_is_handed_over_and_an_error_is_no_result() -> None:
    found: list[tuple[int, int]] = []
    executor = Recording(Serial(), lambda size, result, *_: found.append((size, result)))
    assert executor.submit(called, failing, 5).result() == -5
    with pytest.raises(ArithmeticError, match="two"):
        executor.submit(called, failing, 2).result()
    assert found == [(5, -5)]
