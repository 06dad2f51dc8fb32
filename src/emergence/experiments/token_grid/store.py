"""The stored grid: written cell by cell, read by the chapter."""

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from emergence.running import records

from .cells import SHARES, Cell, described, run
from .grid import GRID

COMMAND = "PYTHONPATH=src python data/token_grid.py"


def complete(path: Path, seconds: float = math.inf, grid: Sequence[Cell] = GRID) -> None:
    """Run the cells that a file lacks, in order, and write it after each.

    Args:
        path: of the file, which need not exist.
        seconds: after which no further cell is begun.
        grid: cells.
    """
    wanted = [described(cell) for cell in grid]
    stored = json.loads(records.text(path, "cells"))["cells"]
    cells = [found for found in stored if found["cell"] in wanted]
    known = [found["cell"] for found in cells]
    for cell in records.missing(grid, known, key=described, seconds=seconds):
        start = time.process_time()
        rows = run(cell, torch.device("cpu"))
        took = round(time.process_time() - start, 1)
        cells.append({"cell": described(cell), "seconds": took, "runs": rows})
        records.write(path, records.written(COMMAND, "cells", cells, shares=list(SHARES)))


def read(path: Path) -> list[dict[str, Any]]:
    """The cells of a stored grid: `cell`, its settings; `seconds`; `runs`, a row each."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found
