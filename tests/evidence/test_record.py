"""The record of this book: whole, not edited by hand, and what it says comes out again."""

import os
import random
import subprocess
from collections import Counter

import pytest

from bookbuild.execution.runs import File
from bookbuild.ledger.claims import Finding
from bookbuild.reporting.measures import Measure
from bookbuild.results.contents import different
from bookbuild.results.machine import machine_name
from bookbuild.source.book import read_book
from evidence.book import TOY, JudgedBook
from evidence.outcomes import Numbers, Outcome
from evidence.rows import fate
from evidence.runner import changes, constants_of, measure, toy_numbers
from tools.this_book import ROOT

RUNS = [file for file in read_book(ROOT).stored_runs if (ROOT / file).is_file()]
CHEAP = 25.0  # seconds that a line may take that a test computes again
HISTORY = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="here is no history")


@pytest.fixture(scope="module")
def book() -> JudgedBook:
    return JudgedBook(ROOT)


def test_the_constants_of_the_code_of_today_are_those_that_are_recorded(book: JudgedBook) -> None:
    lines = [one for one in book.record.numbers.values() if one.same[-1] == book.today[one.chapter]]
    assert [one.chapter for one in lines if one.constants != constants_of(book, one.chapter)] == []


@HISTORY
def test_the_commit_of_every_line_is_in_the_history(book: JudgedBook) -> None:
    commits = subprocess.check_output(["git", "rev-list", "HEAD"], cwd=ROOT, text=True)
    outcomes = book.record.outcomes.values()
    named = {one.commit.partition(" ")[0] for one in outcomes if one.commit}
    assert [one for one in named if f"\n{one}" not in f"\n{commits}"] == []


def test_no_stored_run_was_changed_by_hand(book: JudgedBook) -> None:
    for file in RUNS:
        entries = File(file, ROOT, ROOT / "src").entries
        assert len(book.record.runs[file].entries) == len(entries) > 0


def test_the_record_knows_every_chapter_and_variations_as_they_are_declared(
    book: JudgedBook,
) -> None:
    assert {*book.record.numbers} == {*book.chapters}
    assert {*book.record.runs} == {*RUNS}
    declared = {(name, one.name): one.declaration for name, one in book.declared()}
    places = book.record.outcomes.items()
    ours = {place: one.of for place, one in places if not place[1].startswith("machine ")}
    assert ours.items() <= declared.items()


def test_nothing_is_declared_twice(book: JudgedBook) -> None:
    names = Counter((name, one.name) for name, one in book.declared())
    assert [name for name, n in names.items() if n > 1] == []


def test_every_change_of_a_source_fits(book: JudgedBook) -> None:
    for one in book.variations:
        assert {*one.chapters} <= {*book.chapters}, one.name
        for change in one.changes:
            assert change.applied(ROOT) != (ROOT / change.file).read_text("utf-8"), one.name


def test_at_a_release_nothing_is_outdated(book: JudgedBook) -> None:
    order = ["git", "tag", "--points-at", "HEAD"]
    tags = subprocess.run(order, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not tags and os.environ.get("GITHUB_REF_TYPE") != "tag":
        pytest.skip("this commit is no release")
    outdated = [f"{one.chapter}, {one.variation.name}" for one in book.trials()]
    assert outdated == [], "run make record before a release"


def differences(book: JudgedBook, line: Numbers | Outcome) -> list[str]:
    """What comes out otherwise when a chapter is executed again as a line says, a sentence each.

    On the kind of machine that measured, every bit has to be the same. Where that is not known, or
    is another, the verdicts have to be.
    """
    if isinstance(line, Numbers):
        again = measure(book.root, line.chapter, TOY)
        return changes(line, toy_numbers(book, line.chapter, again))
    variations = {(name, one.name): one for name, one in book.declared()}
    again = measure(book.root, line.chapter, variations[line.chapter, line.variation])
    if line.machine == machine_name() and not line.fates:
        here = {key: again.values.get(key) for key in line.values}
        return different(dict(line.values), here, 0.0)
    rows = [
        Finding(claim, Measure.of(result), "not judged")
        for claim in book.claims
        if claim.chapter == line.chapter and (result := again.measures.get(claim.measure))
    ]
    if line.fates:
        base = book.record.without_fault(line)
        turned = {row.claim.id for row in rows if fate(row, base, again.values) == "turned"}
        lost = sorted({*line.fates.get("turned", ())} - turned)
        return [f"{line.variation} no longer turns {row}" for row in lost]
    return [
        *(f"{key} is not measured" for key in line.values if key not in again.values),
        *(
            f"{row.claim.id} has another verdict"
            for row in rows
            if row.claim.measure in line.values
            and row.verdict_on(line.values) != row.verdict_on(again.values)
        ),
    ]


@pytest.mark.parametrize("kind", ["numbers", "seed", "rounding", "fault"])
def test_a_random_line_comes_out_again(book: JudgedBook, kind: str) -> None:
    numbers = book.record.numbers.values()
    lines: list[Numbers | Outcome] = [
        *(one for one in numbers if kind == "numbers" and one.same[-1] == book.today[one.chapter]),
        *(
            one
            for one in book.record.outcomes.values()
            if one.kind == kind
            and one.seconds <= CHEAP
            and (not one.fates or (one.profile == "smoke" and one.fates.get("turned")))
            and book.record.is_current(one.chapter, one.fingerprint, book.today[one.chapter])
        ),
    ]
    if not lines:
        pytest.skip(f"no cheap line of the kind {kind} is about the code of today")
    line = random.SystemRandom().choice(lines)
    assert differences(book, line) == [], line
