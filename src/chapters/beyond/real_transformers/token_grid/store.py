"""The stored grid, data/token_grid.json, and its tables of times to emergence."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.running.records import StoredRuns

from .cells import GRID, Cell, run, stored_settings

COMMAND = "make record WHAT=runs RUNS=token_grid"


RUNS = StoredRuns(run, GRID)


def read(path: Path) -> list[dict[str, Any]]:
    """The cells of a stored grid: `cell`, its settings; `seconds`, or 0; `runs`, one row each."""
    return [
        {
            "cell": stored_settings(entry.configuration),
            "seconds": entry.seconds or 0.0,
            "runs": entry.result,
        }
        for entry in RUNS.entries(path.read_text(encoding="utf-8"))
    ]


Stored = dict[str, Any]


class Waits(NamedTuple):
    """Steps to a level of the loss."""

    values: Float[np.ndarray, " values"]  # of the setting that varies, rising
    times: Float[np.ndarray, "values seeds"]  # inf for a run that did not get there
    cells: list[Stored]  # what is stored of each value's settings

    def emerged(self) -> "Waits":
        """The values at which every run emerged; the others are censored."""
        complete = np.flatnonzero(np.isfinite(self.times).all(axis=1))
        return Waits(self.values[complete], self.times[complete], [self.cells[i] for i in complete])


def waits(
    stored: Iterable[Stored],
    rate: float,
    which: Callable[[Stored], bool],
    *,
    by: str = "n_pairs",
    level: int = 0,
) -> Waits:
    """The times to emergence at one learning rate, sorted by the setting `by` that varies.

    `stored` are cells as from `token_grid.read`, `which` says from the settings of a cell whether
    it counts, whatever arm it was run for, and `level` is an index of `SHARES` of ln N. Raises
    ValueError when nothing is stored, or two cells have the same value.
    """
    by_value: dict[float, tuple[list[float], Stored]] = {}
    for entry in stored:
        cell = entry["cell"]
        if not which(cell) or rate not in cell["rates"]:
            continue
        if cell[by] in by_value:
            raise ValueError(f"{by} = {cell[by]} is stored twice")
        runs = [run["steps"][level] for run in entry["runs"] if run["rate"] == rate]
        by_value[cell[by]] = ([np.inf if t is None else t for t in runs], cell)
    if not by_value:
        raise ValueError(f"nothing is stored at the rate {rate}")
    values = sorted(by_value)
    return Waits(
        np.array(values, dtype=float),
        np.array([by_value[v][0] for v in values]),
        [by_value[v][1] for v in values],
    )


def not_run(stored: Iterable[Stored], grid: Iterable[Cell]) -> list[Cell]:
    """The cells of a grid that are not stored, which the command would run."""
    done = [entry["cell"] for entry in stored]
    return [cell for cell in grid if stored_settings(cell) not in done]
