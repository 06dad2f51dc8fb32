"""The table of verdicts as a MyST page, and what stands below an executed one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bookbuild.source.chapters import Chapter

from .claims import Finding
from .counts import STATES
from .records import Records
from .render import render


def verdict_table(
    findings: Sequence[Finding], chapters: Sequence[Chapter], records: Records
) -> str:
    """Return a table of all findings for each chapter, in the order of the book."""
    rows = [(of, [f for f in findings if f.claim.chapter == of.name]) for of in chapters]
    tables = [(chapter, found) for chapter, found in rows if found]
    return render("verdicts.md", tables=tables, records=records, states=STATES)


def results_table(findings: Sequence[Finding], *, up: str = "") -> str:
    """Return the new results among findings behind a fold, which says how they are judged.

    `up` leads to the book's root.
    """
    new = [f for f in findings if f.claim.kind == "new" and f.measured is not None]
    counts = Counter(finding.verdict for finding in new)
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
    return render("results.md", findings=new, told=told, up=up)


def witness_limits(record: Mapping[str, Any]) -> str:
    """Return which faults `make record WHAT=carry` would have missed; empty without a record."""
    return render("witness.html", **record) if record else ""


def made_by(origin: Mapping[str, object]) -> str:
    """Return the small print below an executed page."""
    return render("made_by.html", origin=origin)
