"""The record of mutation testing: which planted faults change the verdict of a row.

The drill is `tools/mutation`, which writes the record.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .carried import IN_PLACE, Carried, edits_carried, is_current
from .claims import Finding

REACHED = ("improved", "moved")  # a fault that leaves a measure as it is does not reach the row
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
    kinds: Mapping[tuple[str, bool], tuple[int, int]] = field(default_factory=dict)
    symmetries: int = 0  # changes that are no fault, under which the verdict stayed

    @property
    def told_kinds(self) -> list[str]:
        """By kind and size, how many of those that reach the row turn it; empty for one kind."""
        if len(self.kinds) < 2:
            return []
        return [
            f"{kind}{' at tiny sizes' if tiny else ''} {turned} of {reaching}"
            for (kind, tiny), (turned, reaching) in self.kinds.items()
        ]

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
    faults = {name: fault for name, fault in chapter["faults"].items() if "symmetry" not in fault}
    turned = [name for name in row.get("turned", ()) if name in faults]
    reaching = [*turned, *(n for what in REACHED for n in row.get(what, ()) if n in faults)]
    told = turned or faults
    fingerprint = fingerprints.get(claim.chapter)
    kinds = {name: (faults[name].get("kind", "code"), _tiny(faults[name])) for name in reaching}
    return Planted(
        tuple(faults[name]["says"] for name in turned),
        len(row.get("improved", ())),
        len(faults),
        argument,
        is_current(chapter, fingerprint),
        tiny=all(_tiny(faults[name]) for name in told),
        contradicted=finding.verdict == "contradicted",
        carried=edits_carried(chapter, fingerprint),
        kinds={
            kind: (sum(kinds[name] == kind for name in turned), of)
            for kind, of in sorted(Counter(kinds.values()).items())
        },
        symmetries=len(chapter["faults"].keys() - faults.keys() - set(row.get("turned", ()))),
    )


def _tiny(fault: Mapping[str, Any]) -> bool:
    return bool(fault["profile"] == "smoke")
