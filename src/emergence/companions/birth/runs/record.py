"""The stored runs: read, and computed where they are missing.

`data/companions/birth.py` computes the runs that the record lacks, in the order of `cells.CELLS`,
and writes the record after each.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from emergence.running import records

from ..bigrams import Bigrams
from . import cells

COMMAND = "PYTHONPATH=src python data/companions/birth.py"


class Curves(NamedTuple):
    """Readings of the simplified transformer during training, as `RecallsAndFocus` takes them."""

    ov2: Float[np.ndarray, " probes"]
    kq2: Float[np.ndarray, " probes"]
    kq1: Float[np.ndarray, " probes"]
    kq1_early: Float[np.ndarray, " probes"]
    previous: Float[np.ndarray, " probes"]
    previous_top: Float[np.ndarray, " probes"]
    match: Float[np.ndarray, " probes"]
    match_top: Float[np.ndarray, " probes"]
    matched: Float[np.ndarray, " probes"]  # recall of W_KQ^2 by frequency


class Run(NamedTuple):
    """A stored run; the generic transformer has no readings."""

    name: str
    seed: int
    settings: dict[str, Any]
    loss: Float[np.ndarray, " steps"]
    accuracy: Float[np.ndarray, " steps"]
    tested: dict[str, float]  # as `cells.accuracies` gives it
    probed: Int[np.ndarray, " probes"]
    curves: Curves
    maps: dict[str, Float[np.ndarray, "M M"]]


def read(text: str) -> list[Run]:
    """The runs of a record; ValueError for one with other readings than are taken."""
    found = []
    for entry in json.loads(text)["runs"]:
        readings = np.array(entry.get("readings", np.zeros((len(Curves._fields), 0))), dtype=float)
        if len(readings) != len(Curves._fields):
            raise ValueError(
                f"a run has {len(readings)} readings a step, expected {len(Curves._fields)}"
            )
        found.append(
            Run(
                entry["name"],
                entry["seed"],
                entry["settings"],
                np.array(entry["loss"]),
                np.array(entry["accuracy"]),
                entry["tested"],
                np.array(entry.get("probed", []), dtype=int),
                Curves(*readings),
                {name: np.array(values) for name, values in entry.get("maps", {}).items()},
            )
        )
    return found


def written(entries: list[dict[str, Any]]) -> str:
    """A record with its provenance, a line a run."""
    return records.written(COMMAND, "runs", entries, device="cpu")


def complete(path: Path, bigrams: Bigrams) -> None:
    """Compute and store the runs that are missing."""
    entries = json.loads(records.text(path, "runs"))["runs"]
    known = {(entry["name"], entry["seed"]) for entry in entries}
    for cell in records.missing(cells.CELLS, known, key=lambda cell: (cell.name, cell.seed)):
        entries.append(cells.measure(cell, bigrams))
        print(cell.name, cell.seed, entries[-1]["tested"], flush=True)
        records.write(path, written(entries))
