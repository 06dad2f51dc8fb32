"""The page's matrix of wrong trainings against rows, and the rows that see too few of them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.mutation import Planted
from bookbuild.ledger.records import Records
from bookbuild.ledger.templates import render
from bookbuild.source.chapters import Chapter

from .reach import ENOUGH, SEEN, SYMMETRY, Sight, Trained

# What stands in a cell, and what it means.
MARKS: Mapping[Sight, tuple[str, str]] = {
    "kills": ("●", "the row turns"),
    "green": ("○", "within reach, and the row stays as it is"),
    "better": ("+", "within reach, and the row gets better, which proves nothing"),
    "true": ("–", "the statement of the row stays true"),
    "stops": ("×", "the chapter stops, so the row has no verdict"),
    "broken": ("!", "the row turns although its statement should stay true"),
}


class Judged(NamedTuple):
    """A row with what it makes of the wrong trainings of its chapter at full size."""

    finding: Finding
    planted: Planted
    seen: Mapping[str, Trained]  # by what is wrong

    @property
    def kinds(self) -> Mapping[str, str]:
        """How many of each kind it kills, of how many within its reach."""
        found: dict[str, str] = {}
        for kind in dict.fromkeys(one.kind for one in self.seen.values()):
            marks = [one.sight for one in self.seen.values() if one.kind == kind]
            if of := sum(mark in SEEN for mark in marks):
                found[kind] = f"{marks.count('kills')} of {of}"
        return found


class Tried(NamedTuple):
    """A chapter with its rows, and the wrong trainings tried on it at full size."""

    chapter: Chapter
    rows: list[Judged]
    faults: list[Trained]

    @property
    def reduced(self) -> int:
        """How many of these were tried at smaller sizes than the paper's."""
        return sum(fault.profile == "reduced" for fault in self.faults)

    @property
    def reasons(self) -> Mapping[str, list[int]]:
        """Why statements stay true, each with the numbers of its rows."""
        found: dict[str, dict[int, None]] = {}
        for number, row in enumerate(self.rows, start=1):
            for one in row.seen.values():
                if one.why and one.why != SYMMETRY:
                    found.setdefault(one.why, {})[number] = None
        return {why: list(numbers) for why, numbers in found.items()}


def wrong_trainings(
    findings: Sequence[Finding], chapters: Sequence[Chapter], records: Records
) -> str:
    """Return the matrix of each chapter with wrong trainings, and rows that see too few; or ""."""
    tried = [found for chapter in chapters if (found := _tried(chapter, findings, records)).faults]
    if not tried:
        return ""
    little = [row for one in tried for row in one.rows if row.planted.sees_little]
    return render(
        "wrong_trainings.html",
        tried=tried,
        little=little,
        marks=MARKS,
        symmetry=SYMMETRY,
        enough=ENOUGH,
    )


def _tried(chapter: Chapter, findings: Sequence[Finding], records: Records) -> Tried:
    rows = []
    for finding in findings:
        planted = records.trials.get(finding.claim.id)
        if finding.claim.chapter == chapter.name and planted and planted.current:
            seen = {one.says: one for one in planted.trainings if not one.tiny}
            if seen:
                rows.append(Judged(finding, planted, seen))
    faults = {says: one for row in rows for says, one in row.seen.items()}
    return Tried(chapter, rows, sorted(faults.values(), key=lambda one: (one.kind, one.says)))
