"""The stored grid: written cell by cell, read by the chapter."""

import json
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from .cells import SHARES, Cell, described, run
from .grid import GRID

COMMAND = "PYTHONPATH=src python data/token_grid.py"


def complete(path: Path, seconds: float | None = None, grid: Sequence[Cell] = GRID) -> None:
    """Run the cells that a file lacks, in order, and write it after each.

    Args:
        path: of the file, which need not exist.
        seconds: of this process's time, after which no further cell is begun; None for
            no end.
        grid: cells.
    """
    torch.set_num_threads(1)
    cells = read(path) if path.exists() else []
    wanted = [described(cell) for cell in grid]
    cells = [found for found in cells if found["cell"] in wanted]
    for cell in grid:
        if any(found["cell"] == described(cell) for found in cells):
            continue
        start = time.process_time()
        if seconds is not None and start > seconds:
            break
        rows = run(cell, torch.device("cpu"))
        took = round(time.process_time() - start, 1)
        cells.append({"cell": described(cell), "seconds": took, "runs": rows})
        _write(path, cells)


def read(path: Path) -> list[dict[str, Any]]:
    """The cells of a stored grid: `cell`, its settings; `seconds`; `runs`, a row each."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def _write(path: Path, cells: list[dict[str, Any]]) -> None:
    made = {
        "command": COMMAND,
        "shares": list(SHARES),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
    }
    head = json.dumps(made, indent=1)[:-2]
    lines = ",\n".join(json.dumps(cell) for cell in cells)
    part = path.with_suffix(".part")
    part.write_text(f'{head},\n "cells": [\n{lines}\n]}}\n', encoding="utf-8")
    part.replace(path)
