"""What the record of evidence says of each row, and how far it lowers a verdict.

A row that has not been measured at all the declared seeds and under a declared rounding, with the
code of today or with code that makes the same numbers, counts as if it had failed there. So a seed
that is deleted lowers a verdict and never raises one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .claims import Finding, Verdict
from .outcomes import Kind, Record
from .planted import TINY, Declared, Seen, faults_seen, verdict_on

State = Literal["steady", "flips", "earlier", "missing"]
Alertness = Literal["turned", "contradicted", "green", "untried"]


class Rerun(NamedTuple):
    """The verdict on a row under a variation; None where its value does not fit the expectation."""

    variation: str
    verdict: Verdict | None
    current: bool
    commit: str


@dataclass(frozen=True)
class Repeated:
    """A row measured again, under variations that should change no verdict.

    Attributes:
        own: the verdict of this build alone.
        reruns: by variation.
        lacking: names of what is declared and was not measured.
    """

    own: Verdict
    reruns: tuple[Rerun, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """Whether a verdict is another, by evidence of any age, or what there is agrees."""
        if any(rerun.verdict not in (self.own, None) for rerun in self.reruns):
            return "flips"
        if self.lacking or any(rerun.verdict is None for rerun in self.reruns):
            return "missing"
        return "steady" if all(rerun.current for rerun in self.reruns) else "earlier"

    @property
    def since(self) -> str:
        """The commit of the earliest code among them; empty if all is current."""
        return next((rerun.commit for rerun in self.reruns if not rerun.current), "")


@dataclass(frozen=True)
class Evidence:
    """All that the record says of a row."""

    seeds: Repeated
    rounding: Repeated
    others: Repeated  # devices, and settings of ours varied
    faults: tuple[Seen, ...] = ()

    @property
    def alertness(self) -> Alertness:
        """Whether a planted fault turns the row, or none can."""
        if any(one.sight == "kills" for one in self.faults):
            return "turned"
        if self.seeds.own == "contradicted":
            return "contradicted"
        return "green" if self.faults else "untried"

    @property
    def sharpest(self) -> Seen:
        """A fault that turns the row, one of today's code and of the paper's sizes first."""
        turning = [one for one in self.faults if one.sight == "kills"]
        return min(
            turning, key=lambda one: (one.says == TINY, not one.current, one.profile == "smoke")
        )

    @property
    def flips(self) -> bool:
        """Whether a variation turned the verdict."""
        return "flips" in (self.seeds.state, self.rounding.state, self.others.state)

    @property
    def lacks(self) -> bool:
        """Whether it was not measured again as it has to be."""
        needed = {self.seeds.state, self.rounding.state}
        return not self.flips and not needed <= {"steady"}


def evidence_of(
    finding: Finding, record: Record, declared: Declared, today: str | None
) -> Evidence | None:
    """Return what the record says of a row; None for one that is not judged.

    `today` is the fingerprint of the chapter's code.
    """
    claim = finding.claim
    if claim.expectation is None or finding.measured is None or finding.verdict == "not judged":
        return None

    def repeated(kinds: Sequence[Kind], required: Iterable[str], enough: int) -> Repeated:
        reruns = tuple(
            Rerun(one.variation, found, record.is_current(claim.chapter, one.fingerprint, today),
                  one.commit)
            for one in record.of(claim.chapter, *kinds)
            if claim.measure in one.values
            for found in [verdict_on(finding, one.values)]
        )  # fmt: skip
        made, wanted = {rerun.variation for rerun in reruns}, tuple(required)
        lacking = tuple(name for name in wanted if name not in made)
        is_enough = len(wanted) - len(lacking) >= enough
        return Repeated(finding.verdict, reruns, () if is_enough else lacking)

    return Evidence(
        repeated(["seed"], declared.seeds, len(declared.seeds)),
        repeated(["rounding"], declared.roundings, min(1, len(declared.roundings))),
        repeated(["device", "setting"], (), 0),
        tuple(faults_seen(finding, record, declared, today)),
    )


def lowered(
    findings: Sequence[Finding], evidence: Mapping[str, Evidence], *, required: bool
) -> list[Finding]:
    """Return the findings; what is reproduced is partly where its evidence does not say so too.

    Without `required`, for a book that declares no variations, nothing is asked for.
    """
    told = []
    for finding in findings:
        known = evidence.get(finding.claim.id)
        if finding.verdict == "reproduced" and known and known.flips:
            finding = replace(finding, verdict="partly")
        elif finding.verdict == "reproduced" and known and known.lacks and required:
            finding = replace(finding, verdict="partly", unconfirmed=True)
        told.append(finding)
    return told
