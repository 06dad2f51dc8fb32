"""The stored run of the ledger at other first seeds: what each row measured there."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from bookbuild.errors import raise_if_any
from bookbuild.reporting.measures import read_measures, write_measures
from bookbuild.schema import faults, load

from .claims import Finding, Verdict
from .expectations import Measured

Steadiness = Literal["steady", "flips", "earlier"]

RECORD = Path("data/robust.json")
SCHEMA = Path(__file__).with_name("robust.schema.json")


@dataclass(frozen=True)
class Rerun:
    """What a row measured at other first seeds, in their order, judged by its expectation."""

    seeds: tuple[int, ...]
    measured: tuple[Measured, ...]
    verdicts: tuple[Verdict, ...]
    own: Verdict  # at the first seed of this build
    current: bool  # whether the chapter's code is still the one that measured

    @property
    def holds(self) -> int:
        """At how many of the first seeds the claim is reproduced."""
        return sum(verdict == "reproduced" for verdict in self.verdicts)

    @property
    def steadiness(self) -> Steadiness:
        """Whether all first seeds agree, this build's among them."""
        if not self.current:
            return "earlier"
        return "flips" if {self.own} != {self.own, *self.verdicts} else "steady"


def read_robust(root: Path) -> dict[str, dict[str, Any]]:
    """Return the stored chapters by name, none where there is no stored run; raise BookError."""
    if not (root / RECORD).is_file():
        return {}
    document = load(root / RECORD, RECORD)
    raise_if_any(f"{RECORD}: {fault.clause}." for fault in faults(document, SCHEMA))
    return document["chapters"]


def told(
    finding: Finding, stored: Mapping[str, Mapping[str, Any]], editions: Mapping[str, str]
) -> Rerun | None:
    """Return what the stored run says of a finding; None if nothing.

    A row that it does not know, or knows under another measure, has nothing to say; one whose
    chapter has changed since is not current.
    """
    claim, chapter = finding.claim, stored.get(finding.claim.chapter)
    row = chapter["rows"].get(claim.id) if chapter else None
    if chapter is None or row is None or row["measure"] != claim.measure:
        return None
    expectation = claim.expectation
    if expectation is None or finding.verdict == "not judged":
        return None
    values = [measured["value"] for measured in _values(row)]
    measured = tuple(Measured(value, row["over"]) for value in values)
    if any(expectation.misfit(one) for one in measured):
        return None
    verdicts = tuple(expectation.verdict(one) for one in measured)
    current = editions.get(claim.chapter) == chapter["edition"]
    return Rerun(tuple(chapter["seeds"]), measured, verdicts, finding.verdict, current)


def with_reruns(findings: Sequence[Finding], reruns: Mapping[str, Rerun]) -> list[Finding]:
    """Return the findings, partly where a current rerun at other first seeds says otherwise."""
    return [
        replace(finding, verdict="partly")
        if (rerun := reruns.get(finding.claim.id)) is not None and rerun.steadiness == "flips"
        else finding
        for finding in findings
    ]


def row_of(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what is stored of a row that was measured at several first seeds."""
    first = findings[0]
    assert first.measured is not None
    values = {
        str(place): {"value": finding.measured.value, "over": finding.measured.over}
        for place, finding in enumerate(findings)
        if finding.measured is not None
    }
    plain = json.loads(write_measures(values))
    return {
        "measure": first.claim.measure,
        "over": first.measured.over,
        "values": [measure["value"] for measure in plain.values()],
        "verdicts": [finding.verdict for finding in findings],
    }


def _values(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the values of a stored row, infinity as a number again."""
    texts = {str(place): {"value": value} for place, value in enumerate(row["values"])}
    return list(read_measures(json.dumps(texts)).values())
