"""A study of how the norm moves while a network groks: data/companions/grokking_widths.json.

A network with H units and p numbers has d = 2 p H parameters, and m training pairs have m k targets
with k = p, hence d/km = 2 H/m. Appendix C of the source needs d/km to be one at least.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from running.records import StoredRuns

from . import PRESET, RealTraining, Simulation, training
from .stages import for_good
from .stored import plain

CURVES = "accuracy", "memorised", "loss", "norm"
Curves = dict[str, Float[np.ndarray, "seeds times"]]

MODULI = 23, 37, 53
DECAYS = 1.0, 0.3, 0.1
CLOCKS = {0.3: 2.5, 1.0: 2.5, 2.0: 3.0, 5.0: 5.0}  # by d/km: the wider, the later
MOST_STEPS = 10_000  # of a training at the greatest modulus; longer ones are left out


@dataclass(frozen=True)
class Cell:
    """Networks of one size at one decay; d/km as it is declared, before rounding to whole units."""

    ratio: float
    simulation: Simulation
    real: RealTraining
    seeds: tuple[int, ...]


def declared() -> tuple[Cell, ...]:
    """All networks; more numbers or units need a smaller learning rate."""
    paper, cells = PRESET["paper"].settings, []
    first = paper.simulation
    for p, decay, (ratio, clock) in product(MODULI, DECAYS, CLOCKS.items()):
        hidden = round(ratio * n_pairs(p) / 2)
        rate = paper.real.learning_rate * first.modulus / p * min(1, first.hidden / hidden)
        clock = 5.0 if p == MODULI[0] else clock
        real = RealTraining(decay=decay, learning_rate=rate, clock=clock)
        n_steps = clock * (1 - real.momentum) / (2 * decay * rate)
        if p < MODULI[-1] or n_steps <= MOST_STEPS:
            simulation = Simulation(modulus=p, hidden=hidden, embedding_std=p**-0.5)
            cells.append(Cell(ratio, simulation, real, (0,) if ratio == max(CLOCKS) else (0, 1)))
    return tuple(cells)


def n_pairs(modulus: int) -> int:
    """m, as `training.instance` splits the pairs."""
    return int(Simulation().train_share * (modulus * (modulus + 1) // 2))


def run(cell: Cell) -> dict[str, Any]:
    """What is stored of a cell: the clock, and curves with a row a seed."""
    label = f"p = {cell.simulation.modulus}, d/km = {cell.ratio:g}, decay {cell.real.decay:g}"
    runs = [training.train(cell.simulation, cell.real, seed, label=label) for seed in cell.seeds]
    curves = {name: plain(torch.stack([getattr(each, name) for each in runs])) for name in CURVES}
    return {"clock": plain(runs[0].clock)} | curves


RUNS = StoredRuns(run, declared())


def norm_ratios(text: str) -> dict[tuple[int, float, float], Float[np.ndarray, " seeds"]]:
    """`norm_ratio` of the networks of a file by p, decay and d/km; ValueError for other runs."""
    return {
        (cell.simulation.modulus, cell.real.decay, cell.ratio): norm_ratio(
            {name: np.array(stored[name], dtype=float) for name in CURVES}
        )
        for cell, stored in RUNS.read(text).items()
    }


def norm_ratio(
    curves: Curves, *, low: float = 0.05, high: float = 0.95
) -> Float[np.ndarray, " seeds"]:
    """The norm where the share `high` of held-out pairs is known for good, over that at `low`.

    NaN for a network that does not come to know so many.
    """
    ratios = []
    for accuracy, norm in zip(curves["accuracy"], curves["norm"], strict=True):
        early, late = for_good(accuracy, low), for_good(accuracy, high)
        ratios.append(norm[late] / norm[early] if late < len(norm) else np.nan)
    return np.array(ratios)


def explained(values: Float[np.ndarray, "groups each"]) -> float:
    """The share of the variance of values that their groups explain; NaN is left out."""
    total = np.nansum((values - np.nanmean(values)) ** 2)
    groups = [row[~np.isnan(row)] for row in values]
    within = sum(float(((row - row.mean()) ** 2).sum()) for row in groups if row.size)
    return float(1 - within / total)
