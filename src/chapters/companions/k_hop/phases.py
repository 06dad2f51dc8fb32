"""Which questions a network learns, and after how many steps: cells of one phase diagram.

A cell is a depth, a number of heads, the length of the chains and the hops asked for, stage by
stage. A run that ends without success is censored: its wait is longer than the steps it was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from chapters.companions.retrieval.model import Architecture, Stages
from chapters.companions.retrieval.training import RetrievalTraining, train
from emergence.analysis import first_reached
from emergence.running.records import StoredRuns

CHAINS = 3
GUESS = 1 / CHAINS  # among the ends of the chains
LARGE = 86  # contexts a step, where a small batch hides the signal of three or four hops alone
SPARE = (1, 17)  # of four facts a chain, 15 symbols in a context: vocabularies of 16 and 32
HALF_WAY = (1 + GUESS) / 2  # between a guess and certainty
FIRST_SEED = 0  # of the cells that name none; who does takes minutes, or has seeds of its own


@dataclass(frozen=True)
class Cell:
    """One cell; sizes are ours, the least at which three layers learn four hops fast."""

    n_layers: int
    stages: Stages  # the last one names the hops that are to be learned
    limit: int  # steps at most
    n_heads: int = 2
    n_seeds: int = 5
    first_seed: int = 0
    stage_steps: int = 200
    n_hops: int = 4  # D, the facts of a chain
    record_every: int = 25
    test_size: int = 32  # contexts a number of hops, with a question a chain
    batch_size: int = 32  # contexts
    dim: int = 64
    learning_rate: float = 2e-3  # constant after the warm-up
    warm_up: int = 100
    until: float = 0.95
    spare: int = 0  # symbols beyond those of one context; with none, every context has them all

    @property
    def asked(self) -> tuple[int, ...]:
        """The hops asked for in the end."""
        return self.stages[-1]

    def training(self) -> RetrievalTraining:
        """The training of this cell."""
        symbols = CHAINS * (self.n_hops + 1) + self.spare
        network = Architecture(self.n_layers, self.n_heads, self.dim, self.dim, symbols)
        return RetrievalTraining(
            stages=self.stages,
            stage_steps=self.stage_steps,
            steps=self.limit,
            until=self.until,
            architecture=network,
            n_hops=self.n_hops,
            n_chains=CHAINS,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            warm_up=self.warm_up,
            final_share=1.0,
            record_every=self.record_every,
            test_size=self.test_size,
            causal=False,
        )


class RightAnswers(NamedTuple):
    """Right answers on fixed contexts over training, to a question a chain of each context."""

    cell: Cell
    moments: Int[np.ndarray, " times"]
    right: Int[np.ndarray, "runs times n_hops"]

    @property
    def accuracy(self) -> Float[np.ndarray, "runs times n_hops"]:
        """Share of right answers."""
        return self.right / (CHAINS * self.cell.test_size)

    def learned(self, hop: int) -> Float[np.ndarray, " runs"]:
        """The step at which each run first answers so many hops `HALF_WAY`; infinity if never."""
        return first_reached(self.moments, self.accuracy[..., hop - 1], HALF_WAY)

    @property
    def waits(self) -> Float[np.ndarray, " runs"]:
        """The step at which the last of the hops asked for is learned; infinity where censored."""
        return np.max([self.learned(hop) for hop in self.cell.asked], axis=0)


def measure(cell: Cell, *, device: str = "cpu") -> RightAnswers:
    """Train a cell's networks until all have learned or the limit is reached."""
    seeds = range(cell.first_seed, cell.first_seed + cell.n_seeds)
    record = train(cell.training(), seeds, device=torch.device(device), label=f"{cell.stages}")
    right = (record.accuracy.numpy() * (CHAINS * cell.test_size)).round().astype(int)
    return RightAnswers(cell, record.moments.numpy(), right)


def staged(n_layers: int, stages: Stages, limit: int, **more: Any) -> Cell:
    """A cell that asks for some hops, and later for others."""
    return Cell(n_layers, stages, limit, **{"first_seed": FIRST_SEED, **more})


def alone(n_layers: int, hops: int, limit: int, **more: Any) -> Cell:
    """A cell that asks for so many hops only."""
    return staged(n_layers, ((hops,),), limit, **more)


def mixed(n_layers: int, hops: int, limit: int, **more: Any) -> Cell:
    """A cell that asks for one to so many hops, equally often."""
    return staged(n_layers, (tuple(range(1, hops + 1)),), limit, **more)


# Two hops alone where they were not learned within the limit, and the mixture beside them: with
# four times the limit, and with four times the batch, twice the width or other seeds besides.
CHANGES: tuple[dict[str, int], ...] = (
    {},
    {"batch_size": 128, "first_seed": 0},
    {"dim": 128, "first_seed": 0},
    {"first_seed": 500},
)
VARIED: tuple[tuple[Cell, Cell], ...] = tuple(
    (alone(3, 2, 8000, **more), mixed(3, 4, 2000, **more)) for more in CHANGES
)
OTHERS = {cell for pair in VARIED[1:] for cell in pair}

# In the order in which they are computed: what decides most, and what costs least, comes first.
CELLS: tuple[Cell, ...] = (
    # the same questions where a context leaves some of the symbols out
    *(alone(3, 2, 2000, spare=spare) for spare in SPARE),
    mixed(3, 4, 2000, spare=SPARE[-1]),
    alone(3, 1, 2000, spare=SPARE[-1]),
    alone(3, 2, 2000, n_hops=2, spare=SPARE[-1]),
    mixed(3, 2, 2000, n_hops=2, spare=SPARE[-1]),
    alone(3, 3, 4000, batch_size=LARGE, spare=SPARE[-1]),
    alone(3, 4, 6000, batch_size=LARGE, spare=SPARE[-1]),
    # every context has all symbols
    mixed(3, 4, 2000),
    *(alone(layers, 1, 2000) for layers in (3, 1, 2)),
    alone(3, 2, 2000),
    *(alone(layers, 1, 2000, n_hops=1) for layers in (3, 1)),
    *(alone(layers, 2, 2000, n_hops=2) for layers in (3, 2)),
    mixed(3, 2, 2000, n_hops=2),
    *(mixed(layers, 3, 2000, n_hops=3, n_seeds=3) for layers in (3, 2)),
    mixed(3, 4, 2000, batch_size=LARGE, n_seeds=1),
    *(alone(3, 4, 6000, batch_size=LARGE, n_seeds=1, first_seed=seed) for seed in (0, 1)),
    mixed(1, 2, 2000, n_hops=2, n_seeds=3),
    alone(1, 2, 2000, n_hops=2, n_seeds=3),
    *(alone(3, 3, 4000, batch_size=LARGE, n_hops=3, n_seeds=1, first_seed=s) for s in (0, 1)),
    staged(3, ((4,), (3, 4), (1, 2, 3, 4)), 2400, n_seeds=3),
    staged(3, ((1,), (1, 2), (1, 2, 3, 4)), 2000, n_seeds=3),
    mixed(2, 4, 4000, n_seeds=2),
    *(mixed(3, 4, 2000, n_heads=heads, n_seeds=3) for heads in (1, 4)),
    staged(3, ((2,), (1, 2), (1, 2, 3, 4)), 2400, n_seeds=3),
    alone(2, 3, 4000, n_hops=3, n_seeds=3),
    mixed(4, 4, 2000, n_seeds=3),
    mixed(2, 5, 4000, n_hops=5, n_seeds=2),  # one fact more than two layers can follow
    mixed(3, 8, 4000, n_hops=8, n_seeds=1),  # one more than three can by merging forwards
    *(alone(layers, 4, 8000, n_seeds=2) for layers in (2, 4)),
    *(cell for pair in VARIED for cell in pair if cell != mixed(3, 4, 2000)),
    *(alone(3, 3, 16_000, batch_size=LARGE, n_hops=3, n_seeds=1, first_seed=s) for s in (0, 1)),
    *(alone(3, 4, 24_000, batch_size=LARGE, n_seeds=1, first_seed=seed) for seed in (0, 1)),
)


def latest(measured: Mapping[Cell, RightAnswers]) -> dict[Cell, RightAnswers]:
    """The cells with the latest limit among those that are equal but for their limit."""
    longest = {replace(cell, limit=0): cell for cell in sorted(measured, key=lambda c: c.limit)}
    return {cell: measured[cell] for cell in measured if cell in longest.values()}


def run(cell: Cell) -> dict[str, Any]:
    """What is stored of a cell: right answers by run, time and hops."""
    record = measure(cell)
    return {"moments": record.moments.tolist(), "right": record.right.tolist()}


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Cell, RightAnswers]:
    """What was measured of each cell of a file. Raises ValueError for a file of other runs."""
    return {
        cell: RightAnswers(cell, np.array(arrays["moments"]), np.array(arrays["right"]))
        for cell, arrays in RUNS.read(text).items()
    }


def median_wait(measured: RightAnswers) -> float:
    """The median of the `waits` of runs, in steps; a censored one counts as its limit."""
    return float(np.median(np.minimum(measured.waits, measured.moments[-1])))


def waits_in_words(measured: RightAnswers) -> str:
    """The `waits` of all runs as text, such as 75, 100, > 2000."""
    limit = measured.moments[-1]
    return ", ".join(f"{w:.0f}" if np.isfinite(w) else f"> {limit}" for w in measured.waits)
