"""Everything from scratch: what it costs is told first, and a second call goes on."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from bookbuild.costs import ESTIMATES, UNKNOWN, UNTIMED, Cost, declaration_of, row_costs, run_costs
from bookbuild.published import scratch
from bookbuild.source.book import read_book
from bookbuild.source.chapters import read_chapters, read_toc
from tools.this_book import ROOT, chapters
from toy_book import LINE, SQUARE, Toy

LONG = '''"""Stored runs of the toy book: sums that take their time."""
import time
from dataclasses import dataclass
from pathlib import Path
from emergence.running.records import StoredRuns

@dataclass(frozen=True)
class Cell:
    steps: int

def run(cell: Cell) -> int:
    for _ in range(cell.steps):
        with Path("steps.log").open("a") as log:
            log.write(f"{cell.steps}\\n")
        time.sleep(0.05)
    return cell.steps

RUNS = StoredRuns(run, (Cell(3), Cell(100)))
'''
FILE, TIMES = "data/long.json", "data/times.json"
COUNTS = (
    "import pathlib as p; n = p.Path('runs'); n.write_text(n.read_text() + '.' if n.exists() else "
    "'.'); p.Path('data/times.json').write_text(str(len(n.read_text())))"
)


@pytest.fixture
def long(toy):
    """The toy book with a chapter that reads two stored runs; one of them is a forged one."""
    (toy.root / "src/toy/long.py").write_text(LONG, encoding="utf-8")
    unknown = dict.fromkeys(("code", "commit", "machine", "date")) | {"versions": {}}
    runs = [
        unknown | {"configuration": {"": "Cell", "steps": steps}, "seconds": seconds, "result": sum}
        for steps, seconds, sum in ((3, 120.0, 3), (100, None, 99))
    ]
    (toy.root / FILE).write_text(json.dumps(runs), encoding="utf-8")
    toy.edit("_config.yml", "  stored_runs:\n", f"  stored_runs:\n    {FILE}: toy.long\n")
    toy.edit("book/paper/01_line.md", "data/points.csv]", f"data/points.csv, {FILE}]")
    toy.append(
        LINE,
        "from toy import long\n"
        f"sums = long.RUNS.read(Path({FILE!r}).read_text())\n"
        "from bookbuild import check\n"
        "check('sums', tuple(sorted(sums.values())), within=(3, 100))",
    )
    return toy


def started(toy, *arguments):
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "bookbuild", *arguments, "--device", "cpu", "--from", "scratch"],
        cwd=toy.root,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'bookbuild' / 'src'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_a_killed_one_goes_on_and_no_stored_value_is_lent_to_a_chapter(long):
    log, process = long.root / "steps.log", started(long, "build")
    deadline = time.monotonic() + 300
    while not log.is_file() or log.read_text().count("100\n") < 5:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    made = long.root / scratch.FOLDER / FILE
    while "3" not in made.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    output, _ = started(long, "chapter", LINE).communicate(timeout=600)
    assert re.search(r" sums +3 to 100 +3 to 100 +holds", output), output
    assert f"{FILE}: 1 of 2 runs as stored, to the bit" in output
    assert log.read_text().split().count("3") == 3  # what was finished was not computed again
    assert json.loads((long.root / FILE).read_text())[1]["result"] == 99  # the book's own stays


def test_a_row_costs_what_its_chapter_and_all_that_it_reads_cost(long):
    chapters = read_chapters(long.root, read_toc(long.root))
    spent = run_costs(long.root)[FILE]
    assert spent == [Cost(120.0, "timed"), Cost(UNKNOWN, "guessed")]
    (path := long.root / ESTIMATES).parent.mkdir()
    key = declaration_of(FILE, {"": "Cell", "steps": 100})
    path.write_text(json.dumps({"runs": {key: {"name": "long 2", "seconds": 240.0}}}))
    toy_costs = row_costs(long.settings(), chapters)
    assert toy_costs[LINE] == Cost(UNTIMED + 120 + 240, "guessed")
    assert toy_costs[SQUARE] == Cost(UNTIMED, "guessed")


def test_every_judged_row_of_this_book_can_be_computed_from_scratch_at_a_known_cost():
    book, declared = Toy(ROOT), read_book(ROOT)
    costs = row_costs(book.settings(), chapters())
    assert [c.name for c in chapters() if scratch.not_computed(c, ROOT)] == []
    assert all(costs[chapter.name].seconds > 0 for chapter in chapters())
    read = {file for chapter in chapters() for file in chapter.data if file.endswith(".json")}
    assert read <= {*declared.stored_runs, *declared.measured}
    assert all((ROOT / file).is_file() for file in declared.measured)


@pytest.mark.usefixtures("without_site")
def test_everything_is_computed_in_a_folder_of_its_own_and_once(toy):
    output, settings = scratch.reproduce_from_scratch(toy.settings(), *toy.heard())
    assert toy.lines[:3] == [
        f"{LINE}: 1 judged rows, {UNTIMED / 60:.1f} min guessed",
        f"{SQUARE}: 1 judged rows, {UNTIMED / 60:.1f} min guessed",
        "in all at most 2 min of one core; 2 of 2 judged rows rest on no stored value",
    ]
    assert (output.executed, output.cached) == (2, 0)  # though the book itself has been built
    assert settings.root == toy.root / scratch.FOLDER
    output, _ = scratch.reproduce_from_scratch(toy.settings(), *toy.heard())
    assert (output.executed, output.cached) == (0, 2)


def measured(root, command):
    """Measure a file again below a folder, where it is stored, and return what was told."""
    output = []
    for name in ("src", "data"):
        (root / name).mkdir(exist_ok=True)
    (root / TIMES).write_text("stored", encoding="utf-8")
    scratch.measure_again({TIMES: {"command": command}}, root, output.append)
    return output


def test_a_file_is_measured_once_and_put_in_place_again(tmp_path):
    command = f'python -c "{COUNTS}"'
    assert measured(tmp_path, command) == [f"{TIMES}: {command}"]
    assert measured(tmp_path, command) == []
    assert (tmp_path / TIMES).read_text(encoding="utf-8") == "1"
