"""The stored drill of planted faults: which wrong implementations a row can tell from a right one.

The drill is `tools/mutation`, which writes the record.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .carried import IN_PLACE, Carried, edits_carried, is_current
from .claims import Finding

Alertness = Literal["turned", "argued", "contradicted", "green", "untried"]


@dataclass(frozen=True)
class Planted:
    """What planted faults made of a row."""

    turned: tuple[str, ...] = ()  # what was wrong where the verdict got worse, the sharpest first
    improved: int = 0  # faults that made a contradicted row a better one
    tried: int = 0  # faults planted in its chapter
    argument: str = ""  # why none needs to turn it
    current: bool = True  # whether the chapter's code is still the one that was tried
    tiny: bool = False  # whether that was seen at the sizes of the smoke profile alone
    contradicted: bool = False  # whether the row has no worse verdict in this build
    carried: Carried = IN_PLACE

    @property
    def alertness(self) -> Alertness:
        """Whether a fault turns the row, or none can; what was tried before an edit is not."""
        if self.argument and not self.turned:
            return "argued"
        if not (self.tried and self.current):
            return "untried"
        if self.turned:
            return "turned"
        return "contradicted" if self.contradicted else "green"


def trial_of(
    finding: Finding, record: Mapping[str, Any], fingerprints: Mapping[str, str]
) -> Planted:
    """Return what the record says of a row."""
    claim = finding.claim
    chapter = record["chapters"].get(claim.chapter)
    row = chapter["rows"].get(claim.id) if chapter else None
    argument = record["argued"].get(claim.id, "")
    if chapter is None or row is None:
        return Planted(argument=argument)
    told = row.get("turned") or chapter["faults"]
    fingerprint = fingerprints.get(claim.chapter)
    return Planted(
        tuple(chapter["faults"][name]["says"] for name in row.get("turned", ())),
        len(row.get("improved", ())),
        len(chapter["faults"]),
        argument,
        is_current(chapter, fingerprint),
        tiny=all(chapter["faults"][name]["profile"] == "smoke" for name in told),
        contradicted=finding.verdict == "contradicted",
        carried=edits_carried(chapter, fingerprint),
    )
