"""Lines of the record computed again: where they differ from what is recorded."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.outcomes import Numbers, Outcome
from bookbuild.ledger.planted import fate
from bookbuild.reporting.expectations import Form, Measured
from bookbuild.reporting.measures import read_measures
from bookbuild.results.contents import different
from bookbuild.results.machine import machine_name

from .book import TOY, Book
from .runner import changes, measure, numbers_of


def differences(book: Book, line: Numbers | Outcome) -> list[str]:
    """Execute a chapter again as a line says; return what comes out otherwise, a sentence each.

    On the kind of machine that measured, every bit has to be the same. Where that is not known, or
    is another, the verdicts have to be. Raises BookError where the chapter cannot be executed.
    """
    if isinstance(line, Numbers):
        after = numbers_of(book, line.chapter, measure(book.root, line.chapter, TOY))
        return changes(line, after)
    kept = line.values
    (variation,) = (
        one for one in book.variations if one.name == line.variation and one.is_for(line.chapter)
    )
    measured = measure(book.root, line.chapter, variation)
    if line.fates:
        lost = set(line.fates.get("turned", ())) - _turned(book, line, measured.values)
        return [f"{line.variation} no longer turns {row}" for row in sorted(lost)]
    if line.machine == machine_name():
        return different(dict(kept), {key: measured.values.get(key) for key in kept}, 0.0)
    return [
        f"{claim.id} has another verdict"
        for claim in book.claims
        if claim.chapter == line.chapter and claim.expectation and claim.measure in kept
        if claim.expectation.verdict(as_measured(kept[claim.measure], claim.expectation.form))
        != claim.expectation.verdict(
            as_measured(measured.values[claim.measure], claim.expectation.form)
        )
    ]


def _turned(book: Book, line: Outcome, values: Mapping[str, Any]) -> set[str]:
    """Return the rows of a chapter that get worse, at toy sizes, by values with a fault."""
    base = book.record.numbers[line.chapter].smoke
    found = (
        Finding(claim, as_measured(base[claim.measure], claim.expectation.form), "reproduced")
        for claim in book.claims
        if claim.chapter == line.chapter and claim.expectation and claim.measure in base
    )
    return {one.claim.id for one in found if fate(one, base, values) == "turned"}


def as_measured(value: Any, form: Form) -> Measured:
    """Return a stored value as it was measured, as far as its form tells."""
    ((_, read),) = read_measures(json.dumps({"": {"value": value}})).items()  # infinity as a number
    value = read["value"]
    if isinstance(value, Mapping):
        return Measured(value, "settings")
    several: Literal["interval", "seeds"] = "interval" if form == "contains" else "seeds"
    return Measured(value, several if isinstance(value, list) else None)
