"""The record of a toy book: what is tried, what does not count, and what comes out again."""

import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from bookbuild.errors import BookError
from bookbuild.processes import locked
from evidence import trials
from evidence.__main__ import record
from evidence.record import RECORD, read_record, write_record
from evidence.trials import RecordedBook, make, repeat
from tools.this_book import ROOT
from toy_book import LINE, SQUARE, Toy, new_toy

DECLARED = """
seeds: [100]
settings:
- {says: less, in: src/toy/line.py, right: "2.0 *", wrong: "1.99 *", chapters: &at [paper/01_line]}
faults:
- {says: Two is three., in: src/toy/line.py, right: "2.0 *", wrong: "3.0 *", chapters: *at}
- {says: dead code, in: src/toy/line.py, right: return "unused", wrong: return 1, chapters: *at}
- {says: nowhere, in: src/toy/no.py, right: a, wrong: b, chapters: *at}
"""
NAMES = ("Two is three.", "as it is", "drawn", "less", "seed 100", "without stored runs")
STORED = """```{code-cell} ipython3
stored = float(Path("data/points.json").read_text())
report(stored=stored)
1 / 0
```
"""
pytestmark = pytest.mark.slow("a toy book is executed under each variation")
CLAIM = """- {id: stored-value, source: §1, statement: S., kind: paper, chapter: paper/01_line,
   measure: stored, expect: {at_least: 1}, why: W.}"""
Made = tuple[Toy, list[str], str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A toy book with random, stored and exact rows, its record, what was told and refused."""
    toy, told = new_toy(tmp_path_factory.mktemp("evidence") / "toy"), []
    unneeded = shutil.ignore_patterns("__pycache__", "tests", "variations.yml")
    for part in ("evidence", "src/emergence", "bookbuild"):
        shutil.copytree(ROOT / part, toy.root / part, ignore=unneeded)
    (toy.root / "evidence/variations.yml").write_text(DECLARED, encoding="utf-8")
    (toy.root / "data/points.json").write_text("2.0", encoding="utf-8")
    toy.edit("_config.yml", "  stored_runs:\n", "  stored_runs:\n    data/points.json: toy.line\n")
    toy.edit("src/toy/line.py", "@kept", 'def unused():\n    return "unused"\n\n\n@kept')
    page = f"book/{LINE}.md"
    toy.edit(page, "line.slopes(points)", "[x + seed / 1e12 for x in line.slopes(points)]")
    toy.edit(page, "The slope is", f"{STORED}\nThe slope is")
    toy.edit(page, "[data/points.csv]", "[data/points.csv, data/points.json]")
    toy.edit("data/claims.yml", "expect: {at_most: 8}", "expect: {at_most: 8}\n  exact: A product.")
    toy.edit("data/claims.yml", "- id: line-slope", f"{CLAIM}\n- id: line-slope")
    for order in ("init --quiet", "add .", "commit --quiet --message All"):
        toy.git(*order.split())
    with pytest.raises(BookError) as refused:
        make(RecordedBook(toy.root, toy.git("rev-parse", "HEAD").strip()), told.append, 1e9, 2)
    return toy, told, str(refused.value)


@pytest.fixture
def toy(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """A copy of the book with its record; what is executed again comes out as it did."""
    outcomes = read_record(made[0].root).outcomes
    monkeypatch.setattr(trials, "measure", lambda _, v: outcomes[v.chapter, v.name])
    shutil.copytree(made[0].root, tmp_path / "toy", symlinks=True)
    return Toy(tmp_path / "toy")


def test_the_record_has_each_variation_that_shows_and_others_are_refused(made: Made) -> None:
    found = read_record(made[0].root)
    assert [*found.outcomes] == [(SQUARE, "as it is"), *((LINE, name) for name in NAMES)]
    values = {name: found.outcomes[LINE, name].values for name in NAMES}
    assert found.release
    assert found.release.commit == made[0].git("rev-parse", "HEAD").strip()
    assert values["drawn"]["slope"] == [2.0 + found.release.seed / 1e12] * 3
    assert values["Two is three."] == {"slope": [3.0] * 3, "stored": 2.0}
    assert values["without stored runs"] == {"slope": [2.0] * 3}
    assert found.release.expectations["stored-value"] == "at least 1"
    assert sum(line.endswith(": recorded") for line in made[1]) == len(found.outcomes)
    dead, nowhere = sorted(made[2].splitlines())
    assert dead == f"{LINE}, dead code: it changes no value that the chapter reports."
    assert nowhere.startswith(f"{LINE}, nowhere: src/toy/no.py has a text to be changed 0 times")


def test_whatever_was_edited_since_it_goes_on_with_the_commit_that_it_began(toy: Toy) -> None:
    before = read_record(toy.root)
    some = {place: o for place, o in before.outcomes.items() if o.kind in ("base", "fault")}
    write_record(toy.root, replace(before, outcomes=some))
    toy.edit("src/toy/line.py", "2.0 *", "2.5 *")
    toy.git("commit", "--quiet", "--all", "--message", "Later code")
    with pytest.raises(BookError, match="dead code"):
        make(RecordedBook(toy.root), lambda _: None, 1e9, 1)
    assert read_record(toy.root) == before
    later = toy.git("rev-parse", "HEAD").strip()
    assert RecordedBook(toy.root, later).record.outcomes == {}


def test_what_is_repeated_is_equal_unless_a_line_was_forged(toy: Toy) -> None:
    told: list[str] = []
    assert repeat(RecordedBook(toy.root), told.append, Random(1), 1e9, 2) == []
    assert len(told) == len(read_record(toy.root).outcomes)
    toy.edit(str(RECORD), "[3.0, 3.0, 3.0]", "[3.0, 3.0, 2.0]")
    apart = repeat(RecordedBook(toy.root), told.append, Random(1), 1e9, 2)
    assert apart == [f"{LINE}, Two is three. (line-slope)"]


def test_what_cannot_be_read_or_begun_is_told(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BookError, match="git archive: "):
        RecordedBook(toy.root, "nothing")
    for text in ("{", '{"version": "1"}'):
        (toy.root / RECORD).write_text(text, encoding="utf-8")
        with pytest.raises(BookError, match=f"^{RECORD}, line 1: "):
            read_record(toy.root)
    (toy.root / RECORD).unlink()
    with pytest.raises(BookError, match="begin with make record COMMIT=HEAD"):
        RecordedBook(toy.root)
    monkeypatch.chdir(toy.root)
    with (
        locked(Path("_build/evidence/lock"), "recording of evidence"),
        pytest.raises(BookError, match="Another recording of evidence is running here"),
    ):
        record.callback(commit="", minutes=0, jobs=1)  # type: ignore[misc]
