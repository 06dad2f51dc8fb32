"""The record of this book and its variations: they fit the sources, and each was executed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookbuild.ledger.claims import Claim
from bookbuild.source.chapters import read_chapters, read_toc
from evidence.record import Record, different, read_record
from evidence.rows import turned
from evidence.variations import Variation, declared, variations
from tools.this_book import ROOT, claims


@pytest.fixture(scope="module")
def record() -> Record:
    return read_record(ROOT)


@pytest.fixture(scope="module")
def varied() -> list[Variation]:
    chapters = [chapter.name for chapter in read_chapters(ROOT, read_toc(ROOT))]
    return [*variations(declared(ROOT), chapters, 1)]


def test_nothing_is_declared_twice_or_for_a_chapter_without_rows(varied: list[Variation]) -> None:
    names = Counter((one.chapter, one.name) for one in varied)
    assert [name for name, n in names.items() if n > 1] == []
    judged = {claim.chapter for claim in claims().values() if claim.expectation}
    assert {one.chapter for one in varied if one.kind == "fault"} <= judged


def test_every_change_of_a_source_fits(varied: list[Variation], tmp_path: Path) -> None:
    for file in {change["in"] for one in varied for change in one.changes}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text((ROOT / file).read_text("utf-8"), "utf-8")
    for one in varied:
        with one.planted(tmp_path):
            pass


def test_every_variation_changed_something(record: Record) -> None:
    still = [
        place
        for place, outcome in record.outcomes.items()
        if outcome.kind not in ("base", "without stored runs")
        and (base := record.base(outcome.chapter, outcome.sizes))
        and not different(base.values, outcome.values)
    ]
    assert still == []


def test_a_value_that_no_seed_changes_is_exact_or_stored(record: Record) -> None:
    """Whole numbers and truth values may come out alike by chance."""
    alike = []
    for claim in claims().values():
        outcomes = record.of(claim.chapter, "base", "without stored runs", "seed")
        values = [outcome.values.get(claim.measure) for outcome in outcomes]
        repeated = any(outcome.kind == "seed" for outcome in outcomes)
        measure = claim.measured_in({claim.measure: values[0]}) if values else None
        if repeated and not claim.exact and all(value == values[0] for value in values):
            alike += [claim.id] if measure and any(atom % 1 for atom in measure.atoms) else []
    assert alike == []


def test_most_rows_would_catch_an_error(record: Record, varied: list[Variation]) -> None:
    if any((one.chapter, one.name) not in record.outcomes for one in varied if one.kind == "fault"):
        pytest.skip("the record is not complete")
    judged = [claim for claim in claims().values() if claim.expectation]
    caught = [claim for claim in judged if any(faults_that_turn(record, claim))]
    assert len(caught) >= 0.7 * len(judged)


def faults_that_turn(record: Record, claim: Claim) -> Iterator[str]:
    for outcome in record.of(claim.chapter, "fault"):
        base = record.base(claim.chapter, outcome.sizes)
        if base and turned(claim, base.values, outcome.values):
            yield outcome.variation
