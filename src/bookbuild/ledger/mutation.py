"""The record of mutation testing: which planted faults change the verdict of a row.

The drill is `tools/mutation`, which writes the record.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .carried import IN_PLACE, Carried, edits_carried, is_current
from .claims import Finding
from .trainings.reach import CODE, SEEN, SYMMETRY, Trained, kills, sees_little, trained

# The sizes of a trial in words, by its profile; nothing for the paper's.
SIZES = {"smoke": " at tiny sizes", "reduced": " at smaller sizes"}
REACHED = ("improved", "moved")  # a fault in code that leaves a measure as it is does not
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
    kinds: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    symmetries: int = 0  # changes that are no fault, under which the verdict stayed
    trainings: tuple[Trained, ...] = ()  # the wrong ones as the row sees them
    blind: str = ""  # why it sees too few of them
    reduced: str = ""  # what the smaller sizes are that its chapter was tried at

    @property
    def told_kinds(self) -> list[str]:
        """By kind and size, how many within reach turn the row; empty for faults in code alone."""
        if len(self.kinds) < 2 and not self.trainings:
            return []
        return [
            f"{kind}{SIZES.get(profile, '')} {turned} of {reaching}"
            for (kind, profile), (turned, reaching) in self.kinds.items()
        ]

    @property
    def kills(self) -> tuple[int, int]:
        """How many wrong trainings the row kills at full size, of how many within its reach."""
        return kills(self.trainings)

    @property
    def sees_little(self) -> bool:
        """Whether it kills too few of these, although its verdict could get worse."""
        return self.alertness != "contradicted" and sees_little(self.trainings)

    @property
    def still_true(self) -> int:
        """How many wrong trainings leave the statement of the row true, symmetries apart."""
        return sum(bool(one.why) and one.why != SYMMETRY for one in self.trainings)

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
    seen, reasons = trained(chapter["faults"], row), record.get("kept", {})
    turned = [
        name
        for name in row.get("turned", ())
        if name in faults and (name not in seen or seen[name].sight == "kills")
    ]
    moved = [n for what in REACHED for n in row.get(what, ()) if n in faults and n not in seen]
    within = [name for name, fault in seen.items() if fault.sight in SEEN]
    told = turned or faults
    fingerprint = fingerprints.get(claim.chapter)
    kinds = {
        name: (faults[name].get("kind", CODE), faults[name]["profile"])
        for name in dict.fromkeys([*turned, *moved, *within])
    }
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
        trainings=tuple(one._replace(why=reasons.get(one.why, one.why)) for one in seen.values()),
        blind=record.get("blind", {}).get(claim.id, ""),
        reduced=record.get("reduced", {}).get(claim.chapter, ""),
    )


def _tiny(fault: Mapping[str, Any]) -> bool:
    return bool(fault["profile"] == "smoke")
