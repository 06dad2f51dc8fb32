"""Lines of the record computed again: where they differ from what is recorded."""

from collections.abc import Mapping
from typing import Any, Literal

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.outcomes import Numbers, Outcome
from bookbuild.ledger.planted import fate
from bookbuild.reporting.expectations import Form, Measured
from bookbuild.results.contents import different
from bookbuild.results.machine import machine_name

from .book import TOY, Book
from .runner import measure, numbers_of

ELSEWHERE = 0.01  # apart, as a share, that numbers of other machines may be


def differences(book: Book, line: Numbers | Outcome) -> list[str]:
    """Execute a chapter again as a line says; return what comes out otherwise, a sentence each.

    On the kind of machine that measured, every bit has to be the same. Where that is not known, or
    is another, numbers may be 1% apart. Raises BookError where the chapter cannot be executed.
    """
    tolerance = 0.0 if line.machine == machine_name() else ELSEWHERE
    if isinstance(line, Numbers):
        measured = measure(book.root, line.chapter, TOY)
        made = numbers_of(book, line.chapter, measured)
        return different(dict(line.smoke), dict(made.smoke), tolerance)
    (variation,) = (
        one for one in book.variations if one.name == line.variation and one.is_for(line.chapter)
    )
    values = dict(measure(book.root, line.chapter, variation).values)
    if line.fates:
        again = _turned(book, line, values)
        lost = set(line.fates.get("turned", ())) - again
        return [f"{line.variation} no longer turns {row}" for row in sorted(lost)]
    return different(dict(line.values), {key: values.get(key) for key in line.values}, tolerance)


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
    if isinstance(value, Mapping):
        return Measured(value, "settings")
    several: Literal["interval", "seeds"] = "interval" if form == "contains" else "seeds"
    return Measured(value, several if isinstance(value, list) else None)
