"""Whether the norm rises while a network groks, over d/km: data/companions/grokking_widths.json.

A network with H units and p numbers has d = 2 p H parameters, and m training pairs have m k targets
with k = p, hence d/km = 2 H/m.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from running.records import StoredRuns

from . import PRESET, GrokkingSettings, RealTraining, Simulation, training
from .model import Layers
from .stages import for_good
from .stored import plain

CURVES = "accuracy", "memorised", "loss", "norm"
Curves = dict[str, Float[np.ndarray, "seeds times"]]


@dataclass(frozen=True)
class Cell:
    """Networks of one size at one decay; d/km as it is declared, before rounding to whole units."""

    ratio: float
    simulation: Simulation
    real: RealTraining
    seeds: tuple[int, ...]

    @property
    def exchanged(self) -> bool:
        """Whether the initial embeddings have the norm of another width's."""
        return self.simulation.embedding_std != self.simulation.modulus**-0.5


def declared(settings: GrokkingSettings) -> tuple[Cell, ...]:
    """All cells, those with exchanged embeddings first, then the map from few numbers to many."""
    grid = settings.widths
    low, high = grid.exchanged
    return (
        *(
            _cell(settings, p, decay, ratio, sized_as=other)
            for decay, p in grid.exchanged_at
            for ratio, other in ((low, high), (high, low))
        ),
        *(
            cell
            for p, decay, ratio in product(grid.moduli, grid.decays, grid.ratios)
            if _n_steps((cell := _cell(settings, p, decay, ratio)).real) <= grid.most_steps
            or p < grid.moduli[-1]
        ),
    )


def _cell(
    settings: GrokkingSettings, p: int, decay: float, ratio: float, sized_as: float | None = None
) -> Cell:
    """Networks whose initial embeddings have the norm of those at d/km = `sized_as`.

    More numbers or units need a smaller learning rate.
    """
    first, grid = settings.simulation, settings.widths
    hidden = round(ratio * n_pairs(first, p) / 2)
    rate = settings.real.learning_rate * first.modulus / p * min(1, first.hidden / hidden)
    clock = dict(zip(grid.ratios, grid.clocks, strict=True))[ratio]
    if p == grid.moduli[0]:
        clock = grid.least_clock
    if sized_as and sized_as > ratio:
        clock = grid.exchanged_clock
    size = p**-0.5 * ((sized_as or ratio) / ratio) ** 0.5
    return Cell(
        ratio,
        Simulation(modulus=p, hidden=hidden, embedding_std=size),
        RealTraining(decay=decay, learning_rate=rate, clock=clock),
        grid.widest_seeds if ratio == grid.ratios[-1] else grid.seeds,
    )


def _n_steps(real: RealTraining) -> float:
    """Steps of a training, as `training.train` takes them."""
    return real.clock * (1 - real.momentum) / (2 * real.decay * real.learning_rate)


def n_pairs(simulation: Simulation, modulus: int) -> int:
    """m, as `training.instance` splits the pairs."""
    return int(simulation.train_share * (modulus * (modulus + 1) // 2))


def run(cell: Cell) -> dict[str, Any]:
    """What is stored of a cell: the clock, and curves with a row a seed."""
    label = f"p = {cell.simulation.modulus}, d/km = {cell.ratio:g}, decay {cell.real.decay:g}"
    runs = [training.train(cell.simulation, cell.real, seed, label=label) for seed in cell.seeds]
    curves = {name: plain(torch.stack([getattr(each, name) for each in runs])) for name in CURVES}
    return {"clock": plain(runs[0].clock)} | curves


RUNS = StoredRuns(run, declared(PRESET["paper"].settings))


def read(text: str) -> dict[Cell, Curves]:
    """The cells of a file with their curves; ValueError for one of other runs."""
    return {
        cell: {name: np.array(kept[name], dtype=float) for name in CURVES}
        for cell, kept in RUNS.read(text).items()
    }


def norm_ratio(
    curves: Curves, *, low: float = 0.05, high: float = 0.95
) -> Float[np.ndarray, " seeds"]:
    """The norm where the share `high` of held-out pairs is known for good, over that at `low`.

    NaN for a network that does not come to know so many.
    """
    found = []
    for known, norm in zip(curves["accuracy"], curves["norm"], strict=True):
        early, late = for_good(known, low), for_good(known, high)
        found.append(norm[late] / norm[early] if late < len(norm) else np.nan)
    return np.array(found)


def loss_left(curves: Curves, *, low: float = 0.05) -> Float[np.ndarray, " seeds"]:
    """The training loss where the share `low` of held-out pairs is known for good, over the first.

    NaN for a network that does not come to know so many.
    """
    found = []
    for known, loss in zip(curves["accuracy"], curves["loss"], strict=True):
        early = for_good(known, low)
        found.append(loss[early] / loss[0] if early < len(loss) else np.nan)
    return np.array(found)


def explained(values: Float[np.ndarray, "groups each"]) -> float:
    """The share of the variance of values that their groups explain; NaN is left out."""
    there = ~np.isnan(values)
    total = np.nansum((values - np.nanmean(values)) ** 2)
    groups = [row[kept] for row, kept in zip(values, there, strict=True) if kept.any()]
    within = sum(float(((row - row.mean()) ** 2).sum()) for row in groups)
    return float(1 - within / total)


def fitting(modulus: int) -> Layers:
    """2 p - 1 units that fit all pairs of numbers below p exactly, without biases.

    Unit j is on by a + b - j, j = -1, ..., 2 p - 3; any function of a + b is a sum of such units.
    """
    sums = torch.arange(2 * modulus - 1, dtype=torch.float64)
    kinks = sums - 1
    embeddings = sums[:modulus, None] - kinks / 2
    active = (sums[:, None] - kinks).clamp(min=0)
    targets = torch.eye(modulus, dtype=torch.float64)[sums.long() % modulus]
    return Layers(embeddings, torch.linalg.solve_triangular(active, targets, upper=False))
