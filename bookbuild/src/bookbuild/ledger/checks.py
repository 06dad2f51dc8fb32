"""The checks of all chapters: one table, and what does not hold."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bookbuild.errors import raise_if_any
from bookbuild.reporting.expectations import Check
from bookbuild.source.chapters import Chapter

from .templates import render

Checks = Mapping[str, Mapping[str, Check]]  # by chapter, then by the key of the measure


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


def amiss(checks: Checks) -> list[str]:
    """Return a line for each check that does not hold, or holds in part."""
    return [
        f"a check {check.outcome}: {check.what} ({chapter}): {check.value or 'false'}"
        + (f", expected {check.bound}" if check.bound else "")
        for chapter, of in checks.items()
        for check in of.values()
        if check.outcome in ("does not hold", "holds in part")
    ]
