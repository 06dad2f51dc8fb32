"""The stored runs, data/companions/birth.json; about an hour on one core."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from running.cache import plain
from running.records import StoredRuns

from .. import bigrams
from . import cells

RUNS = StoredRuns(
    cells.measure, cells.CELLS, tables={"bigrams": ("data/shakespeare_bigrams.csv", bigrams.read)}
)


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
    """The runs of a file; ValueError for other runs, and for other readings than are taken."""
    n_readings, found = len(Curves._fields), []
    for cell, entry in RUNS.read(text).items():
        readings = np.array(entry.get("readings", np.zeros((n_readings, 0))), dtype=float)
        if len(readings) != n_readings:
            raise ValueError(f"a run has {len(readings)} readings a step, expected {n_readings}")
        settings = {name: value for name, value in plain(cell.settings).items() if name}
        maps = {name: np.array(values) for name, values in entry.get("maps", {}).items()}
        found.append(
            Run(
                cell.name,
                cell.seed,
                settings,
                np.array(entry["loss"]),
                np.array(entry["accuracy"]),
                entry["tested"],
                np.array(entry.get("probed", []), dtype=int),
                Curves(*readings),
                maps,
            )
        )
    return found
