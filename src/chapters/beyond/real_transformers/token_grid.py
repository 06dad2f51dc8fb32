"""A grid of trainings of the transformer of §2, stored in data/token_grid.json.

The grid of trainings of the transformer of §2: which cells there are, and what one records.

The stored grid, data/token_grid.json, and its tables of times to emergence.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from emergence.experiments.first_passage import knows_labels_only
from emergence.running.records import StoredRuns
from emergence.training import Optimiser, TokenTraining

from .side_by_side import train_side_by_side

Arm = Literal["proportional", "fixed", "batch", "narrow", "slower"]
SHARES = (0.9, 0.75, 0.5)  # of ln N: the head appears at the first and has formed at the last
FIRST_SEED = 0  # of the cells that take less than two minutes
EMBEDDING_NORM = 4.0  # at every width; with half of it, 4 and 8 pairs at D = 64 emerge later


@dataclass(frozen=True)
class Cell:
    """Runs of one size: every rate with every seed, trained until they emerge or to the limit."""

    # what the cell is part of: V = 4N, V fixed, batches varied, D below 64, or rates below AdamW's
    # middle one where pairs are many
    arm: Arm
    n_pairs: int  # pairs N
    vocabulary: int  # words V
    optimiser: Optimiser  # `adamw` or `sgd`
    rates: tuple[float, ...]  # learning rates
    limit: int  # updates after which a run counts as not emerged
    seeds: tuple[int, ...] = (0, 1, 2)  # of start and data
    dim: int = 64  # width D
    batch_size: int = 32  # sequences B a step

    def training(self) -> TokenTraining:
        """The settings that all runs of the cell share; the block just holds the context."""
        return TokenTraining(
            self.dim,
            self.vocabulary,
            2 * self.n_pairs + 1,
            self.n_pairs,
            self.batch_size,
            self.limit,
            embedding_scale=EMBEDDING_NORM / self.dim**0.5,
            optimiser=self.optimiser,
        )


def run(cell: Cell) -> list[dict[str, Any]]:
    """Train a cell and return one row per run, in the order of rates and, within one, of seeds."""
    pairs = [(rate, seed) for rate in cell.rates for seed in cell.seeds]
    level = knows_labels_only(cell.n_pairs)
    record = train_side_by_side(
        cell.training(),
        [seed for _, seed in pairs],
        [rate for rate, _ in pairs],
        levels=[share * level for share in SHARES],
        device=torch.device("cpu"),
        label=f"{cell.arm}: {cell.optimiser}, N = {cell.n_pairs}, V = {cell.vocabulary}",
    )
    return [
        {
            "rate": rate,
            "seed": seed,
            "steps": [round(float(t), 2) if np.isfinite(t) else None for t in record.steps[i]],
            "loss": round(float(record.loss[i]) / level, 4)
            if np.isfinite(record.loss[i])
            else None,
            "accuracy": round(float(record.accuracy[i]), 4),
            "taken": int(record.taken[i]),
        }
        for i, (rate, seed) in enumerate(pairs)
    ]


def stored_settings(cell: Cell) -> dict[str, Any]:
    return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(cell).items()}


PER_PAIR = 4  # words a pair where the vocabulary grows with N: half of them are in the context
FIXED = 64  # words of the fixed vocabulary: the two arms meet at N = 16
WIDE = 256  # and of another, where half of the words are in the context at N = 64
ADAMW, SGD = (1.5e-3, 3e-3, 6e-3), (0.125, 0.25, 0.5)
MIDDLE, MIDDLE_SGD = 3e-3, 0.25  # rates where another setting varies
SLOWER = MIDDLE / 4, MIDDLE / 2


def proportional(
    n_pairs: int, *, every_rate: bool = False, limits: tuple[int, int] = (400, 600)
) -> tuple[Cell, Cell]:
    """AdamW and SGD at V = 4N, at the middle rate or at three.

    The limits are in steps a pair. Times to emergence grow about as the square of N, so that many
    pairs need larger limits.
    """
    words = PER_PAIR * n_pairs
    adamw, sgd = (ADAMW, SGD) if every_rate else ((MIDDLE,), (MIDDLE_SGD,))
    return (
        Cell("proportional", n_pairs, words, "adamw", adamw, limits[0] * n_pairs),
        Cell("proportional", n_pairs, words, "sgd", sgd, limits[1] * n_pairs),
    )


def narrow(n_pairs: int, dim: int, limit: int) -> Cell:
    """AdamW at V = 4N in a width below 64, at two rates.

    A step of Adam moves every weight by about the rate, and a score of D terms by up to D times as
    much. At the second rate this bound is the one of the middle rate at D = 64.
    """
    rates = (MIDDLE, MIDDLE * 64 / dim)
    return Cell("narrow", n_pairs, PER_PAIR * n_pairs, "adamw", rates, limit, dim=dim)


def slower(n_pairs: int, rates: tuple[float, ...], limit: int) -> Cell:
    """AdamW at V = 4N, at rates below the middle one."""
    return Cell("slower", n_pairs, PER_PAIR * n_pairs, "adamw", rates, limit)


SHORT = (
    *proportional(2, every_rate=True),
    *proportional(4, every_rate=True),
    *(
        Cell("batch", 4, 16, "adamw", (MIDDLE,), 3000, batch_size=size)
        for size in (8, 16, 64, 128, 256)
    ),
    *(Cell("batch", 4, 16, "sgd", (MIDDLE_SGD,), 3000, batch_size=size) for size in (16, 128)),
    *proportional(8, every_rate=True),
    *proportional(16),
    *(Cell("fixed", n, FIXED, "adamw", (MIDDLE,), 3000) for n in (8, 4)),
    *(Cell("fixed", n, FIXED, "sgd", (MIDDLE_SGD,), 6000) for n in (8, 4)),
    *(narrow(16, dim, 16_000) for dim in (8, 16, 32)),  # about 19 times as long as D = 64 takes
    *(narrow(n, 8, 16_000) for n in (4, 8)),
    *proportional(6),
    *proportional(3),
    Cell("fixed", 2, FIXED, "adamw", (MIDDLE,), 3000),
    *proportional(12),
)
GRID = (
    *(replace(cell, seeds=tuple(range(FIRST_SEED, FIRST_SEED + 3))) for cell in SHORT),
    # the longest of these take three quarters of an hour
    *proportional(32, limits=(400, 1280)),
    *proportional(64, limits=(1000, 2560)),
    narrow(4, 4, 40_000),
    narrow(8, 4, 80_000),
    narrow(32, 8, 120_000),
    *(Cell("fixed", n, WIDE, "adamw", (MIDDLE,), 30_000) for n in (8, 16, 32)),
    # Is it the rate that keeps AdamW from emerging with 64 pairs?
    slower(16, SLOWER, 20_000),
    slower(32, SLOWER, 40_000),
    *(slower(64, (rate,), 64_000) for rate in SLOWER),
)


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
