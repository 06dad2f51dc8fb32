"""The verdicts of every machine that has executed the book, side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bookbuild.errors import raise_if_any
from bookbuild.schema import faults, load

from .claims import Finding, Verdict
from .records import Records
from .templates import render

FOLDER = Path("data/machines")
SCHEMA = Path(__file__).with_name("machine.schema.json")


def read_machines(root: Path) -> list[dict[str, Any]]:
    """Return what each machine reported, in the order of its file's name.

    Raises BookError, a sentence for each fault, where a file has another form.
    """
    reports = []
    for path in sorted((root / FOLDER).glob("*.json")):
        report = load(path, f"{FOLDER}/{path.name}")
        raise_if_any(f"{FOLDER}/{path.name}: {fault.clause}." for fault in faults(report, SCHEMA))
        reports.append(report)
    return reports


def machines_table(findings: Sequence[Finding], records: Records) -> str:
    """Return for each machine how many verdicts are those of this build, and the rows that differ.

    The first is the machine of this build under another rounding. Verdicts are those of one
    execution each: what other seeds or roundings say lowers none of them here.
    """
    rounded = {row: rerun.verdicts[0] for row, rerun in records.roundings.items()}
    reports: list[tuple[str, dict[str, Verdict]]] = [("another rounding", rounded)]
    reports += [(report["machine"], report["verdicts"]) for report in records.machines]
    own = {f.claim: records.own(f) for f in findings if f.claim.expectation is not None}
    differing = [
        (claim, verdict, [known.get(claim.id) for _, known in reports])
        for claim, verdict in own.items()
        if any(known.get(claim.id, verdict) != verdict for _, known in reports)
    ]
    counts = []
    for name, known in reports:
        both = [(known[claim.id], verdict) for claim, verdict in own.items() if claim.id in known]
        counts.append((name, len(both), sum(there == here for there, here in both)))
    return render("machines.html", counts=counts, differing=differing)
