"""Measures of curves over training: when a level is reached, in which order, which exponent."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Real
from scipy import stats


def first_reached(
    steps: Real[np.ndarray, " times"], curves: Float[np.ndarray, "runs times"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first recorded step at which each curve is at least `level`, or infinity (Definition 1).

    Args:
        steps: the increasing steps of the measurements.
        curves: finite values, one row per run.
        level: any.

    Example:
        >>> analysis.first_reached(np.array([0, 10, 20]), np.array([[0.0, 0.6, 0.4]]), 0.5).tolist()
        [10.0]
    """
    reached = curves >= level
    first = steps[reached.argmax(axis=1)].astype(float)
    return np.where(reached.any(axis=1), first, np.inf)


def first_fallen(
    steps: Real[np.ndarray, " times"], curves: Float[np.ndarray, "runs times"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first recorded step at which each curve is at most `level`, or infinity (Definition 3).

    Args:
        steps, curves, level: as `first_reached` takes them.
    """
    return first_reached(steps, -curves, -level)


def settled(
    steps: Int[np.ndarray, " times"], curves: Float[np.ndarray, "runs times"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first step after which a curve stays at its level or above, or infinity (this book).

    Args:
        steps, curves, level: as `first_reached` takes them.
    """
    least_to_come = np.minimum.accumulate(curves[:, ::-1], axis=1)[:, ::-1]
    return first_reached(steps, least_to_come, level)


def in_order(times: Float[np.ndarray, "runs events"]) -> Float[np.ndarray, " runs"]:
    """1 for each run whose times rise strictly and are finite, else 0 (Theorem 2, Definition 1).

    Args:
        times: one row per run, its events in the expected order; infinity for one that never comes.
    """
    earlier, later = times[:, :-1], times[:, 1:]
    return ((earlier < later) & np.isfinite(later)).all(axis=1).astype(float)


class Exponent(NamedTuple):
    """A fitted power law y = c x^slope with a two-sided confidence interval of the slope (§6).

    Attributes:
        slope: the exponent.
        low: lower end of its interval.
        high: upper end.
    """

    slope: float
    low: float
    high: float


def exponent(
    x: Real[np.ndarray, " points"], y: Real[np.ndarray, " points"], confidence: float = 0.95
) -> Exponent:
    """The exponent of a power law, by least squares on doubly logarithmic axes (§6).

    Args:
        x: at least three values, > 0 and not all equal.
        y: as many values, > 0.
        confidence: the level of Student's interval, between 0 and 1.

    Raises:
        ValueError: if there are fewer than three points.
    """
    if len(x) < 3:
        raise ValueError(f"an exponent with an interval needs three points, got {len(x)}")
    fit = stats.linregress(np.log(x), np.log(y))
    half = float(stats.t.ppf((1 + confidence) / 2, len(x) - 2) * fit.stderr)
    return Exponent(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)
