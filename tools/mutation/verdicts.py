"""What trials say of the rows of a chapter: which turned, which were not reached, which stayed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, judge

from .fault import Fault
from .trial import Trial, Wrong

RANK = {"reproduced": 0, "partly": 1, "contradicted": 2}
Fate = Literal["turned", "improved", "not reached", "moved", "same"]
FATES: tuple[Fate, ...] = get_args(Fate)[:-1]  # those that a record tells


def verdict(claim: Claim, trial: Trial) -> str | None:
    """The verdict on a row, or None where its measure is missing or of a kind that cannot be."""
    if claim.measure not in trial.measures:
        return None
    try:
        reported = {trial.chapter: {claim.measure: trial.measures[claim.measure]}}
        (finding,) = judge([claim], reported, judged=True)
    except BookError:
        return None
    return finding.verdict


def fate(claim: Claim, sound: Trial, faulty: Trial) -> Fate:
    """What a fault makes of a row.

    A row has turned when its verdict is worse than without the fault; one that holds partly also
    when it holds in fewer seeds or settings. A contradicted row has no worse verdict, so that
    nothing turns it: with a better one it has improved, which is no sign that it would notice a
    wrong implementation. A row has moved when its measure is another and its verdict is no worse.
    """
    before, after = verdict(claim, sound), verdict(claim, faulty)
    if before is None or after is None:
        return "not reached"
    if RANK[after] > RANK[before]:
        return "turned"
    if before == "contradicted" and after != before:
        return "improved"
    if before == after == "partly" and holding(claim, faulty) < holding(claim, sound):
        return "turned"
    values = (trial.measures[claim.measure]["value"] for trial in (sound, faulty))
    return "same" if len({repr(value) for value in values}) == 1 else "moved"


def holding(claim: Claim, trial: Trial) -> float:
    """In which part of the seeds or settings of a measure the expectation holds, from 0 to 1."""
    value = trial.measures[claim.measure]["value"]
    parts = value.values() if isinstance(value, Mapping) else value
    singles = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    alone = (
        replace(trial, measures={claim.measure: {"value": one, "over": None, "judged": True}})
        for one in singles
    )
    return sum(verdict(claim, one) == "reproduced" for one in alone) / len(singles)


def summary(claims: Iterable[Claim], sound: Trial, faulty: Mapping[Wrong, Trial]) -> dict[str, Any]:
    """The faults tried on a chapter, and for each of its rows what they made of it.

    The faults of a row begin with the sharpest, that is the one that turns fewest rows: a fault
    that turns all says little about each.
    """
    rows = [claim for claim in claims if claim.chapter == sound.chapter and claim.expectation]
    fates = {
        claim.id: {fault.name: fate(claim, sound, trial) for fault, trial in faulty.items()}
        for claim in rows
    }
    blunt = {
        fault.name: sum(found[fault.name] == "turned" for found in fates.values())
        for fault in faulty
    }
    found: dict[str, Any] = {}
    for claim in rows:
        found[claim.id] = {"verdict": verdict(claim, sound)}
        for name in FATES:
            by = sorted(
                (f for f, what in fates[claim.id].items() if what == name),
                key=lambda f: (blunt[f], f),
            )
            if by:
                found[claim.id][name] = by
    faults = {
        fault.name: {
            "says": fault.says,
            "turned": blunt[fault.name],
            "seconds": trial.seconds,
            **({"kind": fault.kind} if isinstance(fault, Fault) and fault.kind != "code" else {}),
            **({"symmetry": True} if isinstance(fault, Fault) and fault.symmetry else {}),
            **({"errors": [e["cause"] for e in trial.errors]} if trial.errors else {}),
        }
        for fault, trial in faulty.items()
    }
    return {"seconds": sound.seconds, "faults": faults, "rows": found}


def weaker(before: Mapping[str, Any], found: Mapping[str, Any]) -> Iterable[str]:
    """The rows whose verdict is worse at reduced sizes than what is known of the paper's.

    Where nothing was tried at the paper's sizes, rows have to be reproduced: a verdict at reduced
    sizes cannot vouch for itself.
    """
    rows = before["rows"] if _at_paper(before) else {}
    for name, row in found["rows"].items():
        known = rows.get(name, {}).get("verdict") or "reproduced"
        if row["verdict"] is None or RANK[row["verdict"]] > RANK[known]:
            yield name


def green(chapter: Mapping[str, Any]) -> list[str]:
    """The rows whose verdict no fault has changed, although one could.

    A row that is contradicted at the paper's sizes has no worse verdict. At tiny sizes alone that
    says nothing about it.
    """
    at_paper = _at_paper(chapter)
    return [
        name
        for name, row in chapter["rows"].items()
        if "turned" not in row and not (at_paper and row["verdict"] == "contradicted")
    ]


def _at_paper(chapter: Mapping[str, Any]) -> bool:
    """Whether anything was tried at the paper's sizes."""
    return any(fault.get("profile") == "paper" for fault in chapter["faults"].values())
