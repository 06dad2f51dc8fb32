"""What the record of evidence says of a row, and the record and the variations of this book."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.records import Records
from bookbuild.reporting.expectations import read_expectation
from bookbuild.reporting.measures import Measure
from bookbuild.settings import BuildSettings
from evidence.record import Outcome, Record, Release, read_record, write_record
from evidence.rows import Standing, lowered, standing_of, turned
from evidence.shown import FIELDS, QUESTIONS, Evidence
from evidence.variations import DECLARED, Variation, declared, variations
from tools.this_book import ROOT, chapters, claims

CHAPTER = "paper/01_line"
VARIED: dict[str, Any] = {"seeds": [100, 200], "roundings": {"threads": {}}}
RELEASE = Release("0.2.0", "0000000a" * 5, "2026-11-29", "Linux", {"a-row": "at least 1"})
SEEDS = ("drawn", "seed 100", "seed 200")


def row(value: Any = 2.0, **told: Any) -> Finding:
    expectation = read_expectation({"at_least": 1})
    over = "seeds" if isinstance(value, list) else None
    measured = Measure.of({"value": value, "over": over})
    about = ("a-row", "§1", "A.", "paper", CHAPTER, "slope", expectation, "Because.")
    return Finding(Claim(*about, **told), measured, expectation.verdict(measured))


def outcome(name: str, value: Any = 2.5) -> Outcome:
    kinds = {"as": "base", "drawn": "seed", "without": "without stored runs"}
    first = name.partition(" ")[0]
    kind: Any = kinds.get(first, first if first in ("seed", "rounding", "setting") else "fault")
    values = {} if value is None else {"slope": value}
    return Outcome(CHAPTER, name, kind, "paper", 1.0, values)


def recorded(*outcomes: Outcome) -> Record:
    every = (outcome("as it is", 2.0), *outcomes)
    return Record(RELEASE, {(each.chapter, each.variation): each for each in every})


def standing(*outcomes: Outcome, of: Finding | None = None, fresh: int = 0) -> Standing:
    found = standing_of(of or row(), recorded(*outcomes), VARIED, {CHAPTER: (5, fresh)})
    assert found
    return found


def repeated(value: Any = 2.5) -> list[Outcome]:
    return [outcome(name, value) for name in (*SEEDS, "rounding threads")]


def judged(*outcomes: Outcome, of: Finding | None = None, fresh: int = 0) -> Finding:
    finding = of or row()
    return lowered(finding, standing(*outcomes, of=finding, fresh=fresh))


def test_a_row_that_was_repeated_everywhere_keeps_its_verdict() -> None:
    found = standing(*repeated())
    assert judged(*repeated()) == row()
    assert (found.seeds.state, found.rounding.state) == ("steady", "steady")
    assert (found.foresight, found.recorded) == ("reproduced", "reproduced")
    assert (found.alertness, found.settings.reruns) == ("green", {})


@pytest.mark.parametrize("lacking", range(4))
def test_one_that_lacks_a_seed_or_a_rounding_is_partly_and_unconfirmed(lacking: int) -> None:
    some = [one for place, one in enumerate(repeated()) if place != lacking]
    for outcomes in (some, [*some, replace(repeated()[lacking], values={})]):
        after = judged(*outcomes)
        assert (after.verdict, after.unconfirmed) == ("partly", True)


@pytest.mark.parametrize("name", [*SEEDS, "rounding threads", "setting of ours"])
def test_one_that_flips_is_partly_and_says_where(name: str) -> None:
    found = standing(*repeated(), outcome(name, 0.5))
    after = judged(*repeated(), outcome(name, 0.5))
    assert (after.verdict, after.unconfirmed) == ("partly", False)
    assert found.foresight == ("contradicted" if name == "drawn" else "reproduced")


def test_a_value_from_a_file_is_stored_and_partly_unless_three_seeds_of_it_are_of_today() -> None:
    without = outcome("without stored runs", None)
    found = standing(*repeated(2.0), without)
    assert (found.seeds.state, found.foresight, found.stored) == ("stored", "stored", (5, 0))
    assert judged(*repeated(2.0), without).unconfirmed
    assert judged(*repeated(2.0), without, fresh=3) == row()
    assert standing(*repeated(), without).seeds.state == "steady"  # trained again
    assert standing(*repeated(2.0)).seeds.state == "steady"  # of numbers that all seeds share


def test_an_exact_row_needs_no_repetition_and_a_changed_expectation_foresaw_nothing() -> None:
    exact = row(exact="A count.")
    found = standing(of=exact)
    assert (found.seeds.state, found.foresight, found.alertness) == ("exact",) * 3
    assert judged(of=exact) == exact
    stricter = read_expectation({"at_least": 2})
    later = replace(row(), claim=replace(row().claim, expectation=stricter))
    assert standing(*repeated(), of=later).foresight == "changed"
    assert standing(of=later).foresight == "missing"


def test_a_fault_counts_where_it_makes_the_verdict_worse() -> None:
    faults = [outcome("none", 3.0), outcome("all", 0.0), outcome("stops", None)]
    found = standing(*faults)
    assert (found.faults, found.alertness) == (
        {"none": False, "all": True, "stops": False},
        "turned",
    )
    assert standing(faults[0]).alertness == "green"
    assert standing(of=row(0.0)).alertness == "contradicted"
    two, one = outcome("as it is", [2.0, 2.0, 0.0]), outcome("some seeds fail", [2.0, 0.0])
    some = standing_of(row([2.0, 2.0, 0.0]), recorded(two, one), VARIED, {})
    assert some is not None
    assert some.faults == {"some seeds fail": True}  # it held in two of three


def test_rows_that_nobody_judges_have_no_standing() -> None:
    untested = replace(row(), claim=replace(row().claim, expectation=None))
    for finding in (untested, replace(row(), measured=None), replace(row(), verdict="not judged")):
        assert standing_of(finding, Record(), VARIED, {}) is None


def weighed(root: Path, *findings: Finding) -> tuple[list[Finding], Records]:
    return Evidence(root).weigh(findings, [], BuildSettings(root))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that declares two seeds, with a record of what they measured."""
    (tmp_path / DECLARED).parent.mkdir()
    (tmp_path / DECLARED).write_text("{seeds: [100, 200], roundings: {threads: {}}}", "utf-8")
    (tmp_path / "data").mkdir()
    write_record(tmp_path, recorded(*repeated(), outcome("Two is three.", 0.0)))
    return tmp_path


def test_a_repeated_row_tells_when_and_what_it_would_catch(root: Path) -> None:
    _, records = weighed(root, row())
    known = records.about(row())
    assert known.remark.strip() == (
        "The expectation held on a seed that was drawn after it was written. Repeated at 0.2.0 "
        "(0000000a, 2026-11-29): the same verdict at 3 other first seeds and under another "
        "rounding. The row would catch this error: Two is three."
    )
    assert known.fields.keys() == FIELDS.keys()
    assert {*known.words} < {question.name for question in QUESTIONS}
    assert "| Claims of the paper, as printed | 1 of 1 |" in records.texts["prospective"]
    assert "the seed 10:" in records.texts["prospective"]
    assert "Two is three (1)." in records.texts["planted_faults"]
    assert records.texts["recorded"].strip() == (
        "The evidence was recorded at version 0.2.0 (commit `0000000a`), on 2026-11-29 and on "
        "Linux. This build has the numbers of later code (unknown), and the evidence of that "
        "version."
    )


def test_a_row_that_the_record_lacks_is_partly_and_counted(root: Path) -> None:
    new = replace(row(), claim=replace(row().claim, id="b-row", measure="new"))
    (first, second), records = weighed(root, row(), new)
    assert (first.verdict, second.verdict, second.unconfirmed) == ("reproduced", "partly", True)
    assert "1 of 2 rows has not been repeated" in records.texts["recorded"]
    assert "It was not repeated" in records.about(second).remark
    assert "No expectation has been tried" in weighed(root, new)[1].texts["prospective"]


def test_a_book_without_a_record_has_a_word_for_each_answer(root: Path) -> None:
    assert weighed(root / "data", row()) == ([row()], Records())  # which declares nothing
    (root / "data/evidence.jsonl").unlink()
    _, records = weighed(root, row())
    words = records.about(row()).words
    assert all(words.get(q.name) in (None, *q.words) for q in QUESTIONS)
    assert "No seed has been drawn yet" in records.texts["prospective"]
    assert "Nothing has been repeated yet" in records.texts["recorded"]


def varied() -> list[Variation]:
    """The variations of this book."""
    return [*variations(declared(ROOT), [chapter.name for chapter in chapters()], 1)]


def test_every_variation_fits_is_declared_once_and_has_rows_to_turn(tmp_path: Path) -> None:
    found = varied()
    assert len({(one.chapter, one.name) for one in found}) == len(found)
    judged = {claim.chapter for claim in claims().values() if claim.expectation}
    assert {one.chapter for one in found if one.kind == "fault"} <= judged
    for file in {change["in"] for one in found for change in one.changes}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text((ROOT / file).read_text("utf-8"), "utf-8")
    for one in found:
        with one.planted(tmp_path):
            pass


def test_a_value_that_no_seed_changes_is_exact_or_stored() -> None:
    """Whole numbers and truth values may come out alike by chance."""
    alike, record = [], read_record(ROOT)
    for claim in claims().values():
        outcomes = record.of(claim.chapter, "base", "without stored runs", "seed")
        values = [outcome.values.get(claim.measure) for outcome in outcomes]
        repeated = any(outcome.kind == "seed" for outcome in outcomes)
        measure = claim.measured_in({claim.measure: values[0]}) if values else None
        if repeated and not claim.exact and all(value == values[0] for value in values):
            alike += [claim.id] if measure and any(atom % 1 for atom in measure.atoms) else []
    assert alike == []


def test_most_rows_would_catch_an_error() -> None:
    record, faults = read_record(ROOT), [one for one in varied() if one.kind == "fault"]
    if any((one.chapter, one.name) not in record.outcomes for one in faults):
        pytest.skip("the record is not complete")
    judged = [claim for claim in claims().values() if claim.expectation]
    caught = {
        claim.id
        for claim in judged
        for outcome in record.of(claim.chapter, "fault")
        if (base := record.base(claim.chapter, outcome.sizes))
        and turned(claim, base.values, outcome.values)
    }
    assert len(caught) >= 0.7 * len(judged)
