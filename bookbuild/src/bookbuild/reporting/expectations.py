"""The five forms of an expectation of a measure, and the verdict that each gives."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
Form = Literal["within", "at_least", "at_most", "contains", "holds"]


@dataclass(frozen=True)
class Measured:
    """What a chapter reported: a number or a boolean, one a seed, an interval, or one a setting.

    Over settings, `value` maps the name of each setting to a number, a boolean or a list of seeds.
    """

    value: bool | float | list[float] | Mapping[str, bool | float | list[float]]
    over: Literal["seeds", "interval", "settings"] | None

    @property
    def settings(self) -> dict[str, "Measured"]:
        """What was measured in each setting; empty for a measure that is not over settings."""
        if not isinstance(self.value, Mapping):
            return {}
        return {
            name: Measured(value, "seeds" if isinstance(value, list) else None)
            for name, value in self.value.items()
        }

    @property
    def atoms(self) -> list[bool | float]:
        """All single values: of every setting, and of every seed."""
        if isinstance(self.value, Mapping):
            return [atom for part in self.settings.values() for atom in part.atoms]
        return list(self.value) if isinstance(self.value, list) else [self.value]

    def __str__(self) -> str:
        if isinstance(self.value, Mapping):
            settings = f"{len(self.value)} setting{'s' * (len(self.value) > 1)}"
            return f"{settings}, {self.extent}" if self.extent else settings
        if isinstance(self.value, bool):
            return "holds" if self.value else "does not hold"
        if not isinstance(self.value, list):
            return number(self.value)
        if self.over == "interval":
            return f"{number(self.value[0])} to {number(self.value[1])}"
        if isinstance(self.value[0], bool):
            return f"holds in {sum(self.value)} of {len(self.value)} seeds"
        return f"{number(statistics.fmean(self.value))} ({self.extent}, n = {len(self.value)})"

    @property
    def extent(self) -> str:
        """The lowest and the highest of several numbers; nothing for truth values."""
        low, high = min(self.atoms), max(self.atoms)
        return "" if isinstance(low, bool) else f"{number(low)} to {number(high)}"


@dataclass(frozen=True)
class Holding:
    """In how many settings, or seeds, an expectation holds, and what failed by its name."""

    holds: int
    of: int
    unit: Literal["settings", "seeds"]
    failing: Mapping[str, Measured]  # the settings in which a seed fails

    def __str__(self) -> str:
        return f"holds in {self.holds} of {self.of} {self.unit}"


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
        if any((self.form == "holds") != isinstance(atom, bool) for atom in measured.atoms):
            return f"the expectation {self.form!r} does not fit the measured value {measured}"
        if self.form == "contains" and measured.over != "interval":
            return "the expectation 'contains' needs a measured interval"
        return ""

    def verdict(self, measured: Measured) -> Literal["reproduced", "partly", "contradicted"]:
        """Return the verdict: partly where seeds disagree or an interval straddles a bound.

        Over settings, it is reproduced if it holds in every seed of every one, contradicted if in
        no seed of any, and partly else.
        """
        value = measured.value
        if isinstance(value, Mapping):
            verdicts = {self.verdict(part) for part in measured.settings.values()}
            return verdicts.pop() if len(verdicts) == 1 else "partly"
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

    def holding(self, measured: Measured) -> Holding | None:
        """Return in how many settings, or in how many seeds, it holds; None for a single value."""
        if measured.over == "settings":
            parts = measured.settings
            failing = {name: m for name, m in parts.items() if self.verdict(m) != "reproduced"}
            return Holding(len(parts) - len(failing), len(parts), "settings", failing)
        if measured.over == "seeds":
            admitted = [self._admits(atom) for atom in measured.atoms]
            return Holding(sum(admitted), len(admitted), "seeds", {})
        return None

    def _admits(self, value: float) -> bool:
        if self.form == "holds":
            return value is True
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
        return f"{int(value)}".replace("-", "−")
    digits, _, exponent = f"{value:.4g}".replace("-", "−").partition("e")
    if not exponent:
        return digits
    power = str(int(exponent.replace("−", "-"))).translate(RAISED)
    return f"10{power}" if digits == "1" else f"{digits} × 10{power}"


def _bound(form: Form, value: float | str) -> float:
    """Return a bound; YAML reads 1e-3, without a point, as a text."""
    try:
        bound = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        bound = math.inf
    if not math.isfinite(bound):
        raise ValueError(f"a bound of {form!r} is not finite: {value!r:.40}")
    return bound
