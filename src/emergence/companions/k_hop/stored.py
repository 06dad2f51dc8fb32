"""The stored cells of the phase diagram: read, and computed where they are missing.

`data/companions/k_hop.py` computes the cells that the record lacks, in the order
of `phases.CELLS`, and writes the record after each.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from emergence.running import records

from . import phases
from .phases import Cell, Measured

COMMAND = "python data/companions/k_hop.py"


def entry(measured: Measured) -> dict[str, Any]:
    """A cell as it is stored: its settings, and right answers by run, time and hops."""
    return {
        "cell": asdict(measured.cell),
        "moments": measured.moments.tolist(),
        "right": measured.right.tolist(),
    }


def read(text: str) -> dict[Cell, Measured]:
    """The cells of a record. Raises ValueError for one with other settings than a cell has."""
    found = {}
    for stored in json.loads(text)["cells"]:
        given: Mapping[str, Any] = stored["cell"]
        if set(given) != {field.name for field in fields(Cell)}:
            raise ValueError(f"a stored cell has the settings {sorted(given)}")
        cell = Cell(**{**given, "stages": tuple(tuple(stage) for stage in given["stages"])})
        found[cell] = Measured(cell, np.array(stored["moments"]), np.array(stored["right"]))
    return found


def written(found: Mapping[Cell, Measured]) -> str:
    """A record with its provenance, a line a cell."""
    entries = map(entry, found.values())
    return records.written(COMMAND, "cells", entries, seeds="0, 1, ... in each cell")


def complete(path: Path) -> None:
    """Compute and store the cells that are missing."""
    found = read(records.text(path, "cells"))
    for cell in records.missing(phases.CELLS, found):
        found[cell] = phases.measure(cell)
        waits = found[cell].waits
        print(f"{cell.n_layers} layers, {cell.n_heads} heads, {cell.stages}: {waits}", flush=True)
        records.write(path, written(found))
