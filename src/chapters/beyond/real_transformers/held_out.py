"""Local exponents between neighbouring sizes, and laws judged by sizes that were held out."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Real

DRAWS = 2000

Sizes = Sequence[int] | Sequence[float] | Real[np.ndarray, " sizes"]


class Slopes(NamedTuple):
    """Powers between neighbours, with percentiles of a bootstrap over seeds."""

    at: Float[np.ndarray, " gaps"]  # geometric means of neighbouring sizes
    slope: Float[np.ndarray, " gaps"]  # of the mean log time against log size
    low: Float[np.ndarray, " gaps"]  # 2.5th percentile
    high: Float[np.ndarray, " gaps"]  # 97.5th percentile


class Prediction(NamedTuple):
    """What a law fitted to small sizes says of the large ones."""

    error: float  # the largest |log(predicted / measured)| over the sizes held out
    low: float  # 2.5th percentile of a bootstrap over all seeds, of the fit and held out
    high: float  # 97.5th percentile
    best: float  # share of the bootstrap's draws in which no other law has a smaller error
    predicted: Float[np.ndarray, " sizes"]  # times at all sizes


def resampled(times: Float[np.ndarray, "sizes seeds"]) -> Float[np.ndarray, "draws sizes"]:
    """Mean log times of DRAWS draws of seeds with replacement, each size by itself.

    Raises ValueError for a run that never emerged: its time is not known.
    """
    if not np.isfinite(times).all():
        raise ValueError("a size with a run that never emerged has no mean time")
    stream = np.random.default_rng(0)
    sizes, seeds = times.shape
    chosen = stream.integers(seeds, size=(DRAWS, sizes, seeds))
    return np.take_along_axis(np.log(times)[None], chosen, axis=2).mean(axis=2)


def local_slopes(sizes: Sizes, times: Float[np.ndarray, "sizes seeds"]) -> Slopes:
    """The power of the time between each size and the next, with a bootstrap over seeds.

    Sizes rise. Raises ValueError for fewer than two, or for a run that never emerged.
    """
    if len(sizes) < 2:
        raise ValueError(f"a slope needs two sizes, got {len(sizes)}")
    logs = np.log(np.asarray(sizes, dtype=float))
    drawn = np.diff(resampled(times), axis=1) / np.diff(logs)
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    slope = np.diff(np.log(times).mean(axis=1)) / np.diff(logs)
    return Slopes(np.exp((logs[1:] + logs[:-1]) / 2), slope, low, high)


def is_a_power(slopes: Slopes) -> bool:
    """Whether one power lies in the intervals of all local slopes; if not, quote none."""
    return bool(slopes.low.max() <= slopes.high.min())


def score_held_out(
    sizes: Sizes,
    times: Float[np.ndarray, "sizes seeds"],
    laws: Mapping[str, Float[np.ndarray, " sizes"] | None],
    seen: int,
) -> dict[str, Prediction]:
    """Fit each law to the smallest sizes, `seen` of them, and score it on the others.

    Sizes rise. A law is its shape at all sizes, known up to one factor, or None for c N^p with
    factor and power both fitted. Raises ValueError for nothing to fit, nothing held out, or a run
    that never emerged.
    """
    if not 1 <= seen < len(sizes):
        raise ValueError(f"of {len(sizes)} sizes {seen} cannot be fitted and the rest held out")
    at = np.log(np.asarray(sizes, dtype=float))
    truth = np.log(times).mean(axis=1)
    rows = np.concatenate([truth[None], resampled(times)])
    guesses = {name: _fitted(at, rows, shape, seen) for name, shape in laws.items()}
    errors = {name: np.abs(guess - rows)[:, seen:].max(axis=1) for name, guess in guesses.items()}
    least = np.min([error[1:] for error in errors.values()], axis=0)
    found = {}
    for name, error in errors.items():
        low, high = np.percentile(error[1:], [2.5, 97.5])
        best = float((error[1:] <= least).mean())
        found[name] = Prediction(
            float(error[0]), float(low), float(high), best, np.exp(guesses[name][0])
        )
    return found


def _fitted(
    at: Float[np.ndarray, " sizes"],
    rows: Float[np.ndarray, "draws sizes"],
    shape: Float[np.ndarray, " sizes"] | None,
    seen: int,
) -> Float[np.ndarray, "draws sizes"]:
    """The logarithm of a law, fitted by least squares to each row's first sizes."""
    if shape is not None:
        form = np.log(shape)
        return form + (rows[:, :seen] - form[:seen]).mean(axis=1, keepdims=True)
    centre = at[:seen].mean()
    known = at[:seen] - centre
    slope = rows[:, :seen] @ known / (known @ known)
    return rows[:, :seen].mean(axis=1, keepdims=True) + slope[:, None] * (at - centre)
