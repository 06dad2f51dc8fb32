"""Checks: numbers that have to keep within a bound, and what is said of each."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .expectations import Expectation, Measured, read_expectation

FORMS = ("within", "at_least", "at_most", "contains", "holds")
Outcome = Literal["holds", "holds in part", "does not hold", "not judged"]
OUTCOMES: Mapping[str, Outcome] = {
    "reproduced": "holds",
    "partly": "holds in part",
    "contradicted": "does not hold",
}


@dataclass(frozen=True)
class Check:
    """A number that a chapter holds against a bound.

    Attributes:
        what: the number in words.
        expectation: its bound.
        measured: the number, or one a seed or a setting.
        judged: whether the sizes are those at which the bound has a meaning.
    """

    what: str
    expectation: Expectation
    measured: Measured
    judged: bool

    @classmethod
    def of(cls, measure: Mapping[str, Any], *, judged: bool) -> "Check":
        """Return the check of a measure that has one; raise ValueError if they do not fit."""
        given = dict(measure["check"])
        what = given.pop("what")
        if not isinstance(what, str) or not what.isprintable() or not what.strip():
            raise ValueError(f"a check says in words what it is about, not {what!r:.60}")
        if len(given) != 1 or not given.keys() <= set(FORMS):
            raise ValueError(f"the check {what!r} needs one bound, which is one of {FORMS}")
        expectation = read_expectation(given)
        measured = Measured(measure["value"], measure["over"])
        if misfit := expectation.misfit(measured):
            raise ValueError(f"the check {what!r}: {misfit}")
        return cls(what, expectation, measured, judged)

    @property
    def outcome(self) -> Outcome:
        """Whether the bound is kept, in every seed and setting or in some."""
        return OUTCOMES[self.expectation.verdict(self.measured)] if self.judged else "not judged"

    @property
    def value(self) -> str:
        """The number as a reader writes it; nothing for a truth, which the outcome tells."""
        single = not isinstance(self.measured.value, list | Mapping)
        return "" if self.expectation.form == "holds" and single else str(self.measured)

    @property
    def bound(self) -> str:
        """The bound as a reader writes it; nothing for a truth."""
        return "" if self.expectation.form == "holds" else str(self.expectation)

    def line(self) -> str:
        """Return the line below the cell, as HTML."""
        value = f": {self.value}" if self.value else ""
        bound = f", expected {self.bound}" if self.bound else ""
        outcome = "not judged at toy sizes" if self.outcome == "not judged" else self.outcome
        kind = self.outcome.replace(" ", "-")
        return f'<p class="check {kind}">{html.escape(self.what + value + bound)} ({outcome})</p>'
