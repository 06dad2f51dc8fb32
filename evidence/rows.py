"""What the record of evidence says of each row, and how far it lowers a verdict.

A row that was not measured at all seeds and under all roundings counts as if it had failed there.
So a line that is deleted lowers a verdict and never raises one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from bookbuild.ledger.claims import Claim, Finding, Verdict

from .record import Record
from .variations import DRAWN, Kind

State = Literal["exact", "steady", "flips", "stored", "missing"]
Foresight = Verdict | Literal["exact", "stored", "changed", "missing"]
ENOUGH = 3  # seeds in a file of stored runs that today's code made


class Repeated(NamedTuple):
    """A row measured again, under variations that should change no verdict."""

    state: State
    reruns: Mapping[str, Verdict | None]  # by the names of the variations


@dataclass(frozen=True)
class Standing:
    """All that the record says of a row."""

    own: Verdict  # of this build alone
    recorded: Verdict | None  # of the recorded commit
    foresight: Foresight  # at the drawn seed
    seeds: Repeated
    rounding: Repeated
    settings: Repeated  # of ours, varied
    faults: Mapping[str, bool]  # which planted faults make the verdict worse
    stored: tuple[int, int] | None = None  # seeds of the stored runs, and those of today's code

    @property
    def alertness(self) -> Literal["turned", "exact", "contradicted", "green"]:
        """Whether a planted fault turns the row, or none can."""
        if any(self.faults.values()):
            return "turned"
        if self.seeds.state == "exact":
            return "exact"
        return "contradicted" if self.own == "contradicted" else "green"

    @property
    def doubt(self) -> Literal["flips", "lacks", ""]:
        """Whether a variation turned the verdict, or one that is needed was not measured."""
        states = {self.seeds.state, self.rounding.state, self.settings.state}
        if "flips" in states:
            return "flips"
        alone = self.stored is None or self.stored[1] < ENOUGH
        return "lacks" if "missing" in states or ("stored" in states and alone) else ""


def standing_of(
    finding: Finding,
    record: Record,
    declared: Mapping[str, Any],
    stored: Mapping[str, tuple[int, int]],
) -> Standing | None:
    """Return what the record says of a row; None for one that is not judged.

    `declared` is what the book declares of variations, and `stored` has the seeds of the stored
    runs that a chapter reads, and how many of these today's code made.
    """
    claim, measure = finding.claim, finding.claim.measure
    if claim.expectation is None or finding.measured is None or finding.verdict == "not judged":
        return None
    base = record.base(claim.chapter)
    value = base.values.get(measure) if base else None
    without = record.of(claim.chapter, "without stored runs")
    is_stored = any(outcome.values.get(measure) != value for outcome in without)

    def repeated(kind: Kind, names: Iterable[str] = ()) -> Repeated:
        outcomes = record.of(claim.chapter, kind)
        reruns = {o.variation: claim.verdict_on(o.values) for o in outcomes}
        state: State = "steady"
        if {*reruns.values()} - {finding.verdict, None}:
            state = "flips"
        elif claim.exact:
            state = "exact"
        elif not all(reruns.get(name) for name in names):
            state = "missing"
        elif is_stored and all(o.values.get(measure) == value for o in outcomes):
            state = "stored"
        return Repeated(state, reruns)

    seeds = repeated("seed", [DRAWN, *(f"seed {seed}" for seed in declared.get("seeds", ()))])
    foresight: Foresight = seeds.reruns.get(DRAWN) or "missing"
    expectations = record.release.expectations if record.release else {}
    if seeds.state == "exact" or seeds.state == "stored":
        foresight = seeds.state
    elif foresight != "missing" and expectations.get(claim.id) != str(claim.expectation):
        foresight = "changed"
    return Standing(
        finding.verdict,
        claim.verdict_on(base.values) if base else None,
        foresight,
        seeds,
        repeated("rounding", [f"rounding {name}" for name in declared.get("roundings", ())]),
        repeated("setting"),
        {
            outcome.variation: turned(claim, before.values, outcome.values)
            for outcome in record.of(claim.chapter, "fault")
            if (before := record.base(claim.chapter, outcome.sizes))
        },
        stored.get(claim.chapter) if seeds.state == "stored" else None,
    )


def turned(claim: Claim, base: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Return whether with a fault a row holds in fewer seeds or settings than without.

    A row that the chapter no longer measures does not count, for its chapter stops.
    """
    before, after, expectation = *map(claim.measured_in, (base, values)), claim.expectation
    if before and after and expectation:
        return expectation.share(after) < expectation.share(before)
    return False


def lowered(finding: Finding, standing: Standing | None) -> Finding:
    """Return a finding; what is reproduced is partly where its evidence does not say so too."""
    if standing is None or not standing.doubt or finding.verdict != "reproduced":
        return finding
    return replace(finding, verdict="partly", unconfirmed=standing.doubt == "lacks")
