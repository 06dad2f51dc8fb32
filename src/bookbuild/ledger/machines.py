"""The verdicts under another rounding and on other machines, beside those of this build."""

from collections.abc import Sequence

from .claims import Claim, Finding, Verdict
from .records import Records
from .templates import render


def machines_table(findings: Sequence[Finding], records: Records) -> str:
    """Return for each of them how many verdicts are those of this build, and the rows that differ.

    Verdicts are those of one execution each: what other seeds or roundings say lowers none of them.
    """
    known: dict[str, dict[str, Verdict]] = {}
    own: list[tuple[Claim, Verdict]] = []
    for finding in findings:
        found = records.evidence.get(finding.claim.id)
        if found is None:
            continue
        own.append((finding.claim, found.seeds.own))
        for rerun in (*found.rounding.reruns, *found.others.reruns):
            if rerun.verdict is not None:
                known.setdefault(rerun.variation, {})[finding.claim.id] = rerun.verdict
    differing = [
        (claim, verdict, [of.get(claim.id) for of in known.values()])
        for claim, verdict in own
        if any(of.get(claim.id, verdict) != verdict for of in known.values())
    ]
    counts = []
    for name, of in known.items():
        both = [(of[claim.id], verdict) for claim, verdict in own if claim.id in of]
        counts.append((name, len(both), sum(there == here for there, here in both)))
    return render("machines.html", counts=counts, differing=differing)
