"""The checks of all chapters: one table, and their counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bookbuild.errors import raise_if_any
from bookbuild.reporting.expectations import Check, Outcome
from bookbuild.source.chapters import Chapter

from .templates import render

Checks = Mapping[str, Mapping[str, Check]]  # by chapter, then by the key of the measure

MANY: Mapping[Outcome, str] = {  # an outcome as it is said of several
    "holds": "hold",
    "holds in part": "hold in part",
    "does not hold": "do not hold",
    "not judged": "not judged",
}


def checks_of(
    reported: Mapping[str, Mapping[str, Mapping[str, Any]]], *, judged: bool
) -> dict[str, dict[str, Check]]:
    """Return the checks of each chapter that has some, given what chapters reported.

    Raises BookError for a check that a statement does not hold: say the opposite instead.
    """
    raise_if_any(
        f"Chapter {chapter}, the check {measure['check']['what']!r}: holds= can only be True."
        for chapter, measures in reported.items()
        for measure in measures.values()
        if measure.get("check", {}).get("holds", True) is not True
    )
    checks: dict[str, dict[str, Check]] = {}
    for chapter, measures in reported.items():
        for key in (key for key in measures if "check" in measures[key]):
            checks.setdefault(chapter, {})[key] = Check.of(measures[key], judged=judged)
    return checks


def checks_table(checks: Checks, chapters: Sequence[Chapter]) -> str:
    """Return the checks folded by chapter, in the order of the book; empty for none."""
    named = [(chapter, checks[chapter.name]) for chapter in chapters if chapter.name in checks]
    counts = Counter(check.outcome for _, of in named for check in of.values())
    return render("checks.html", chapters=named, counts=counts) if named else ""


def told_checks(checks: Checks, page: str) -> list[str]:
    """Return a line with the counts of each outcome, and the page that lists them, if any."""
    counts = Counter(check.outcome for of in checks.values() for check in of.values())
    told = [f"{counts[outcome]} {many}" for outcome, many in MANY.items() if counts[outcome]]
    where = f"; {page} lists them" if page else ""
    return [f"Checks: {', '.join(told)}{where}"] if told else []
