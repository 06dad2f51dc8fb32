"""Powers of a size in times to emergence: one for all sizes, and local ones between neighbours."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Real

from emergence.analysis import Exponent, exponent

DRAWS = 2000

Sizes = Sequence[int] | Sequence[float] | Real[np.ndarray, " sizes"]


class Slopes(NamedTuple):
    """Powers between neighbours, with percentiles of a bootstrap over seeds."""

    at: Float[np.ndarray, " gaps"]  # geometric means of neighbouring sizes
    slope: Float[np.ndarray, " gaps"]  # of the mean log time against log size
    low: Float[np.ndarray, " gaps"]  # 2.5th percentile
    high: Float[np.ndarray, " gaps"]  # 97.5th percentile


def local_slopes(sizes: Sizes, times: Float[np.ndarray, "sizes seeds"]) -> Slopes:
    """The power of the time between each size and the next, with a bootstrap over seeds.

    Seeds are drawn with replacement, for each size by itself. Sizes rise. Raises ValueError for
    fewer than two, or for a run that never emerged.
    """
    if len(sizes) < 2:
        raise ValueError(f"a slope needs two sizes, got {len(sizes)}")
    if not np.isfinite(times).all():
        raise ValueError("a size with a run that never emerged has no mean time")
    logs = np.log(np.asarray(sizes, dtype=float))
    chosen = np.random.default_rng(0).integers(times.shape[1], size=(DRAWS, *times.shape))
    means = np.take_along_axis(np.log(times)[None], chosen, axis=2).mean(axis=2)
    drawn = np.diff(means, axis=1) / np.diff(logs)
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    slope = np.diff(np.log(times).mean(axis=1)) / np.diff(logs)
    return Slopes(np.exp((logs[1:] + logs[:-1]) / 2), slope, low, high)


def is_a_power(slopes: Slopes) -> bool:
    """Whether one power lies in the intervals of all local slopes; if not, quote none."""
    return bool(slopes.low.max() <= slopes.high.min())


class PowerLaw(NamedTuple):
    """A power fitted to the sizes at which every run emerged (§6, App. F)."""

    exponent: Exponent
    sizes: Float[np.ndarray, " sizes"]  # those that count
    never: int  # how many runs never emerged


def fit_power_law(
    sizes: Sequence[int] | np.ndarray,
    times: Float[np.ndarray, "sizes seeds"],
    confidence: float = 0.95,
) -> PowerLaw:
    """A power fitted to times to emergence, every run a point (§6, App. F).

    A size with a run that never emerged is left out of the fit and counted: keeping its other runs
    would bend the line down. Raises ValueError if fewer than three sizes are left.
    """
    complete = np.isfinite(times).all(axis=1)
    if complete.sum() < 3:
        raise ValueError(
            f"a power needs three sizes at which all runs emerged, got {complete.sum()}"
        )
    fitted = np.asarray(sizes, dtype=float)[complete]
    points = np.repeat(fitted, times.shape[1])
    fit = exponent(points, times[complete].ravel(), confidence)
    return PowerLaw(fit, fitted, int((~np.isfinite(times)).sum()))
