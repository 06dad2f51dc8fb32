"""The matrix of wrong trainings against the rows of a chapter."""

from collections.abc import Mapping, Sequence

from bookbuild.source.chapters import Chapter

from .claims import Finding
from .planted import Seen, Sight
from .records import Records
from .templates import render

# What stands in a cell, and what it means.
MARKS: Mapping[Sight, tuple[str, str]] = {
    "kills": ("●", "the row turns"),
    "green": ("○", "the row should turn, and stays as it is"),
    "better": ("+", "the row gets better, which proves nothing"),
    "true": ("–", "the statement of the row stays true"),
    "stops": ("×", "the chapter stops, so the row has no verdict"),
    "broken": ("!", "the row turns although its statement should stay true"),
}


def wrong_trainings(
    findings: Sequence[Finding], chapters: Sequence[Chapter], records: Records
) -> str:
    """Return the matrix of each chapter on which wrong trainings were tried."""
    seen: dict[str, dict[str, dict[str, Seen]]] = {chapter.name: {} for chapter in chapters}
    for finding in findings:
        claim, known = finding.claim, records.evidence.get(finding.claim.id)
        faults = [one for one in known.faults if one.is_training] if known else []
        if faults and claim.chapter in seen:
            seen[claim.chapter][claim.id] = {one.says: one for one in faults}
    tried = [
        (chapter, rows, _kinds(rows), _reasons(rows))
        for chapter in chapters
        if (rows := seen[chapter.name])
    ]
    met = {f.claim.id for f in findings if f.verdict == "contradicted"}
    return render("wrong_trainings.html", tried=tried, marks=MARKS, contradicted=met)


def _kinds(rows: Mapping[str, Mapping[str, Seen]]) -> list[tuple[str, str]]:
    """Return the wrong trainings that rows saw, by what is wrong in them."""
    return sorted({(one.kind, one.says) for seen in rows.values() for one in seen.values()})


def _reasons(rows: Mapping[str, Mapping[str, Seen]]) -> dict[str, list[int]]:
    """Return why statements stay true, each with the numbers of its rows."""
    found: dict[str, list[int]] = {}
    for number, seen in enumerate(rows.values(), start=1):
        for why in dict.fromkeys(one.why for one in seen.values() if one.why):
            found.setdefault(why, []).append(number)
    return found
