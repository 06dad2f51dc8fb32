"""What planted faults make of each row, as the record of evidence has it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from bookbuild.reporting.expectations import Expectation, Measured
from bookbuild.reporting.measures import read_measures

from .claims import Finding, Verdict
from .outcomes import Outcome, Record

Sight = Literal["kills", "green", "better", "true", "broken", "stops"]
Fate = Literal["turned", "improved", "stops", "same"]
RANK = {"reproduced": 0, "partly": 1, "contradicted": 2}
CODE = "code"  # the kind of a fault that is in no training
TINY = "all sizes are those of the smoke profile"


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

    @property
    def is_training(self) -> bool:
        """Whether a training was wrong, and at sizes at which verdicts mean something."""
        return self.kind != CODE and self.profile != "smoke"


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


def faults_seen(
    finding: Finding, record: Record, declared: Declared, today: str | None
) -> Iterator[Seen]:
    """Yield each planted fault of the chapter of a row, and what the row makes of it."""
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


def fate(finding: Finding, base: Mapping[str, Any] | None, values: Mapping[str, Any]) -> Fate:
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
