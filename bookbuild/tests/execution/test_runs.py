"""Stored runs: one command computes them, goes on when killed, and a page tells their code."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from bookbuild.execution.runs import File, file_of, remark
from bookbuild.results.machine import machine_name
from bookbuild.settings import BuildSettings
from emergence.running.records import written
from tools.this_book import ROOT, chapters

TINY = '''"""A declaration for a test: sums that take their time and tell each step."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch

from emergence.running import loop
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns


@dataclass(frozen=True)
class Cell:
    """A sum."""

    seed: int
    steps: int


@resumable
def run(cell: Cell) -> dict[str, float]:
    """Add a number at each step."""
    x = torch.zeros(())
    for step in loop.steps(cell.steps, "tiny", x=x):
        with Path("steps.log").open("a") as log:
            log.write(f"{cell.seed} {step}\\n")
        x += 1
        time.sleep(0.01)
    return {"sum": float(x)}


RUNS = StoredRuns(run, (Cell(0, 3), Cell(1, 400), Cell(2, 400)))
'''


class Tiny:
    """A book that declares tiny runs, and its command in a process of its own."""

    def __init__(self, root):
        self.root, self.file = root, root / "data" / "tiny.json"
        for name, text in {
            "src/tiny.py": TINY,
            "_config.yml": "bookbuild:\n  running: emergence.running\n"
            "  stored_runs: {data/tiny.json: tiny}\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")

    def start(self, *before, more=()):
        """Start the command, after some code."""
        often = "book.BuildSettings = functools.partial(book.BuildSettings, interval=0.2)"
        imports = ("import functools, signal", "from bookbuild.cli import book, main")
        code = "; ".join((*imports, often, *before, "main()"))
        path = os.pathsep.join([str(self.root / "src"), *filter(None, sys.path)])
        return subprocess.Popen(
            [sys.executable, "-c", code, "runs", "tiny", "--jobs", "2", "--minutes", "9", *more],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *before, more=()):
        """Run the command to its end, and return the last that it printed."""
        process = self.start(*before, more=more)
        output, _ = process.communicate(timeout=600)
        assert process.returncode == 0, output
        return output.splitlines()[-1]

    def steps(self):
        log = self.root / "steps.log"
        lines = log.read_text().split("\n")[:-1] if log.exists() else []
        return [(int(seed), int(step)) for seed, step in map(str.split, lines)]

    def entries(self):
        return json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else []


@pytest.mark.slow("it waits for runs that it kills")
def test_killed_or_out_of_time_it_goes_on_from_its_state(tmp_path):
    book = Tiny(tmp_path)
    process, end = book.start(), time.monotonic() + 300
    while not (book.entries() and (1, 100) in book.steps()):
        assert time.monotonic() < end
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert [entry["result"] for entry in book.entries()] == [{"sum": 3.0}]
    before = len(book.steps())
    soon = "alarm = signal.alarm; signal.alarm = lambda s: alarm(s and 1)"
    assert book.run(soon) == "tiny: 2 stored runs are left to compute"
    assert book.run() == "tiny: complete"
    again = book.steps()[before:]
    assert (0, 0) not in again
    assert 0 < min(step for seed, step in again if seed == 1) <= 101
    first, second, third = book.entries()
    assert [entry["result"]["sum"] for entry in (first, second, third)] == [3.0, 400.0, 400.0]
    assert first["configuration"] == {"": "Cell", "seed": 0, "steps": 3}
    assert first["machine"] == machine_name()
    assert {"python", "torch"} == {*first["versions"]}
    assert first["seconds"] >= 0
    assert second["seconds"] is None  # it went on from a state
    whole, before = book.file.read_bytes(), len(book.steps())
    assert book.run() == "tiny: complete"
    assert (book.file.read_bytes(), len(book.steps())) == (whole, before)


@pytest.mark.slow("a process that loads PyTorch")
def test_only_new_configurations_are_computed_where_that_is_asked_for(tmp_path, monkeypatch):
    book = Tiny(tmp_path)
    monkeypatch.syspath_prepend(str(book.root / "src"))
    file = File("data/tiny.json", book.root, book.root / "src")
    unknown = dict.fromkeys(("commit", "machine", "seconds", "date")) | {"versions": {}}
    for cell, code in zip(file.runs.cells, ("f00", "f00", file.code), strict=True):
        file.keep(file.records.Entry(cell, code, result={"sum": -1.0}, **unknown))
    assert (file.seeds(), file.seeds(current=True)) == ({0, 1, 2}, {2})
    source = book.root / "src/tiny.py"
    source.write_text(TINY.replace("Cell(1, 400)", "Cell(7, 4)"), encoding="utf-8")
    assert book.run(more=["--new"]) == "tiny: complete"
    found = {run["configuration"]["seed"]: run["result"]["sum"] for run in book.entries()}
    assert found == {0: -1.0, 2: -1.0, 7: 4.0}


def copied(tmp_path, code):
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
    ],
)
def test_a_page_tells_of_runs_by_earlier_code(tmp_path, code, earlier, told):
    file = copied(tmp_path, code)
    assert file.earlier == len([c for c in file.lacking if c in file.entries]) == earlier
    chapter = replace(chapters()[0], data=(file.file,))
    sentence = f"Of the {len(file.entries)} stored runs of this chapter{told}"
    said = remark(chapter, BuildSettings(tmp_path))
    assert said.startswith(sentence) if told else said == ""
