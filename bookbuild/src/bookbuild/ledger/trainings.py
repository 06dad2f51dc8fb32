"""The matrix of wrong trainings against the rows of a chapter."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bookbuild.source.chapters import Chapter

from .claims import Finding
from .planted import CODE, Seen, Sight
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


class Tried(NamedTuple):
    """A chapter with its rows, and how each saw the wrong trainings, by what is wrong."""

    chapter: Chapter
    rows: Sequence[tuple[Finding, Mapping[str, Seen]]]

    @property
    def faults(self) -> list[Seen]:
        """The wrong trainings, by their kinds."""
        found = {says: one for _, seen in self.rows for says, one in seen.items()}
        return sorted(found.values(), key=lambda one: (one.kind, one.says))

    @property
    def reasons(self) -> Mapping[str, list[int]]:
        """Why statements stay true, each with the numbers of its rows."""
        found: dict[str, dict[int, None]] = {}
        for number, (_, seen) in enumerate(self.rows, start=1):
            for one in seen.values():
                if one.why:
                    found.setdefault(one.why, {})[number] = None
        return {why: list(numbers) for why, numbers in found.items()}


def wrong_trainings(
    findings: Sequence[Finding], chapters: Sequence[Chapter], records: Records
) -> str:
    """Return the matrix of each chapter on which wrong trainings were tried."""
    tried = [found for one in chapters if (found := _tried(one, findings, records)).rows]
    return render("wrong_trainings.html", tried=tried, marks=MARKS)


def _tried(chapter: Chapter, findings: Sequence[Finding], records: Records) -> Tried:
    rows = []
    for finding in findings:
        known = records.evidence.get(finding.claim.id)
        if finding.claim.chapter == chapter.name and known:
            faults = (one for one in known.faults if one.kind != CODE and one.profile != "smoke")
            seen = {one.says: one for one in faults}
            if seen:
                rows.append((finding, seen))
    return Tried(chapter, rows)
