"""The five forms of an expectation of a measure, the verdict that each gives, and checks."""

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from .measures import Measure, four_digits, from_to

Form = Literal["within", "at_least", "at_most", "contains", "holds"]
Outcome = Literal["holds", "holds in part", "does not hold", "not judged"]
OUTCOMES: Mapping[str, Outcome] = {
    "reproduced": "holds",
    "partly": "holds in part",
    "contradicted": "does not hold",
}


@dataclass(frozen=True)
class Expectation:
    """An expectation; `low` and `high` are the bounds, equal for the form contains."""

    form: Form
    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        low, high = four_digits(self.low), four_digits(self.high)
        texts = {"within": from_to(self.low, self.high), "contains": f"interval contains {low}"}
        texts |= {"at_least": f"at least {low}", "at_most": f"at most {high}"}
        return texts.get(self.form, "holds")

    def misfit(self, measured: Measure) -> str:
        """Return why the expectation cannot be applied to the measure, or nothing."""
        if any((self.form == "holds") != isinstance(atom, bool) for atom in measured.atoms):
            return f"the expectation {self.form!r} does not fit the measured value {measured}"
        if self.form == "contains" and measured.over != "interval":
            return "the expectation 'contains' needs a measured interval"
        return ""

    def verdict(self, measured: Measure) -> Literal["reproduced", "partly", "contradicted"]:
        """Return the verdict: partly where seeds disagree or an interval straddles a bound.

        Over settings, it is reproduced if it holds in every seed of every one, contradicted if in
        no seed of any, and partly else.
        """
        admitted = self._admitted(measured)
        if all(admitted):
            return "reproduced"
        if measured.over == "interval" and self.form != "contains":
            low, high = min(measured.atoms), max(measured.atoms)
            admitted.append(low < self.low and high > self.high)
        return "partly" if any(admitted) else "contradicted"

    def holding(self, measured: Measure) -> str:
        """Return in how many settings, or in how many seeds, it holds."""
        parts, admitted = measured.settings, self._admitted(measured)
        holds = len(parts) - len(self.failing(measured)) if parts else sum(admitted)
        return f"holds in {holds} of {len(parts or admitted)} {measured.over}"

    def failing(self, measured: Measure) -> dict[str, Measure]:
        """Return the settings in which it fails, in one seed or in more."""
        parts = measured.settings.items()
        return {name: part for name, part in parts if self.verdict(part) != "reproduced"}

    def share(self, measured: Measure) -> float:
        """Return in which part of the seeds or settings it holds, from 0 to 1."""
        admitted = self._admitted(measured)
        return sum(admitted) / len(admitted)

    def _admitted(self, measured: Measure) -> list[bool]:
        """Return whether each single value is as expected; of an interval that holds a number."""
        atoms = measured.atoms
        if self.form == "contains":
            return [min(atoms) <= self.low <= max(atoms)]
        if self.form == "holds":
            return [atom is True for atom in atoms]
        return [self.low <= atom <= self.high for atom in atoms]


def read_expectation(value: Mapping[Form, Any]) -> Expectation:
    """Return the expectation that a row states, in one of the forms of the ledger's schema.

    Raises ValueError for bounds that are not finite or the wrong way round.
    """
    ((form, bound),) = value.items()
    if form == "holds":
        return Expectation(form)
    low, high = (_bound(form, item) for item in (bound if form == "within" else (bound, bound)))
    if low > high:
        raise ValueError("the bounds of 'within' are the wrong way round")
    ends = {"at_least": (low, math.inf), "at_most": (-math.inf, high)}
    return Expectation(form, *ends.get(form, (low, high)))


def _bound(form: Form, value: float | str) -> float:
    """Return a bound; YAML reads 1e-3, without a point, as a text."""
    try:
        bound = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        bound = math.inf
    if not math.isfinite(bound):
        raise ValueError(f"a bound of {form!r} is not finite: {value!r:.40}")
    return bound


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
    measured: Measure
    judged: bool

    @classmethod
    def of(cls, measure: Mapping[str, Any], *, judged: bool) -> "Check":
        """Return the check of a measure that has one; raise ValueError if they do not fit."""
        given = dict(measure["check"])
        what = given.pop("what")
        if not isinstance(what, str) or not what.isprintable() or not what.strip():
            raise ValueError(f"a check says in words what it is about, not {what!r:.60}")
        if len(given) != 1 or not given.keys() <= set(get_args(Form)):
            raise ValueError(
                f"the check {what!r} needs one bound, which is one of {get_args(Form)}"
            )
        expectation = read_expectation(given)
        measured = Measure.of(measure)
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
        return f'<p class="check">{html.escape(self.what + value + bound)} ({self.outcome})</p>'
