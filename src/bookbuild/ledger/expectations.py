"""The five ways to state what is expected of a measure, and the verdict each gives."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Form = Literal["within", "at_least", "at_most", "contains", "holds"]


@dataclass(frozen=True)
class Measured:
    """What a chapter reported: a number or a boolean, one number a seed, or an interval."""

    value: bool | float | list[float]
    over: Literal["seeds", "interval"] | None

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return "holds" if self.value else "does not hold"
        if not isinstance(self.value, list):
            return number(self.value)
        if self.over == "interval":
            return f"{number(self.value[0])} to {number(self.value[1])}"
        mean, low, high = statistics.fmean(self.value), min(self.value), max(self.value)
        return f"{number(mean)} ({number(low)} to {number(high)}, n = {len(self.value)})"


@dataclass(frozen=True)
class Expectation:
    """An expectation; `low` and `high` are the bounds, equal for the form contains."""

    form: Form
    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        match self.form:
            case "within":
                return f"{number(self.low)} to {number(self.high)}"
            case "at_least":
                return f"at least {number(self.low)}"
            case "at_most":
                return f"at most {number(self.high)}"
            case "contains":
                return f"interval contains {number(self.low)}"
            case "holds":
                return "holds"

    def misfit(self, measured: Measured) -> str:
        """Return why the expectation cannot be applied to the measure, or nothing."""
        if (self.form == "holds") != isinstance(measured.value, bool):
            return f"the expectation {self.form!r} does not fit the measured value {measured}"
        if self.form == "contains" and measured.over != "interval":
            return "the expectation 'contains' needs a measured interval"
        return ""

    def verdict(self, measured: Measured) -> Literal["reproduced", "partly", "contradicted"]:
        """Return the verdict: partly where seeds disagree or an interval straddles a bound."""
        value = measured.value
        if isinstance(value, bool):
            return "reproduced" if value else "contradicted"
        if not isinstance(value, list):
            return "reproduced" if self._admits(value) else "contradicted"
        if self.form == "contains":
            return "reproduced" if value[0] <= self.low <= value[1] else "contradicted"
        if measured.over == "interval" and value[0] < self.low and value[1] > self.high:
            return "partly"
        admitted = [self._admits(item) for item in value]
        if all(admitted):
            return "reproduced"
        return "partly" if any(admitted) else "contradicted"

    def _admits(self, value: float) -> bool:
        return self.low <= value <= self.high


def read_expectation(value: Mapping[Form, Any]) -> Expectation:
    """Return the expectation that a row states, in one of the forms of the ledger's schema.

    Raises ValueError for bounds that are not finite or the wrong way round.
    """
    ((form, bound),) = value.items()
    match form:
        case "holds":
            return Expectation(form)
        case "within":
            low, high = (_bound(form, item) for item in bound)
            if low > high:
                raise ValueError("the bounds of 'within' are the wrong way round")
            return Expectation(form, low, high)
        case "at_least":
            return Expectation(form, low=_bound(form, bound))
        case "at_most":
            return Expectation(form, high=_bound(form, bound))
        case "contains":
            return Expectation(form, low=_bound(form, bound), high=_bound(form, bound))


def number(value: float) -> str:
    """Return a number to four significant digits, as a reader writes it."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value)}"
    text = f"{value:.4g}"
    if "e" not in text:
        return text
    digits, exponent = text.split("e")
    return f"{digits}e{int(exponent)}"


def _bound(form: Form, value: float | str) -> float:
    """Return a bound; YAML reads 1e-3, without a point, as a text."""
    try:
        bound = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        bound = math.inf
    if not math.isfinite(bound):
        raise ValueError(f"a bound of {form!r} is not finite: {value!r:.40}")
    return bound
