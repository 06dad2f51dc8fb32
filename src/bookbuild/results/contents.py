"""What can be compared of results, and where two of them differ."""

import json
from typing import Any

import numpy as np

from .executed import Entry


def contents(entry: Entry) -> dict[str, Any]:
    """Return each measure and each array of a figure, by a name that can be printed."""
    found: dict[str, Any] = {
        f"measure {key}": measure["value"] for key, measure in entry.measures.items()
    }
    for name, content in entry.figures.items():
        if name.endswith(".json"):
            data = json.loads(content)["data"]
            found |= {f"array {name}: {key}": value for key, value in data.items()}
    return found


def different(before: Any, after: Any, tolerance: float, place: str = "") -> list[str]:
    """Return a line for each place where two results are further apart than a tolerance.

    Numbers and arrays are compared relative to the largest of the published array; with a
    tolerance of zero every bit counts.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        names = [*before, *(name for name in after if name not in before)]
        lines: list[str] = []
        for name in names:
            where = f"{place} {name}".strip()
            if name in before and name in after:
                lines += different(before[name], after[name], tolerance, where)
            else:
                lines.append(f"{where}: only {'as published' if name in before else 'here'}")
        return lines
    try:
        one, other = np.asarray(before), np.asarray(after)
    except ValueError:
        one, other = np.asarray(before, dtype=object), np.asarray(after, dtype=object)
    if one.shape != other.shape:
        return [f"{place}: of shape {one.shape} as published, {other.shape} here"]
    if not (np.issubdtype(one.dtype, np.number) and np.issubdtype(other.dtype, np.number)):
        return (
            []
            if repr(before) == repr(after)
            else [f"{place}: {before!r:.40} as published, {after!r:.40} here"]
        )
    with np.errstate(invalid="ignore"):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        gap = np.where(same, 0.0, np.abs(one - other))
    scale = np.max(np.abs(one), initial=0.0, where=np.isfinite(one))
    if not gap.size or bool((gap <= tolerance * scale).all()):
        return []
    at = np.unravel_index(np.argmax(np.nan_to_num(gap, nan=np.inf)), gap.shape)
    return [f"{place}: {one[at]:.9g} as published, {other[at]:.9g} here"]
