"""The stored grid, data/token_grid.json, its tables of times to emergence, and competing laws."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from emergence import theory
from emergence.experiments.first_passage import knows_labels_only
from emergence.theory import cross_entropy, limits
from running.memo import kept
from running.records import StoredRuns

from . import cells
from .cells import GRID, Cell, described

COMMAND = "make record WHAT=runs RUNS=token_grid"


def run(cell: Cell) -> list[dict[str, Any]]:
    """The stored result of a cell: one row per run."""
    return cells.run(cell, torch.device("cpu"))


RUNS = StoredRuns(run, GRID)


def read(path: Path) -> list[dict[str, Any]]:
    """The cells of a stored grid: `cell`, its settings; `seconds`, or 0; `runs`, one row each."""
    return [
        {
            "cell": described(entry.configuration),
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
        kept = np.flatnonzero(np.isfinite(self.times).all(axis=1))
        return Waits(self.values[kept], self.times[kept], [self.cells[i] for i in kept])


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
    found: dict[float, tuple[list[float], Stored]] = {}
    for entry in stored:
        cell = entry["cell"]
        if not which(cell) or rate not in cell["rates"]:
            continue
        if cell[by] in found:
            raise ValueError(f"{by} = {cell[by]} is stored twice")
        runs = [run["steps"][level] for run in entry["runs"] if run["rate"] == rate]
        found[cell[by]] = ([np.inf if t is None else t for t in runs], cell)
    if not found:
        raise ValueError(f"nothing is stored at the rate {rate}")
    values = sorted(found)
    return Waits(
        np.array(values, dtype=float),
        np.array([found[v][0] for v in values]),
        [found[v][1] for v in values],
    )


def not_run(stored: Iterable[Stored], grid: Iterable[Cell]) -> list[Cell]:
    """The cells of a grid that are not stored, which the command would run."""
    done = [entry["cell"] for entry in stored]
    return [cell for cell in grid if described(cell) not in done]


Shape = Float[np.ndarray, " sizes"]


def shapes(sizes: Sequence[int], words: Sequence[int], dim: int) -> dict[str, Shape | None]:
    """The time to emergence by each law, up to one factor, for numbers of pairs N >= 2.

    `words` is the vocabulary at each size, and one of the laws knows the width D. The power with a
    free exponent has no shape, hence None.
    """
    n = np.asarray(sizes, dtype=float)
    return {
        "N^2": n**2,
        "N^2/log N": n**2 / np.log(n),
        "three scalars": np.array([_collapse(k, "reduced") for k in sizes]),
        "nineteen": np.array([_collapse(k, "full") for k in sizes]),
        "three-halves": np.array([theory.crossover_time(k, dim, limits.gauss(1.0)) for k in n]),
        "cross-entropy": np.array(
            [under_cross_entropy(k, v) for k, v in zip(sizes, words, strict=True)]
        ),
        "1/sqrt(N)": n**-0.5,
        "free power": None,
    }


@cache
def _collapse(n_pairs: int, model: theory.Model) -> float:
    """The flow time at which the loss of a flow with uniform queries has halved."""
    return theory.emergence_times(n_pairs, query="uniform", model=model).collapse


@cache
@kept
def under_cross_entropy(n_pairs: int, vocabulary: int) -> float:
    """The flow time of the three scalars with cross-entropy and uniform queries to half of ln N."""
    landscape = cross_entropy.landscape(n_pairs, vocabulary, "uniform", say_items=True)
    level = knows_labels_only(n_pairs) / 2
    return theory.times_in(landscape, end=1e6, low_loss=level).collapse
