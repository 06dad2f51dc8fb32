"""The parts of results that can be compared, and where two results differ."""

import hashlib
import json
import re
from collections.abc import Set
from typing import Any

import numpy as np

from bookbuild.reporting.notebook import FIGURES_FOLDER, MEASURES_FILE

from .executed import NOTEBOOK_FILE, Entry, glued_name

VARIES = {  # what two executions of the same code need not share, and why
    "commit": "an edit of prose makes a new commit; code is compared by its fingerprint",
    "versions": "of this machine; results of other versions are held to 1%, not to the bit",
    "device": "names the GPU, where there is one",
    "seconds": "a timing",
    "wall time": "a timing",
}
FOLDED = re.compile(f"<dt>({'|'.join(VARIES)})</dt><dd>.*?</dd>")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
NAMED_BY_CONTENT = re.compile(r"\b[mph][0-9a-f]{10}\b")  # paths of a drawing, by a digest of them
AROUND = 30  # characters that are shown of a text from where it differs


def contents_of(entry: Entry) -> dict[str, Any]:
    """Return each measure and each array of a figure, by a name that can be printed."""
    found: dict[str, Any] = {
        f"measure {key}": measure["value"] for key, measure in entry.measures.items()
    }
    for name, content in entry.figures.items():
        if name.endswith(".json"):
            data = json.loads(content)["data"]
            found |= {f"array {name}: {key}": value for key, value in data.items()}
    return found


def everything(entry: Entry, timings: Set[str] = frozenset()) -> dict[str, Any]:
    """Return all that is published of a chapter, by a name that can be printed, but for VARIES.

    Left out are also the values of measures that the chapter declares to be timings. The rest is
    what `contents` returns and what readers see besides: drawings, settings of figures, outputs of
    cells, numbers glued into the prose.
    """
    found = contents_of(entry)
    for key, measure in entry.measures.items():
        found[f"kind of measure {key}"] = {k: v for k, v in measure.items() if k != "value"}
    for name, content in entry.figures.items():
        if name.endswith(".json"):
            document = json.loads(content)
            document.pop("data")
            settings = document.pop("settings").items()
            kept = {key: value for key, value in settings if key not in VARIES}
            found[f"settings of figure {name}"] = json.dumps([document, kept])
        else:
            found[f"drawing {name}"] = content.decode()
    for place, cell in enumerate(entry.notebook.cells, start=1):
        for number, output in enumerate(cell.get("outputs", []), start=1):
            glued = glued_name(output)
            name = f"number {glued} in the prose" if glued else f"output {number} of cell {place}"
            found[name] = FOLDED.sub("", json.dumps(output, sort_keys=True, ensure_ascii=False))
    for name in entry.files.keys() - {NOTEBOOK_FILE, MEASURES_FILE}:
        if not name.startswith(f"{FIGURES_FOLDER}/"):
            found[f"file {name}"] = hashlib.sha256(entry.files[name]).hexdigest()
    varying = {f"measure {key}" for key in timings} | {
        f"number {key} in the prose" for key in timings
    }
    return {name: value for name, value in found.items() if name not in varying}


def loosened(found: dict[str, Any]) -> dict[str, Any]:
    """Return what `everything` returned, numbers in texts apart from the words around them."""
    texts = {name: NAMED_BY_CONTENT.sub("", x) for name, x in found.items() if isinstance(x, str)}
    return found | {
        name: {
            "words": NUMBER.sub("#", text),
            "numbers": [float(number) for number in NUMBER.findall(text)],
        }
        for name, text in texts.items()
    }


def different(before: Any, after: Any, tolerance: float, place: str = "") -> list[str]:
    """Return a line for each place where two results are further apart than a tolerance.

    Numbers and arrays are compared relative to the largest of the published array; with a
    tolerance of zero every bit counts.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        lines: list[str] = []
        for name in before | after:
            where = f"{place} {name}".strip()
            if name in before and name in after:
                lines += different(before[name], after[name], tolerance, where)
            else:
                lines.append(f"{where}: only {'as published' if name in before else 'here'}")
        return lines
    if isinstance(before, str) and isinstance(after, str):
        if before == after:
            return []
        first = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        start, end = max(0, first - AROUND // 3), first + AROUND
        return [f"{place}: {before[start:end]!r} as published, {after[start:end]!r} here"]
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
