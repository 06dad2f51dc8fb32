"""Trainings with a loss at every position, stored in data/every_position.json, and their cells."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from emergence import theory
from emergence.experiments.first_passage import knows_labels_only
from emergence.running.memo import kept
from emergence.running.records import StoredRuns
from emergence.tasks import Query
from emergence.theory import Landscape
from emergence.training import Data, Kind, Optimiser, TokenTraining

from .training import FLOW_STEP, AskedWeights, train_asked_tokens, train_asked_weights

SEEDS = (0, 1, 2, 3, 4)
FIRST_SEED = 0  # of the cells with at most 16 pairs; with more, many take minutes
SHARES = (0.9, 0.75, 0.5)  # of ln N: the head appears at the first and has formed at the last
ADAMW, SGD = 3e-3, 0.25  # the middle rates of the grid in chapter Real transformers
PER_PAIR, DIM, EMBEDDING_NORM = 4, 64, 4.0  # as in that grid


@dataclass(frozen=True)
class WeightsCell:
    """All 28 D^2 weights with D = 2N from zero, one run per seed."""

    kind: Kind  # what is asked, as in `training.draw_queries`
    n_pairs: int  # pairs N
    data: Data  # `gaussian`, at learning rate 1, or `orthonormal`
    batch_size: int  # contexts a step
    steps: int  # updates of a run
    seeds: tuple[int, ...] = SEEDS  # of the data

    def training(self) -> AskedWeights:
        """The settings of all runs of the cell."""
        return AskedWeights(self.kind, self.n_pairs, self.batch_size, self.steps, self.data)


@dataclass(frozen=True)
class TokensCell:
    """The transformer of §2, one run per seed, until its loss on whole contexts is half of ln N."""

    kind: Kind  # what is asked, as in `training.draw_queries`
    n_pairs: int  # pairs N
    optimiser: Optimiser  # `adamw` or `sgd`
    limit: int  # updates after which a run counts as not emerged
    batch_size: int = 32  # contexts a step
    seeds: tuple[int, ...] = SEEDS  # of start and data

    def training(self) -> TokenTraining:
        """The settings of all runs of the cell; the block just holds the context."""
        return TokenTraining(
            DIM,
            PER_PAIR * self.n_pairs,
            2 * self.n_pairs + 1,
            self.n_pairs,
            self.batch_size,
            self.limit,
            ADAMW if self.optimiser == "adamw" else SGD,
            embedding_scale=EMBEDDING_NORM / DIM**0.5,
            optimiser=self.optimiser,
        )


def run(cell: WeightsCell | TokensCell) -> list[dict[str, Any]]:
    """The stored result of a cell: one row per seed, with the steps at which levels are passed."""
    trained = _weights_run if isinstance(cell, WeightsCell) else _tokens_run
    return [{"seed": seed} | trained(cell, seed) for seed in cell.seeds]  # type: ignore[arg-type]


def crossed(
    times: Float[np.ndarray, " times"], curve: Float[np.ndarray, " times"], level: float
) -> float | None:
    """When a curve first rises to a level, on a line between two points; None for never."""
    reached = curve >= level
    if not reached.any():
        return None
    after = int(reached.argmax())
    if after == 0:
        return float(times[0])
    low, high = curve[after - 1], curve[after]
    part = (level - low) / (high - low)
    return round(float(times[after - 1] + part * (times[after] - times[after - 1])), 3)


def _weights_run(cell: WeightsCell, seed: int) -> dict[str, Any]:
    label = f"{cell.kind}: {cell.data}, N = {cell.n_pairs}"
    rows = train_asked_weights(cell.training(), seed, device=torch.device("cpu"), label=label)
    times = np.arange(len(rows), dtype=float)
    alpha, beta, gamma, loss = rows.T
    if cell.data == "orthonormal":
        loss = 2 * cell.n_pairs * loss  # summed over dimensions
    curves = {"alpha": alpha, "beta": beta, "gamma": gamma, "loss": -loss}
    return {n: crossed(times, c, -0.5 if n == "loss" else 0.5) for n, c in curves.items()}


def _tokens_run(cell: TokensCell, seed: int) -> dict[str, Any]:
    label = f"{cell.kind}: {cell.optimiser}, N = {cell.n_pairs}, B = {cell.batch_size}"
    whole = knows_labels_only(cell.n_pairs)
    times, losses = train_asked_tokens(
        cell.training(), cell.kind, seed,
        level=SHARES[-1] * whole, device=torch.device("cpu"), label=label,
    )  # fmt: skip
    return {"steps": [crossed(times, -losses, -share * whole) for share in SHARES]}


# Batch size and steps by N. A step costs as N^3 a context, so that the largest N has few contexts a
# step, and its run ends once alpha has passed its level.
GAUSSIAN = {16: (32, 60), 32: (32, 100), 64: (16, 170), 128: (16, 220), 256: (4, 200)}
ORTHONORMAL: tuple[tuple[Kind, int, int, int], ...] = (  # N, batch size, steps
    ("last", 16, 32, 450),
    ("last", 32, 16, 850),
    ("every", 16, 32, 300),
    ("every", 32, 16, 520),
    # the same with four times the batch, and so a quarter of the noise
    ("every", 32, 64, 520),
    ("last", 32, 64, 850),
)
SMALL = (4, 8, 16)

_CELLS: tuple[WeightsCell | TokensCell, ...] = (
    *(TokensCell(k, 16, "sgd", 9600) for k in ("one", "length")),
    *(WeightsCell(k, n, "orthonormal", size, steps) for k, n, size, steps in ORTHONORMAL),
    # as many queries a step as where each of 32 contexts has 16
    *(TokensCell(k, 16, "adamw", 6400, batch_size=512) for k in ("one", "length")),
    *(TokensCell(k, 64, "adamw", 8000) for k in ("every", "inverse")),
    *(WeightsCell(k, 128, "gaussian", *GAUSSIAN[128]) for k in ("every", "last")),
    WeightsCell("length", 64, "gaussian", 128, GAUSSIAN[64][1]),
    TokensCell("every", 32, "sgd", 19_200),
    *(WeightsCell(k, n, "gaussian", *GAUSSIAN[n]) for n in (16, 32, 64) for k in ("every", "last")),
    *(WeightsCell("length", n, "gaussian", 128, GAUSSIAN[n][1]) for n in (16, 32)),
    *(WeightsCell("one", n, "gaussian", 128, steps) for n, steps in ((16, 130), (32, 300))),
    *(WeightsCell("queries", n, "gaussian", 32, steps) for n, steps in ((16, 130), (32, 300))),
    *(
        TokensCell(k, n, "adamw", 400 * n)
        for n in SMALL
        for k in ("one", "every", "length", "queries", "inverse")
    ),
    *(TokensCell("every", 16, "adamw", 6400, batch_size=size) for size in (8, 16, 64, 128)),
    *(TokensCell(k, 32, "adamw", 8000) for k in ("every", "inverse", "length")),
    *(TokensCell(k, 32, "adamw", 12_800) for k in ("one", "queries")),
    *(TokensCell(k, n, "sgd", 600 * n) for n in (4, 8) for k in ("one", "every", "length")),
    TokensCell("every", 16, "sgd", 9600),
    *(TokensCell("queries", n, "sgd", 600 * n) for n in SMALL),
    # these take ten minutes of one core and more, each
    *(TokensCell(k, 32, "sgd", 40_960) for k in ("one", "queries", "length")),
    *(TokensCell(k, 128, "adamw", 16_000) for k in ("every", "inverse")),
    WeightsCell("every", 256, "gaussian", *GAUSSIAN[256]),
)
CELLS = tuple(
    cell if cell.n_pairs > 16 else replace(cell, seeds=tuple(FIRST_SEED + seed for seed in SEEDS))
    for cell in _CELLS
)

RUNS = StoredRuns(run, CELLS)


Cell = WeightsCell | TokensCell
Steps = Float[np.ndarray, " seeds"]
LEVELS = "alpha", "beta", "gamma", "loss"


class StoredTrainings:
    """The stored trainings.

    Attributes:
        entries: what is stored, by cell.
    """

    def __init__(self, path: Path) -> None:
        """Read the file; ValueError where it is damaged or has other runs."""
        self.entries: dict[Cell, list[dict[str, Any]]] = RUNS.read(path.read_text(encoding="utf-8"))

    def of(self, cell: WeightsCell, level: str) -> Steps:
        """Steps of a cell until a level of a score, or of its own loss."""
        return np.array([_number(row[level]) for row in self.entries[cell]])

    def weights(self, kind: Kind, data: str, level: str) -> dict[int, Steps]:
        """Steps of all weights until a level of a score, or of their own loss, by N."""
        return {
            cell.n_pairs: self.of(cell, level)
            for cell in sorted(self.entries, key=lambda cell: cell.n_pairs)
            if isinstance(cell, WeightsCell) and (cell.kind, cell.data) == (kind, data)
        }

    def tokens(
        self, kind: Kind, optimiser: str, *, batch_size: int = 32, level: int = -1
    ) -> dict[int, Steps]:
        """Steps of the transformer until its loss on whole contexts passes a level, by N."""
        return {
            cell.n_pairs: np.array([_number(row["steps"][level]) for row in rows])
            for cell, rows in sorted(self.entries.items(), key=lambda pair: pair[0].n_pairs)
            if isinstance(cell, TokensCell)
            and (cell.kind, cell.optimiser, cell.batch_size) == (kind, optimiser, batch_size)
        }

    def batches(self, kind: Kind, n_pairs: int) -> dict[int, Steps]:
        """Steps of AdamW by batch size at one N."""
        sizes = sorted(
            cell.batch_size
            for cell in self.entries
            if isinstance(cell, TokensCell)
            and (cell.kind, cell.n_pairs, cell.optimiser) == (kind, n_pairs, "adamw")
        )
        return {size: self.tokens(kind, "adamw", batch_size=size)[n_pairs] for size in sizes}


def _number(value: float | None) -> float:
    return np.inf if value is None else float(value)


def population(kind: Kind, n_pairs: int) -> Landscape:
    """The loss of all nineteen whose descent a training of this kind is, but for its noise."""
    query: Query = "last" if kind == "last" else "uniform"
    if kind in ("one", "queries"):
        return theory.landscape_of(n_pairs, query, model="full")
    weights = 1 / np.arange(1, n_pairs + 1.0) if kind == "inverse" else np.ones(n_pairs)
    return theory.landscape_of(
        n_pairs, query, model="full", supervision=(weights / weights.sum()).tolist()
    )


@kept
def population_steps(cell: WeightsCell) -> dict[str, float]:
    """The steps of population descent at which the levels of a training are passed."""
    rates = (
        theory.gaussian_rates(2.0 * cell.n_pairs)
        if cell.data == "gaussian"
        else theory.Rates(FLOW_STEP, FLOW_STEP, FLOW_STEP)
    )
    path = theory.descent_in(population(cell.kind, cell.n_pairs), cell.steps, rates=rates)
    curves = dict(zip(LEVELS, (path.alpha, path.beta, path.gamma, -path.loss), strict=True))
    return {
        name: _number(crossed(path.t, curve, -0.5 if name == "loss" else 0.5))
        for name, curve in curves.items()
    }
