"""The numbers of a chapter, and where two results differ."""

import json
from collections.abc import Iterator, Set
from typing import Any

import numpy as np

from .executed import ExecutedChapter

FLOOR = 1e-4  # so much of the largest of its array is added to the size of a number
NUMBERS = "biufc"  # kinds of arrays


def contents_of(entry: ExecutedChapter) -> dict[str, Any]:
    """Return each measure and each array of a figure, by a name that can be printed."""
    contents: dict[str, Any] = {
        f"measure {key}": measure["value"] for key, measure in entry.measures.items()
    }
    for name, data in _figures(entry):
        contents |= {f"array {name}.json: {key}": value for key, value in data.items()}
    return contents


def numbers_of(entry: ExecutedChapter, timings: Set[str] = frozenset()) -> dict[str, Any]:
    """Return the measures but for timings, and the data of figures, as numbers without any text.

    Names of settings and of arrays are those of the code: here their order stands for them.
    """
    measures = {k: _bare(m["value"]) for k, m in entry.measures.items() if k not in timings}
    return {"measures": measures, "figures": {name: _bare(data) for name, data in _figures(entry)}}


def _figures(entry: ExecutedChapter) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, content in entry.figures.items():
        if name.endswith(".json"):
            yield name.removesuffix(".json"), json.loads(content)["data"]


def _bare(value: Any) -> Any:
    """Return numbers as an array, or as a list of such where they form none; NaN for a text."""
    if isinstance(value, dict):
        return [_bare(item) for item in value.values()]
    if not isinstance(value, list):
        return float("nan") if value is None or isinstance(value, str) else value
    items = [_bare(item) for item in value]
    if len({np.shape(item) for item in items}) > 1 or any(isinstance(x, list) for x in items):
        return items
    return np.array(items)


def different_form(before: Any, after: Any) -> list[str]:
    """Return a line for each path at which two results have other types or shapes, or other paths.

    Every list and every dict counts, and so does the order of their items.
    """
    left, other = dict(_forms(before)), dict(_forms(after))
    lines = [
        f"{' '.join(path)}: {left.get(path, 'nothing')} as published, "
        f"{other.get(path, 'nothing')} here"
        for path in left | other
        if left.get(path) != other.get(path)
    ]
    return lines or ([] if [*left] == [*other] else ["in another order"])


def _forms(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the paths of all that a result consists of, each with its type, dtype and shape."""
    if isinstance(value, dict | list):
        yield path, type(value).__name__
        pairs = value.items() if isinstance(value, dict) else enumerate(value, start=1)
        for name, item in pairs:
            yield from _forms(item, (*path, str(name)))
    elif isinstance(value, str):
        yield path, repr(value)
    else:
        dtype = getattr(value, "dtype", "")
        yield path, f"{type(value).__name__} {dtype} {np.shape(value)}"


def different(before: Any, after: Any, tolerance: float) -> list[str]:
    """Return a line for each place where two results are further apart than a tolerance.

    A number is compared relative to its size, plus `FLOOR` of the largest of its array; with a
    tolerance of zero every value counts, and neither a type nor the sign of zero does.
    """
    left, other = dict(_arrays(before)), dict(_arrays(after))
    lines = []
    for path in left | other:
        place = " ".join(map(str, path))
        if path not in left or path not in other:
            lines.append(f"{place}: only {'as published' if path in left else 'here'}")
        elif said := _apart(left[path], other[path], tolerance):
            lines.append(f"{place}: {said}")
    return lines


def _arrays(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """Yield the arrays of a result with their paths; a list is one if it can be."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _arrays(item, (*path, name))
        return
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    if array.dtype.hasobject and isinstance(value, list):
        for number, item in enumerate(value, start=1):
            yield from _arrays(item, (*path, str(number)))
    else:
        yield path, array


def _apart(one: np.ndarray, other: np.ndarray, tolerance: float) -> str:
    """Return how two arrays differ; empty if they do not."""
    if one.shape != other.shape:
        return f"of shape {one.shape} as published, {other.shape} here"
    if one.dtype.kind not in NUMBERS or other.dtype.kind not in NUMBERS:
        same = np.array_equal(one, other)
        return "" if same else f"{one.tolist()!r:.40} as published, {other.tolist()!r:.40} here"
    near = _near(one, other, tolerance)
    if near.all():
        return ""
    with np.errstate(invalid="ignore"):
        gap = np.abs(np.subtract(one, other, dtype=np.result_type(one, other, 1.0)))
    worst = np.where(near, -1, np.nan_to_num(gap, nan=np.inf))
    at = np.unravel_index(np.argmax(worst), worst.shape)
    return f"{one[at]:.9g} as published, {other[at]:.9g} here"


def _near(one: np.ndarray, other: np.ndarray, tolerance: float) -> np.ndarray:
    """Return which numbers of an array are as near to others as a tolerance allows."""
    sizes = np.abs(one)
    largest = np.max(sizes, initial=0, where=np.isfinite(sizes))
    return np.isclose(other, one, tolerance, tolerance * FLOOR * float(largest), equal_nan=True)
