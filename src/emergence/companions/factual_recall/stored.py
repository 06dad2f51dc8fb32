"""The stored trials of capacity: read, and run where they are missing.

`data/companions/factual_recall.py` runs those of `cells.CELLS` that the record lacks, in their
order, and writes the record after each.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch

from emergence.running import records

from . import cells
from .model import Shape
from .trials import Outcome, Trial, run

COMMAND = "python data/companions/factual_recall.py"


def entry(trial: Trial, outcome: Outcome) -> dict[str, Any]:
    """A trial as it is stored: its settings, and right answers of each rate."""
    return {"trial": asdict(trial), **outcome._asdict()}


def read(text: str) -> dict[Trial, Outcome]:
    """The trials of a record. Raises ValueError for one with other settings than a trial has."""
    found = {}
    for stored in json.loads(text)["trials"]:
        given: Mapping[str, Any] = stored["trial"]
        if set(given) != {field.name for field in fields(Trial)}:
            raise ValueError(f"a stored trial has the settings {sorted(given)}")
        changed = {"shape": Shape(**given["shape"]), "rates": tuple(given["rates"])}
        outcome = Outcome(tuple(stored["half"]), tuple(stored["right"]), stored["steps"])
        found[Trial(**{**given, **changed})] = outcome
    return found


def written(found: Mapping[Trial, Outcome]) -> str:
    """A record with its provenance, a line a trial."""
    return records.written(COMMAND, "trials", (entry(*pair) for pair in found.items()))


def complete(path: Path, seconds: float = math.inf) -> None:
    """Run and store the trials that are missing; begin none after so many seconds."""
    found = read(records.text(path, "trials"))
    for trial in records.missing(cells.CELLS, found, seconds=seconds):
        found[trial] = run(trial, torch.device("cpu"))
        print(f"{trial.shape}, {trial.size}: {found[trial]}", flush=True)
        records.write(path, written(found))
