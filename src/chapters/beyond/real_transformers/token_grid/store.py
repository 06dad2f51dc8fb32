"""The stored grid, data/token_grid.json, as the chapter reads it."""

from pathlib import Path
from typing import Any

import torch

from running.records import StoredRuns

from . import cells
from .cells import Cell, described
from .grid import GRID

COMMAND = "make runs WHAT=token_grid"


def run(cell: Cell) -> list[dict[str, Any]]:
    """What is stored of a cell: a row a run."""
    return cells.run(cell, torch.device("cpu"))


RUNS = StoredRuns(run, GRID)


def read(path: Path) -> list[dict[str, Any]]:
    """The cells of a stored grid: `cell`, its settings; `seconds`, or 0; `runs`, a row each."""
    return [
        {
            "cell": described(entry.configuration),
            "seconds": entry.seconds or 0.0,
            "runs": entry.result,
        }
        for entry in RUNS.entries(path.read_text(encoding="utf-8"))
    ]
