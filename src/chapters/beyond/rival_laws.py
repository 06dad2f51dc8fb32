"""Laws that others found for when attention emerges, in their systems and in ours."""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from emergence import theory
from emergence.theory import Landscape, Rates, contexts

SATURATED = 40.0  # layer 1 given: e^40 outweighs any context


def sparse_attention_time(length: int, dim: int, level: float = 0.5) -> float:
    """When the score of the right place passes a level, in the two equations of Zucchet et al.

    One softmax over `length` places, one of which is right, and a map in `dim` dimensions:
    w' = a (sqrt d - a w) / d and, for the score s, s' = a (1 - a) w (sqrt d - a w) / d with
    a = e^s / (e^s + length - 1), from zero. In their units of time; infinity for never.
    """

    def velocity(_t: Any, state: np.ndarray) -> list[float]:
        aligned, score = state
        share = 1 / (1 + (length - 1) * np.exp(-score))
        error = (dim**0.5 - share * aligned) / dim
        return [share * error, share * (1 - share) * aligned * error]

    def reached(_t: Any, state: Any) -> float:
        return float(state[1] - level)

    reached.terminal = True  # type: ignore[attr-defined]
    path = solve_ivp(
        velocity, (0.0, 500.0 * length * dim**0.5), (0.0, 0.0),
        events=reached, rtol=1e-10, atol=1e-12, method="LSODA",
    )  # fmt: skip
    return float(path.t_events[0][0]) if len(path.t_events[0]) else np.inf


def one_step_time(landscape: Landscape, dim: int) -> float:
    """When beta emerges with layer 1 given and an output that learns at the rate 1/dim.

    Times two: their loss is half of the squared error.
    """
    times = theory.times_in(
        landscape, end=100.0 * landscape.pairs * dim**0.5 + 100,
        rates=Rates(0.0, 1.0, 1 / dim), start=(SATURATED, 0.0, 0.0),
    )  # fmt: skip
    return 2 * times.beta


def whole_head_time(n_pairs: int, dim: int) -> float:
    """When alpha emerges with nothing given and an output that learns at the rate 1/dim."""
    end = 200.0 * n_pairs**1.5 * dim**0.5 + 20 * n_pairs**2
    return theory.times_in(
        theory.landscape_of(n_pairs), end=end, rates=Rates(1.0, 1.0, 1 / dim)
    ).alpha


def copied(n_places: int, copies: int) -> Landscape:
    """N places filled with N / copies pairs in turn, the last of them asked for."""
    distinct = n_places // copies
    return contexts.landscape(np.tile(np.arange(distinct), copies), distinct - 1)


def power(sizes: Any, values: Any) -> float:
    """The fitted power of values in sizes."""
    return float(np.polyfit(np.log(np.asarray(sizes)), np.log(np.asarray(values)), 1)[0])
