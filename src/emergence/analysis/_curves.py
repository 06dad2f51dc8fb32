"""Measures of curves over training: when a level is reached, in which order, with which power."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Real
from scipy import stats


def first_reached(
    steps: Real[np.ndarray, " times"], curves: Float[np.ndarray, "runs times"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first recorded step at which each curve is at least `level`; infinity if never."""
    reached = curves >= level
    first = steps[reached.argmax(axis=1)].astype(float)
    return np.where(reached.any(axis=1), first, np.inf)


def first_fallen(
    steps: Real[np.ndarray, " times"], curves: Float[np.ndarray, "runs times"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first recorded step at which each curve is at most `level`; infinity if never."""
    return first_reached(steps, -curves, -level)


def settled(
    steps: Int[np.ndarray, " times"], curves: Float[np.ndarray, "runs times"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first step from which on a curve stays at its level or above; infinity if none."""
    least_to_come = np.minimum.accumulate(curves[:, ::-1], axis=1)[:, ::-1]
    return first_reached(steps, least_to_come, level)


def in_order(times: Float[np.ndarray, "runs events"]) -> Float[np.ndarray, " runs"]:
    """1 for a run whose times rise strictly and are all finite, else 0."""
    earlier, later = times[:, :-1], times[:, 1:]
    return ((earlier < later) & np.isfinite(later)).all(axis=1).astype(float)


class Exponent(NamedTuple):
    """A fitted power y = c x^slope with a two-sided confidence interval of the slope."""

    slope: float
    low: float
    high: float


def exponent(
    x: Real[np.ndarray, " points"], y: Real[np.ndarray, " points"], confidence: float = 0.95
) -> Exponent:
    """Least squares on doubly logarithmic axes, Student's interval; needs three points."""
    if len(x) < 3:
        raise ValueError(f"an exponent with an interval needs three points, got {len(x)}")
    fit = stats.linregress(np.log(x), np.log(y))
    half = float(stats.t.ppf((1 + confidence) / 2, len(x) - 2) * fit.stderr)
    return Exponent(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


class PowerLaw(NamedTuple):
    """A power fitted to the sizes at which every run emerged, and how many runs never did."""

    exponent: Exponent
    sizes: Float[np.ndarray, " sizes"]
    never: int


def power_law(
    sizes: Sequence[int] | np.ndarray,
    times: Float[np.ndarray, "sizes seeds"],
    confidence: float = 0.95,
) -> PowerLaw:
    """Fit log time against log size, every run a point; ValueError if too few sizes are left.

    A size with a run that never emerged is left out of the fit and counted: keeping its other runs
    would bend the line down.
    """
    complete = np.isfinite(times).all(axis=1)
    if complete.sum() < 3:
        raise ValueError(
            f"a power needs three sizes at which all runs emerged, got {complete.sum()}"
        )
    kept = np.asarray(sizes, dtype=float)[complete]
    points = np.repeat(kept, times.shape[1])
    fit = exponent(points, times[complete].ravel(), confidence)
    return PowerLaw(fit, kept, int((~np.isfinite(times)).sum()))
