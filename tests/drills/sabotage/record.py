"""The stored result of the drill, data/sabotage.json: what was tried, and what stayed green."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bookbuild.ledger.claims import Claim

from .fault import ROOT
from .verdicts import green

FILE = ROOT / "data" / "sabotage.json"


def read(file: Path = FILE) -> dict[str, Any]:
    """The result as it is stored; an empty one where there is none."""
    if not file.is_file():
        return {"chapters": {}, "argued": {}, "green": {}, "untried": []}
    return json.loads(file.read_text(encoding="utf-8"))


def write(chapter: str, found: Mapping[str, Any], file: Path = FILE) -> None:
    """Put what was found of an edition of a chapter in the place of what was known.

    What was found at tiny sizes leaves a trial of the same edition in the paper profile as it is.
    """
    result = read(file)
    known = result["chapters"].get(chapter, {})
    if (known.get("edition"), known.get("profile"), found["profile"]) != (
        found["edition"], "paper", "smoke",
    ):  # fmt: skip
        result["chapters"][chapter] = found
    _store(result, file)


def settle(
    claims: Sequence[Claim], argued: Mapping[str, str], file: Path = FILE
) -> dict[str, list[str]]:
    """Bring the result up to date with the ledger; return the unargued green rows by chapter.

    Rows that the ledger no longer has are dropped. Rows of a chapter that was tried before they
    were there, and chapters never tried, are listed by name.
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
    tried = {row for chapter in result["chapters"].values() for row in chapter["rows"]}
    silent = {row for chapter in result["chapters"].values() for row in green(chapter["rows"])}
    result["argued"] = {row: argued[row] for row in argued if row in silent}
    result["green"] = {
        name: left
        for name, chapter in result["chapters"].items()
        if (left := [row for row in green(chapter["rows"]) if row not in argued])
    }
    result["untried"] = [row for row in judged if row not in tried]
    _store(result, file)
    return result["green"]


def lines(file: Path = FILE) -> list[str]:
    """The result in words."""
    result = read(file)
    told = []
    for name, chapter in result["chapters"].items():
        stayed = green(chapter["rows"])
        told.append(
            f"{name}, {chapter['profile']}: {len(chapter['faults'])} faults, "
            f"{len(chapter['rows'])} rows, {len(chapter['rows']) - len(stayed)} turned"
        )
        for row in stayed:
            found = chapter["rows"][row]
            said = ", ".join(
                f"{what} by {len(found[what])}"
                for what in ("not reached", "moved")
                if what in found
            )
            reason = f": {result['argued'][row]}" if row in result["argued"] else ""
            told.append(f"  stays green: {row} ({said or 'never moved'}){reason}")
    told.append(f"{len(result['untried'])} rows untried")
    return told


def _store(result: Mapping[str, Any], file: Path) -> None:
    file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
