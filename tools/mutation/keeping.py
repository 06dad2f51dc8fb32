"""Which statements a wrong training leaves true: kept.yml, with a reason for each group of rows.

A fault of the catalogue names its reasons under `keeps`. Each was derived before the fault was
tried: a row that turns although its statement should have stayed true is a contradiction, and the
drill fails.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from bookbuild.ledger.trainings.reach import contradicted

from .fault import Fault

REASONS = Path(__file__).parent / "kept.yml"


class Reason(NamedTuple):
    """Why a statement stays true, the rows of the ledger that make it, and of which faults."""

    why: str
    rows: tuple[str, ...]
    every: bool = False  # whether it holds for all wrong trainings


def read_reasons(file: Path = REASONS) -> dict[str, Reason]:
    """The reasons by name. Raises TypeError for a malformed one."""
    document = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    return {
        name: Reason(**given | {"why": given["why"].strip(), "rows": tuple(given["rows"])})
        for name, given in document.items()
    }


def kept_rows(
    faults: Iterable[Fault], reasons: Mapping[str, Reason], rows: Iterable[str]
) -> dict[str, dict[str, str]]:
    """For each wrong training the rows whose statement it leaves true, each with its reason's name.

    Raises ValueError for a reason that there is not, for a row that the ledger does not have, and
    for a fault that is no training and keeps something.
    """
    known = set(rows)
    amiss = [
        f"{name} in {REASONS.name} names {row}, which the ledger does not have"
        for name, reason in reasons.items()
        for row in reason.rows
        if row not in known
    ]
    always = [name for name, reason in reasons.items() if reason.every]
    found: dict[str, dict[str, str]] = {}
    for fault in faults:
        amiss += [
            f"{fault.name} keeps {name}, which {REASONS.name} does not have"
            for name in fault.keeps
            if name not in reasons
        ]
        if fault.kind == "code":
            amiss += [f"{fault.name} is no training and keeps {name}" for name in fault.keeps]
        elif not amiss:
            found[fault.name] = {
                row: name for name in (*always, *fault.keeps) for row in reasons[name].rows
            }
    if amiss:
        raise ValueError("; ".join(amiss))
    return found


def contradictions(record: Mapping[str, Any]) -> list[str]:
    """A sentence for each row of the record that turns although its statement stays true."""
    return [
        f"{fault} leaves {row} true ({why}) and turns it in {name}."
        for name, chapter in record["chapters"].items()
        for row, found in chapter["rows"].items()
        for fault, why in contradicted(chapter["faults"], found).items()
    ]
