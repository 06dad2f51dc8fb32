"""The measures of each row at other first seeds and under another rounding, as stored.

Outdated evidence counts against a row until it is renewed, and never for it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bookbuild.reporting.measures import read_measures
from running.records import finite

from .carried import IN_PLACE, Carried, edits_carried, is_current
from .claims import Finding, Verdict
from .expectations import Expectation, Measured

Steadiness = Literal["steady", "flips", "earlier"]


@dataclass(frozen=True)
class Rerun:
    """The verdicts on a row at other first seeds, in their order, or under another rounding."""

    seeds: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    own: Verdict  # of this build
    current: bool  # whether the chapter's code is still the one that measured
    carried: Carried = IN_PLACE

    @property
    def holds(self) -> int:
        """At how many of the first seeds the claim is reproduced."""
        return sum(verdict == "reproduced" for verdict in self.verdicts)

    @property
    def flips(self) -> bool:
        """Whether a stored verdict is another than this build's."""
        return any(verdict != self.own for verdict in self.verdicts)

    @property
    def steadiness(self) -> Steadiness:
        """Whether the row flips, by evidence of any age, or what there is agrees."""
        if self.flips:
            return "flips"
        return "steady" if self.current else "earlier"


def told(
    finding: Finding, stored: Mapping[str, Mapping[str, Any]], fingerprints: Mapping[str, str]
) -> Rerun | None:
    """Return what the stored run says of a finding; None for a row that it does not know.

    Its values are judged by the expectation as it is today. Where the row has another measure by
    now, or an expectation that does not fit them, the verdicts that were stored count.
    """
    claim = finding.claim
    place = next((name for name, chapter in stored.items() if claim.id in chapter["rows"]), None)
    if place is None or claim.expectation is None or finding.verdict == "not judged":
        return None
    chapter = stored[place]
    row = chapter["rows"][claim.id]
    seeds, earlier = tuple(chapter["seeds"]), tuple(row["verdicts"])
    verdicts = _verdicts(row, claim.expectation) if row["measure"] == claim.measure else None
    fingerprint = fingerprints.get(claim.chapter) if place == claim.chapter else None
    if verdicts is None or not is_current(chapter, fingerprint):
        return Rerun(seeds, verdicts or earlier, finding.verdict, current=False)
    return Rerun(seeds, verdicts, finding.verdict, True, edits_carried(chapter, fingerprint))


def with_reruns(findings: Sequence[Finding], *stored: Mapping[str, Rerun]) -> list[Finding]:
    """Return the findings; what is reproduced is partly where a stored run says otherwise."""
    return [
        replace(finding, verdict="partly")
        if finding.verdict == "reproduced"
        and any(reruns[finding.claim.id].flips for reruns in stored if finding.claim.id in reruns)
        else finding
        for finding in findings
    ]


def row_of(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what is stored of a row that was measured at several first seeds."""
    first = findings[0]
    assert first.measured is not None
    return {
        "measure": first.claim.measure,
        "over": first.measured.over,
        "values": [finite(finding.measured.value) for finding in findings if finding.measured],
        "verdicts": [finding.verdict for finding in findings],
    }


def _verdicts(row: Mapping[str, Any], expectation: Expectation) -> tuple[Verdict, ...] | None:
    """Return the verdicts of an expectation on the stored values, or None if it does not fit."""
    texts = {str(place): {"value": value} for place, value in enumerate(row["values"])}
    values = read_measures(json.dumps(texts)).values()  # infinity as a number again
    measured = [Measured(of["value"], row["over"]) for of in values]
    if any(expectation.misfit(one) for one in measured):
        return None
    return tuple(expectation.verdict(one) for one in measured)
