"""What the record of evidence says of each row, and how far it lowers a verdict.

A row that has not been measured at all the declared seeds and under a declared rounding, with the
code of today or with code that makes the same numbers, counts as if it had failed there. So a line
that is deleted lowers a verdict and never raises one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from bookbuild.reporting.expectations import Expectation, Measured
from bookbuild.reporting.measures import read_measures

from .claims import Finding, Verdict
from .outcomes import Kind, Outcome, Record

State = Literal["steady", "flips", "earlier", "missing"]
Alertness = Literal["turned", "contradicted", "green", "untried"]
Sight = Literal["kills", "green", "better", "true", "broken", "stops"]
RANK = {"reproduced": 0, "partly": 1, "contradicted": 2}
CODE = "code"  # the kind of a fault that is in no training
TINY = "all sizes are those of the smoke profile"


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


class Seen(NamedTuple):
    """A planted fault as a row sees it.

    Attributes:
        says: what is wrong.
        kind: `code`, or of a wrong training what is wrong: network, task, loss or gradient.
        profile: at which sizes it was tried.
        sight: `kills`, `green` or `better`; `true` if the statement stays true and the row green,
            `broken` if the row turns all the same; `stops` if the row has no verdict.
        why: why the statement stays true.
        current: whether the chapter's code is still the one that was tried.
    """

    says: str
    kind: str
    profile: str
    sight: Sight
    why: str = ""
    current: bool = True


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
        return min(turning, key=lambda one: (not one.current, one.profile == "smoke"))

    @property
    def flips(self) -> bool:
        """Whether a variation turned the verdict."""
        return "flips" in (self.seeds.state, self.rounding.state, self.others.state)

    @property
    def lacks(self) -> bool:
        """Whether it was not measured again as it has to be."""
        needed = {self.seeds.state, self.rounding.state}
        return not self.flips and not needed <= {"steady"}

    @property
    def words(self) -> dict[str, str]:
        """Each kind in one word, by its name in queries of the verdict page."""
        return {
            "seeds": self.seeds.state,
            "rounding": self.rounding.state,
            "faults": self.alertness,
        }


@dataclass(frozen=True)
class Declared:
    """What a book declares: variations that are required, and the faults in words."""

    seeds: tuple[str, ...] = ()
    roundings: tuple[str, ...] = ()  # of which one is enough
    faults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reasons: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Declared":
        """Return what `evidence/variations.yml` declares."""
        return cls(
            tuple(f"seed {seed}" for seed in document.get("seeds", ())),
            tuple(f"rounding {name}" for name in document.get("roundings", {})),
            {one["fault"]: one for one in document.get("faults", ())},
            document.get("kept", {}),
        )

    def kept(self, fault: Mapping[str, Any], row: str) -> str:
        """Return why a wrong training leaves the statement of a row true; empty if it does not."""
        if fault.get("kind", CODE) == CODE:
            return ""
        if fault.get("symmetry"):
            return "An exact symmetry changes no law."
        for name, reason in self.reasons.items():
            if row in reason["rows"] and (reason.get("every") or name in fault.get("keeps", ())):
                return str(reason["why"]).strip()
        return ""


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
        tuple(_faults(finding, record, declared, today)),
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


def verdict_on(finding: Finding, values: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict of a row on other values; None where they do not fit its expectation."""
    claim, measured = finding.claim, finding.measured
    if claim.expectation is None or measured is None or claim.measure not in values:
        return None
    other = _measured(values[claim.measure], measured)
    return None if claim.expectation.misfit(other) else claim.expectation.verdict(other)


def _measured(value: Any, like: Measured) -> Measured:
    """Return a stored value, in which infinity is a text, as it was measured."""
    ((_, plain),) = read_measures(json.dumps({"value": {"value": value}})).items()
    return Measured(plain["value"], like.over)


def _faults(
    finding: Finding, record: Record, declared: Declared, today: str | None
) -> Iterable[Seen]:
    claim = finding.claim
    known = record.numbers.get(claim.chapter)
    if known and claim.measure in known.smoke:
        tiny = fate(finding, None, known.smoke)
        yield Seen(TINY, CODE, "paper", "kills" if tiny == "turned" else "green",
                   current=record.is_current(claim.chapter, known.same[-1], today))  # fmt: skip
    for one in record.of(claim.chapter, "fault"):
        fault = declared.faults.get(one.variation)
        if fault is None:
            continue
        if one.fates:
            found = next((what for what, rows in one.fates.items() if claim.id in rows), "same")
        else:
            found = fate(finding, _base(record, one), one.values)
        why = declared.kept(fault, claim.id)
        yield Seen(fault["says"], fault.get("kind", CODE), one.profile, _sight(found, why, one),
                   why, record.is_current(claim.chapter, one.fingerprint, today))  # fmt: skip


def _base(record: Record, outcome: Outcome) -> Mapping[str, Any] | None:
    """Return what the chapter measures without the fault, at its sizes; None for this build."""
    if outcome.profile == "smoke":
        known = record.numbers.get(outcome.chapter)
        return known.smoke if known else {}
    if outcome.profile == "reduced":
        base = record.outcomes.get((outcome.chapter, "reduced sizes"))
        return base.values if base else {}
    return None


def fate(finding: Finding, base: Mapping[str, Any] | None, values: Mapping[str, Any]) -> str:
    """Return what a fault makes of a row: turned, improved, stops or same.

    A row has turned when its verdict is worse than without the fault; one that holds partly also
    when it holds in fewer seeds or settings. A contradicted row with a better verdict has improved,
    which is no sign that it would notice a wrong implementation.
    """
    claim, own = finding.claim, finding.measured
    assert claim.expectation is not None
    assert own is not None
    if claim.measure not in values or (base is not None and claim.measure not in base):
        return "stops"
    before = own if base is None else _measured(base[claim.measure], own)
    after = _measured(values[claim.measure], own)
    if claim.expectation.misfit(before) or claim.expectation.misfit(after):
        return "stops"
    was, now = claim.expectation.verdict(before), claim.expectation.verdict(after)
    if RANK[now] > RANK[was]:
        return "turned"
    if was == "contradicted" and now != was:
        return "improved"
    worse = _share(claim.expectation, after) < _share(claim.expectation, before)
    return "turned" if was == now == "partly" and worse else "same"


def _share(expectation: Expectation, measured: Measured) -> float:
    """Return in which part of the seeds or settings an expectation holds, from 0 to 1."""
    kept = [expectation.verdict(Measured(atom, None)) == "reproduced" for atom in measured.atoms]
    return sum(kept) / len(kept)


def _sight(found: str, why: str, outcome: Outcome) -> Sight:
    if found == "stops":
        return "stops"
    if why:
        # at toy sizes a verdict turns by noise alone, and means nothing
        return "broken" if found == "turned" and outcome.profile != "smoke" else "true"
    return {"turned": "kills", "improved": "better"}.get(found, "green")  # type: ignore[return-value]
