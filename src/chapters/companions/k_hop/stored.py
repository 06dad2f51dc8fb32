"""The stored cells of the phase diagram, data/companions/k_hop.json."""

from typing import Any

import numpy as np

from running.records import StoredRuns

from . import phases
from .phases import Cell, Measured


def run(cell: Cell) -> dict[str, Any]:
    """What is stored of a cell: right answers by run, time and hops."""
    found = phases.measure(cell)
    return {"moments": found.moments.tolist(), "right": found.right.tolist()}


RUNS = StoredRuns(run, phases.CELLS)


def read(text: str) -> dict[Cell, Measured]:
    """The cells of a file. Raises ValueError for one of other runs."""
    return {
        cell: Measured(cell, np.array(kept["moments"]), np.array(kept["right"]))
        for cell, kept in RUNS.read(text).items()
    }
