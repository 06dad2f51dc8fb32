"""What can be reported under a key: values checked, written as JSON, and glued for the prose."""

import json
import math
import statistics
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

Over = Literal["seeds", "interval", "settings"]
Plain = bool | float | list[float]


def write_measures(measures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return measures as strict JSON, which knows infinity only as a text."""
    texts = {
        key: {
            **measure,
            "value": _map(measure["value"], lambda x: x if math.isfinite(x) else str(x)),
        }
        for key, measure in measures.items()
    }
    return json.dumps(texts, indent=1, allow_nan=False) + "\n"


def read_measures(text: str | bytes) -> dict[str, dict[str, Any]]:
    """Return the measures that `write_measures` wrote."""
    measures = json.loads(text)
    return {
        key: {
            **measure,
            "value": _map(measure["value"], lambda x: float(x) if isinstance(x, str) else x),
        }
        for key, measure in measures.items()
    }


def _map(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _map(item, change) for name, item in value.items()}
    return [change(item) for item in value] if isinstance(value, list) else change(value)


def plain_measure(key: str, value: Any, over: Over | None) -> Plain | dict[str, Plain]:
    """Return the value in Python's own types, checked."""
    if over not in (None, *get_args(Over)):
        choices = ", ".join(map(repr, get_args(Over)))
        raise ValueError(f"measure {key!r}: over is None or one of {choices}, not {over!r}")
    if over is None:
        return _number(key, value)
    if over == "settings":
        return _plain_settings(key, value)
    values = value.tolist() if hasattr(value, "tolist") else list(value)
    numbers = [float(_number(key, item)) for item in values]
    if over == "interval" and (len(numbers) != 2 or numbers[0] > numbers[1]):
        raise ValueError(f"measure {key!r}: an interval is a pair low <= high, not {numbers}")
    if not numbers:
        raise ValueError(f"measure {key!r} has no seeds")
    return numbers


def _plain_settings(key: str, value: Any) -> dict[str, Plain]:
    """Return the value of each setting in Python's own types, checked."""
    if not isinstance(value, Mapping) or not value:
        raise ValueError(f"measure {key!r}: over settings, it maps at least one name to a value")
    plain: dict[str, Plain] = {}
    for name, item in value.items():
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"measure {key!r}: the name of a setting is a text, not {name!r}")
        values = item.tolist() if hasattr(item, "tolist") else item
        if isinstance(values, list | tuple):
            if not values:
                raise ValueError(f"measure {key!r} has no seeds in the setting {name!r}")
            plain[name] = [_number(key, one) for one in values]
        else:
            plain[name] = _number(key, values)
    if len({isinstance(atom, bool) for atom in _atoms(plain)}) > 1:
        raise ValueError(f"measure {key!r} is a truth value in some settings, a number in others")
    return plain


def _atoms(value: Mapping[str, Plain]) -> list[bool | float]:
    """Return all values of all settings and seeds."""
    return [
        atom for item in value.values() for atom in (item if isinstance(item, list) else [item])
    ]


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


def glued(key: str, value: Plain | dict[str, Plain], over: Over | None) -> dict[str, bool | float]:
    """Return the numbers that the prose can quote, by glue key.

    Over settings there is no single number of the key's own name; what a chapter wants to say of
    one setting, it reports or glues itself.
    """
    if isinstance(value, dict):
        atoms = _atoms(value)
        number: dict[str, bool | float] = {f"{key}_settings": len(value)}
        if isinstance(atoms[0], bool):
            return number
        return {**number, f"{key}_min": min(atoms), f"{key}_max": max(atoms)}
    if not isinstance(value, list):
        return {key: value}
    if over == "interval":
        return {key: statistics.fmean(value), f"{key}_low": value[0], f"{key}_high": value[1]}
    return {
        key: statistics.fmean(value),
        f"{key}_min": min(value),
        f"{key}_max": max(value),
        f"{key}_std": _spread(value),
        f"{key}_n": len(value),
    }


def _spread(values: list[float]) -> float:
    """Return the standard deviation; infinity where only some of the values are finite."""
    if all(map(math.isfinite, values)):
        return statistics.stdev(values) if len(values) > 1 else 0.0
    return 0.0 if len(set(values)) == 1 else math.inf
