"""What the record of evidence says of each row, and how far it lowers a verdict.

A row that has not been measured at all the declared seeds and under a declared rounding, with the
code of today or with code that makes the same numbers, counts as if it had failed there. So a seed
that is deleted lowers a verdict and never raises one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from bookbuild.ledger.claims import Finding, Verdict

from .outcomes import Kind, Record

State = Literal["steady", "flips", "earlier", "missing"]
Fate = Literal["turned", "improved", "stops", "same"]
Sight = Fate | Literal["true", "broken"]
RANK = {"reproduced": 0, "partly": 1, "contradicted": 2}
CODE = "code"  # the kind of a fault that is in no training
TINY = "all sizes are those of the smoke profile"


class Rerun(NamedTuple):
    """The verdict on a row under a variation; None where its value does not fit the expectation."""

    variation: str
    verdict: Verdict | None
    earlier: str = ""  # the commit of earlier code that was measured


@dataclass(frozen=True)
class RepeatedRow:
    """A row measured again, under variations that should change no verdict."""

    own: Verdict  # of this build alone
    reruns: tuple[Rerun, ...] = ()
    lacking: bool = False  # whether something that is declared was not measured

    @property
    def state(self) -> State:
        """Whether a verdict is another, by evidence of any age, or what there is agrees."""
        verdicts = {rerun.verdict for rerun in self.reruns}
        if verdicts - {self.own, None}:
            return "flips"
        if self.lacking or None in verdicts:
            return "missing"
        return "earlier" if self.since else "steady"

    @property
    def since(self) -> str:
        """The commit of the earliest code among them; empty if all is current."""
        return next((rerun.earlier for rerun in self.reruns if rerun.earlier), "")


class Seen(NamedTuple):
    """A planted fault as a row sees it."""

    says: str  # what is wrong
    kind: str  # `code`, or what is wrong in a training: network, task, loss or gradient
    profile: str  # at which sizes it was tried
    # What became of the row: `true` if its statement stays true and it does not turn, `broken` if
    # it turns all the same.
    sight: Sight
    why: str = ""  # the statement stays true
    current: bool = True  # whether the chapter's code is still the one that was tried

    @property
    def is_training(self) -> bool:
        """Whether a training was wrong, and at sizes at which verdicts mean something."""
        return self.kind != CODE and self.profile != "smoke"


@dataclass(frozen=True)
class Standing:
    """All that the record says of a row."""

    seeds: RepeatedRow
    rounding: RepeatedRow
    others: RepeatedRow  # devices, and settings of ours varied
    faults: tuple[Seen, ...] = ()

    @property
    def alertness(self) -> Literal["turned", "contradicted", "green", "untried"]:
        """Whether a planted fault turns the row, or none can."""
        if any(fault.sight == "turned" for fault in self.faults):
            return "turned"
        if self.seeds.own == "contradicted":
            return "contradicted"
        return "green" if self.faults else "untried"

    @property
    def sharpest(self) -> Seen:
        """A fault that turns the row, one of today's code and of the paper's sizes first."""
        turning = [fault for fault in self.faults if fault.sight == "turned"]
        return min(turning, key=lambda x: (x.says == TINY, not x.current, x.profile == "smoke"))

    @property
    def flips(self) -> bool:
        """Whether a variation turned the verdict."""
        return "flips" in (self.seeds.state, self.rounding.state, self.others.state)

    @property
    def lacks(self) -> bool:
        """Whether it was not measured again as it has to be."""
        return not self.flips and {self.seeds.state, self.rounding.state} != {"steady"}


def standing_of(
    finding: Finding, record: Record, declared: Mapping[str, Any], today: str | None
) -> Standing | None:
    """Return what the record says of a row; None for one that is not judged.

    `declared` is what the book declares of variations, `today` the fingerprint of the chapter's
    code. All the seeds are required, and one of the roundings.
    """
    claim = finding.claim
    if claim.expectation is None or finding.measured is None or finding.verdict == "not judged":
        return None

    def repeated(kinds: Sequence[Kind], names: Iterable[Any] = (), spare: int = 0) -> RepeatedRow:
        reruns = []
        for outcome in record.of(claim.chapter, *kinds):
            current = record.is_current(claim.chapter, outcome.fingerprint, today)
            earlier = "" if current else outcome.commit or "unknown"
            if claim.measure in outcome.values:
                reruns.append(Rerun(outcome.variation, finding.verdict_on(outcome.values), earlier))
        required = {f"{kinds[0]} {name}" for name in names}
        renewed = {rerun.variation for rerun in reruns if not rerun.earlier}
        # one more that is older and agrees says nothing
        if required and len(required - renewed) <= spare:
            reruns = [
                x for x in reruns if not x.earlier or x.verdict not in (finding.verdict, None)
            ]
        lacking = required - {rerun.variation for rerun in reruns}
        return RepeatedRow(finding.verdict, tuple(reruns), len(lacking) > spare)

    seeds, roundings = declared.get("seeds", ()), declared.get("roundings", ())
    return Standing(
        repeated(["seed"], seeds),
        repeated(["rounding"], roundings, len([*roundings][1:])),
        repeated(["device", "setting"]),
        tuple(_faults_seen(finding, record, declared, today)),
    )


def _faults_seen(
    finding: Finding, record: Record, declared: Mapping[str, Any], today: str | None
) -> Iterator[Seen]:
    """Yield each planted fault of the chapter of a row, and what the row makes of it."""
    claim = finding.claim
    faults = {fault["fault"]: fault for fault in declared.get("faults", ())}
    numbers = record.numbers.get(claim.chapter)
    if numbers and claim.measure in numbers.smoke:
        sight: Sight = "turned" if fate(finding, None, numbers.smoke) == "turned" else "same"
        current = record.is_current(claim.chapter, numbers.same[-1], today)
        yield Seen(TINY, CODE, "paper", sight, current=current)
    for outcome in record.of(claim.chapter, "fault"):
        fault = faults.get(outcome.variation)
        if fault is None:
            continue
        fates: Any = (what for what, rows in outcome.fates.items() if claim.id in rows)
        sight = next(fates, "same")
        if not outcome.fates:
            sight = fate(finding, record.without_fault(outcome), outcome.values)
        why = _kept(fault, claim.id, declared.get("kept", {}))
        if why and sight != "stops":
            # at toy sizes a verdict turns by noise alone, and means nothing
            sight = "broken" if sight == "turned" and outcome.profile != "smoke" else "true"
        current = record.is_current(claim.chapter, outcome.fingerprint, today)
        yield Seen(fault["says"], fault.get("kind", CODE), outcome.profile, sight, why, current)


def _kept(fault: Mapping[str, Any], row: str, reasons: Mapping[str, Mapping[str, Any]]) -> str:
    """Return why a wrong training leaves the statement of a row true; empty if it does not."""
    if fault.get("kind", CODE) == CODE:
        return ""
    if fault.get("symmetry"):
        return "An exact symmetry changes no law."
    for name, reason in reasons.items():
        if row in reason["rows"] and (reason.get("every") or name in fault.get("keeps", ())):
            return str(reason["why"]).strip()
    return ""


def fate(finding: Finding, base: Mapping[str, Any] | None, values: Mapping[str, Any]) -> Fate:
    """Return what a fault makes of a row: turned, improved, stops or same.

    A row has turned when its verdict is worse than without the fault; one that holds partly also
    when it holds in fewer seeds or settings. A contradicted row with a better verdict has improved,
    which is no sign that it would notice a wrong implementation.
    """
    before = finding.measured if base is None else finding.again(base)
    after, expectation = finding.again(values), finding.claim.expectation
    if before is None or after is None or expectation is None:
        return "stops"
    was, now = expectation.verdict(before), expectation.verdict(after)
    if RANK[now] > RANK[was]:
        return "turned"
    if was == "contradicted" and now != was:
        return "improved"
    worse = expectation.share(after) < expectation.share(before)
    return "turned" if was == now == "partly" and worse else "same"


def lowered(
    findings: Sequence[Finding], standings: Mapping[str, Standing], *, required: bool
) -> list[Finding]:
    """Return the findings; what is reproduced is partly where its evidence does not say so too.

    Without `required`, for a book that declares no variations, nothing is asked for.
    """
    after = []
    for finding in findings:
        standing = standings.get(finding.claim.id)
        lacks = standing is not None and standing.lacks and required
        if finding.verdict == "reproduced" and standing and (lacks or standing.flips):
            finding = replace(finding, verdict="partly", unconfirmed=lacks)
        after.append(finding)
    return after
