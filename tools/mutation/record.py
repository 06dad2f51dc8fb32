"""The stored result of the drill, data/mutation.json: what was tried, and what stayed green."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bookbuild.ledger.carried import is_current
from bookbuild.ledger.claims import Claim
from bookbuild.ledger.stored import MUTATION, read_record
from bookbuild.ledger.trainings import reach

from .fault import ROOT
from .reduced import PROFILE
from .verdicts import FATES, green

FILE = ROOT / MUTATION
SIZES = ("smoke", PROFILE, "paper")  # the profiles of trials, from tiny sizes to the paper's


def read(file: Path = FILE) -> dict[str, Any]:
    """The result as it is stored; an empty one where there is none."""
    return read_record(file) or {"chapters": {}, "argued": {}, "green": {}, "untried": []}


def known(chapter: str, fingerprint: str, file: Path = FILE) -> dict[str, Any]:
    """What the record has of this fingerprint of a chapter."""
    found = read(file)["chapters"].get(chapter, {})
    if found and is_current(found, fingerprint):
        return dict(found)
    return {"fingerprint": fingerprint, "seconds": 0.0, "faults": {}, "rows": {}}


def joined(before: Mapping[str, Any], found: Mapping[str, Any], profile: str) -> dict[str, Any]:
    """What was known of a chapter, and what has now been found of it in a profile.

    A fault tried at smaller sizes gives way to the same fault at larger ones, and never the other
    way.
    """
    faults, size = dict(before["faults"]), SIZES.index(profile)
    known = {name: SIZES.index(fault["profile"]) for name, fault in faults.items()}
    largest = size >= max(known.values(), default=0)
    rows = {name: dict(row) for name, row in before["rows"].items()}
    fresh = {name for name in found["faults"] if size >= known.get(name, 0)}
    faults |= {name: found["faults"][name] | {"profile": profile} for name in fresh}
    for name, now in found["rows"].items():
        row = rows.setdefault(name, {"verdict": now["verdict"]})
        if largest:
            row["verdict"] = now["verdict"]
        for fate in FATES:
            those = (set(row.pop(fate, ())) - fresh) | (set(now.get(fate, ())) & fresh)
            if those:
                # the sharpest fault, which turns fewest rows, comes first
                row[fate] = sorted(those, key=lambda fault: (faults[fault]["turned"], fault))
    seconds = found["seconds"] if largest else before["seconds"]
    return {**before, "seconds": seconds, "faults": faults, "rows": rows}


def write(chapter: str, found: Mapping[str, Any], file: Path = FILE) -> None:
    """Put what was found of a chapter in the place of what was known."""
    result = read(file)
    result["chapters"][chapter] = found
    _store(result, file)


def settle(
    claims: Sequence[Claim],
    argued: Mapping[str, str],
    file: Path = FILE,
    *,
    kept: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    reasons: Mapping[str, str] = MappingProxyType({}),
    blind: Mapping[str, str] = MappingProxyType({}),
    reduced: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, list[str]]:
    """Bring the result up to date with the ledger; return the unargued green rows by chapter.

    Rows that the ledger no longer has are dropped. Rows of a chapter that was tried before they
    were there, and chapters never tried, are listed by name. `kept` has, for each wrong training,
    the rows whose statement it leaves true, with the names of their reasons; `blind` has why rows
    see too few of them; `reduced` what the smaller sizes of chapters are.
    """
    result = read(file)
    judged = {claim.id: claim.chapter for claim in claims if claim.expectation}
    for name, chapter in result["chapters"].items():
        chapter["rows"] = {
            row: found for row, found in chapter["rows"].items() if judged.get(row) == name
        }
    result["chapters"] = {
        name: result["chapters"][name]
        for name in dict.fromkeys(judged.values())
        if name in result["chapters"]
    }
    _keep(result["chapters"].values(), kept)
    result["kept"] = dict(reasons)
    result["blind"] = {row: why for row, why in blind.items() if row in judged}
    result["reduced"] = {
        name: says
        for name, says in reduced.items()
        if PROFILE in _profiles(result["chapters"].get(name, {"faults": {}}))
    }
    tried = {row for chapter in result["chapters"].values() for row in chapter["rows"]}
    silent = {row for chapter in result["chapters"].values() for row in green(chapter)}
    result["argued"] = {row: argued[row] for row in argued if row in silent}
    result["green"] = {
        name: left
        for name, chapter in result["chapters"].items()
        if (left := [row for row in green(chapter) if row not in argued])
    }
    result["untried"] = [row for row in judged if row not in tried]
    _store(result, file)
    return result["green"]


def lines(file: Path = FILE) -> list[str]:
    """The result in words."""
    result = read(file)
    told = []
    for name, chapter in result["chapters"].items():
        stayed = green(chapter)
        turned = sum("turned" in row for row in chapter["rows"].values())
        told.append(
            f"{name}: {len(chapter['faults'])} faults, {len(chapter['rows'])} rows, {turned} turned"
        )
        for row in stayed:
            found = chapter["rows"][row]
            said = ", ".join(f"{what} by {len(found[what])}" for what in FATES[1:] if what in found)
            reason = f": {result['argued'][row]}" if row in result["argued"] else ""
            told.append(f"  stays green: {row} ({said or 'never moved'}){reason}")
        told += [f"  {line}" for line in _reach(chapter)]
    told.append(f"{len(result['untried'])} rows untried")
    return told


def _reach(chapter: Mapping[str, Any]) -> Iterator[str]:
    """How many of the wrong trainings within its reach each row kills, tiny sizes aside."""
    for name, row in chapter["rows"].items():
        seen = list(reach.trained(chapter["faults"], row).values())
        killed, of = reach.kills(seen)
        if of and row["verdict"] != "contradicted":
            little = ": too few" if reach.sees_little(seen) else ""
            yield f"wrong trainings: {name} kills {killed} of {of}{little}"


def _keep(chapters: Iterable[dict[str, Any]], kept: Mapping[str, Mapping[str, str]]) -> None:
    """Note with each row the wrong trainings that leave its statement true, as they say today."""
    for chapter in chapters:
        for name, row in chapter["rows"].items():
            row.pop("kept", None)
            true = {f: kept[f][name] for f in chapter["faults"] if name in kept.get(f, ())}
            if true:
                row["kept"] = true


def _profiles(chapter: Mapping[str, Any]) -> set[str]:
    return {fault["profile"] for fault in chapter["faults"].values()}


def _store(result: Mapping[str, Any], file: Path) -> None:
    file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
