"""What chapters measure: values checked, written as JSON, quoted in prose, told to a reader."""

import json
import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Over = Literal["seeds", "interval", "settings"]
Plain = bool | float | list[float]
Measures = Mapping[str, Mapping[str, Any]]  # of a chapter, by key
Reported = Mapping[str, Measures]  # by chapter
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Measure:
    """What a chapter reported: a number or a boolean, one a seed, an interval, or one a setting.

    Over settings, `value` maps the name of each setting to a number, a boolean or a list of seeds.
    """

    value: Plain | Mapping[str, Plain]
    over: Over | None

    @classmethod
    def of(cls, measure: Mapping[str, Any]) -> "Measure":
        """Return what a measure has, in which texts may stand for infinity."""
        return cls(_map(measure["value"], _read), measure["over"])

    @property
    def plain(self) -> Any:
        """The value with texts for infinity, which strict JSON has no number for."""
        return _map(self.value, _strict)

    @property
    def settings(self) -> dict[str, "Measure"]:
        """What was measured in each setting; empty for a measure that is not over settings."""
        parts = self.value.items() if isinstance(self.value, Mapping) else ()
        return {name: Measure(v, "seeds" if isinstance(v, list) else None) for name, v in parts}

    @property
    def atoms(self) -> list[bool | float]:
        """All single values: of every setting, and of every seed."""
        if isinstance(self.value, Mapping):
            return [atom for part in self.settings.values() for atom in part.atoms]
        return list(self.value) if isinstance(self.value, list) else [self.value]

    @property
    def extent(self) -> str:
        """The lowest and the highest of several numbers; nothing for truth values."""
        low, high = min(self.atoms), max(self.atoms)
        return "" if isinstance(low, bool) else from_to(low, high)

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, Mapping):
            settings = f"{len(value)} setting{'s' * (len(value) > 1)}"
            each = " in all" if self.extent and len(set(self.atoms)) == 1 < len(value) else ""
            return f"{settings}, {self.extent}{each}" if self.extent else settings
        if isinstance(value, bool):
            return "holds" if value else "does not hold"
        if not isinstance(value, list):
            return four_digits(value)
        if self.over == "interval":
            return self.extent
        if isinstance(value[0], bool):
            return f"holds in {sum(value)} of {len(value)} seeds"
        extent = f"{self.extent}, " if min(value) < max(value) else ""
        return f"{four_digits(statistics.fmean(value))} ({extent}n = {len(value)})"


def write_measures(measures: Measures) -> str:
    """Return measures as strict JSON, which knows infinity only as a text."""
    texts = _values(measures, _strict)
    return json.dumps(texts, indent=1, allow_nan=False) + "\n"


def read_measures(text: str | bytes) -> dict[str, dict[str, Any]]:
    """Return the measures that `write_measures` wrote."""
    return _values(json.loads(text), _read)


def _strict(value: Any) -> Any:
    return value if math.isfinite(value) else str(value)


def _values(measures: Measures, change: Callable[[Any], Any]) -> dict[str, dict[str, Any]]:
    return {key: {**one, "value": _map(one["value"], change)} for key, one in measures.items()}


def _read(atom: Any) -> Any:
    return float(atom) if isinstance(atom, str) else atom


def _map(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {name: _map(item, change) for name, item in value.items()}
    return [change(item) for item in value] if isinstance(value, list) else change(value)


def plain_measure(key: str, value: Any) -> tuple[Plain | dict[str, Plain], Over | None]:
    """Return a value in Python's own types, and what its type says it is over; else ValueError."""
    if isinstance(value, Mapping):
        return _plain_settings(key, value), "settings"
    if not isinstance(value, list | tuple) and not getattr(value, "ndim", None):
        return _number(key, value), None
    numbers = [float(item) for item in _plain(key, list(value), "")]
    if not isinstance(value, tuple):
        return numbers, "seeds"
    if len(numbers) != 2 or numbers[0] > numbers[1]:
        raise ValueError(f"measure {key!r}: an interval is a pair low <= high, not {numbers}")
    return numbers, "interval"


def _plain_settings(key: str, value: Any) -> dict[str, Plain]:
    if not value:
        raise ValueError(f"measure {key!r}: over settings, it maps at least one name to a value")
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"measure {key!r}: the name of a setting is a text, not {name!r}")
    plain = {name: _plain(key, v, f" in the setting {name!r}") for name, v in value.items()}
    if len({isinstance(atom, bool) for atom in Measure(plain, "settings").atoms}) > 1:
        raise ValueError(f"measure {key!r} is a truth value in some settings, a number in others")
    return plain


def _plain(key: str, value: Any, where: str) -> Any:
    plain = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(plain, list | tuple):
        return _number(key, plain)
    if not plain:
        raise ValueError(f"measure {key!r} has no seeds{where}")
    return [_number(key, item) for item in plain]


def _number(key: str, value: Any) -> bool | float:
    """Return a Python float, infinity among them, or a bool for a truth value."""
    item = value.item() if hasattr(value, "item") else value
    if isinstance(item, bool):
        return item
    if not isinstance(item, int | float):
        raise ValueError(f"measure {key!r} is a {type(value).__name__}, not a number")
    if math.isnan(item):
        raise ValueError(f"measure {key!r} is not a number (NaN)")
    return float(item)


def quotable(
    key: str, value: Plain | Mapping[str, Plain], over: Over | None
) -> dict[str, bool | float]:
    """Return the numbers of a measure that the prose of other pages can quote, by name."""
    if not isinstance(value, list | Mapping):
        return {key: value}
    atoms = Measure(value, over).atoms
    ends: dict[str, bool | float] = {f"{key}_min": min(atoms), f"{key}_max": max(atoms)}
    if isinstance(value, Mapping):
        return {f"{key}_settings": len(value), **({} if isinstance(atoms[0], bool) else ends)}
    mean = statistics.fmean(value)
    if over == "interval":
        return {key: mean, f"{key}_low": value[0], f"{key}_high": value[1]}
    spread = 0.0 if len(set(value)) == 1 else math.inf  # if only some of them are finite
    if spread and all(map(math.isfinite, value)):
        spread = statistics.stdev(value)
    return {key: mean, **ends, f"{key}_std": spread, f"{key}_n": len(value)}


def from_to(low: float, high: float) -> str:
    """Return a range as a reader writes it: one number where its ends are equal."""
    return " to ".join(dict.fromkeys((four_digits(low), four_digits(high))))


def four_digits(value: float) -> str:
    """Return a number to four significant digits, as a reader writes it."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value)}".replace("-", "−")
    digits, _, exponent = f"{value:.4g}".partition("e")
    power = str(int(exponent or 0)).translate(RAISED)
    scale = f"10{power}" if digits == "1" else f"{digits} × 10{power}"
    return (scale if exponent else digits).replace("-", "−")
