"""Powers of a size in times to emergence: one for all sizes, and local ones between neighbours.

The steps behind the laws of the chapter, each as a residual that must vanish.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import sympy as sp
from jaxtyping import Float, Real

from emergence.analysis import Exponent, exponent
from emergence.proofs.speeds import ALPHA, AREA, D, N, T, late_speeds
from emergence.proofs.speeds import B as SCORE
from emergence.proofs.speeds import G as OUTPUT

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


B, R, RATE, G, NOISE = sp.symbols("B r lambda g sigma", positive=True)


def stretch_residuals() -> dict[str, sp.Expr]:
    """How long a stretch takes under AdamW, and what a larger batch saves.

    r is the ratio of signal to noise of one sequence, g/s; a coordinate moves
    l g / sqrt(g^2 + s^2/B).
    """
    speed = RATE * G / sp.sqrt(G**2 + NOISE**2 / B)
    wait = sp.sqrt(1 + 1 / (B * R**2)) / RATE  # of a stretch of length 1
    share = (NOISE**2 / B) / (G**2 + NOISE**2 / B)
    power = sp.simplify(B * sp.diff(sp.log(speed), B))
    return {
        "the wait of a stretch": sp.simplify(1 / speed - wait.subs(R, G / NOISE)),
        "power of the speed is half the share of noise": sp.simplify(power - share / 2),
        "no noise, no batch": sp.limit(power, NOISE, 0),
        "all noise, the root": sp.limit(power, NOISE, sp.oo) - sp.Rational(1, 2),
        "the wait times the root of B still grows with B": sp.simplify(
            B * sp.diff(sp.log(wait * sp.sqrt(B)), B) - B * R**2 / (2 * (B * R**2 + 1))
        ),
    }


def three_halves() -> dict[str, sp.Expr]:
    """Rates D, D, 1/D."""
    u = sp.Symbol("u", positive=True)
    slow = T / (N * D)  # gamma
    late = late_speeds()
    push = D * late.beta.subs({OUTPUT: slow, ALPHA: SCORE**2 / 2}) / N**2
    general = D**2 / (2 * N) * (u - 1 + sp.exp(-u))  # the integral of beta's pull up to u N D
    time = 2 * sp.sqrt(AREA) * N ** sp.Rational(3, 2)
    return {
        "speed of gamma": sp.diff(slow, T) - late.gamma.subs(OUTPUT, 0) / (N * D),
        "area swept": sp.simplify(sp.diff(T**2 / (4 * N**3), T) - sp.diff(AREA, SCORE) * push),
        "its time": sp.simplify(time**2 / (4 * N**3) - AREA),
        "one formula for all sizes": sp.simplify(
            sp.diff(general, u) - N * D * D * (1 - sp.exp(-u)) / (2 * N**2)
        ),
        "below N = D^2": sp.simplify(sp.series(general, u, 0, 3).removeO() - D**2 * u**2 / (4 * N)),
        "above N = D^2": sp.limit(general / u, u, sp.oo) - D**2 / (2 * N),
    }
