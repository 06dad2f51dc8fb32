"""The grid of trainings of the transformer of §2: which cells there are, and what one records."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch

from emergence.experiments.first_passage import knows_labels_only
from emergence.training import Optimiser, TokenTraining

from ..side_by_side import train_side_by_side

Arm = Literal["proportional", "fixed", "batch", "narrow", "slower"]
SHARES = (0.9, 0.75, 0.5)  # of ln N: the head appears at the first and has formed at the last
EMBEDDING_NORM = 4.0  # at every width; with half of it, 4 and 8 pairs at D = 64 emerge later


@dataclass(frozen=True)
class Cell:
    """Runs of one size: every rate with every seed, trained until they emerge or to the limit.

    Attributes:
        arm: what the cell is part of: V = 4N, V fixed, batches varied, D below 64, or rates below
            AdamW's middle one where pairs are many.
        n_pairs: pairs N.
        vocabulary: words V.
        optimiser: `adamw` or `sgd`.
        rates: learning rates.
        limit: updates after which a run counts as not emerged.
        seeds: of start and data.
        dim: width D.
        batch_size: sequences B a step.
    """

    arm: Arm
    n_pairs: int
    vocabulary: int
    optimiser: Optimiser
    rates: tuple[float, ...]
    limit: int
    seeds: tuple[int, ...] = (0, 1, 2)
    dim: int = 64
    batch_size: int = 32

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


def run(cell: Cell, device: torch.device) -> list[dict[str, Any]]:
    """Train a cell; a row a run, in the order of rates and, within one, of seeds."""
    pairs = [(rate, seed) for rate in cell.rates for seed in cell.seeds]
    level = knows_labels_only(cell.n_pairs)
    found = train_side_by_side(
        cell.training(),
        [seed for _, seed in pairs],
        [rate for rate, _ in pairs],
        levels=[share * level for share in SHARES],
        device=device,
        label=f"{cell.arm}: {cell.optimiser}, N = {cell.n_pairs}, V = {cell.vocabulary}",
    )
    return [
        {
            "rate": rate,
            "seed": seed,
            "steps": [round(float(t), 2) if np.isfinite(t) else None for t in found.steps[i]],
            "loss": round(float(found.loss[i]) / level, 4) if np.isfinite(found.loss[i]) else None,
            "accuracy": round(float(found.accuracy[i]), 4),
            "taken": int(found.taken[i]),
        }
        for i, (rate, seed) in enumerate(pairs)
    ]


def described(cell: Cell) -> dict[str, Any]:
    """The settings of a cell as they are stored."""
    return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(cell).items()}
