"""The times at which parameters emerge on the gradient flow in any landscape (Definitions 1, 3)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import LSODA
from scipy.optimize import brentq

from ._flow import (
    TOLERANCES,
    UNIT,
    Landscape,
    Point,
    Rates,
    State,
    Velocity,
    begin_in,
    rate_of_each,
    solve,
    velocity_in,
)

HORIZON = 10  # in units of N^2: all that emerges does within a few (Theorem 2)
Heights = Callable[[list[float]], list[float]]  # above their levels, from a state


class EmergenceTimes(NamedTuple):
    """The flow times at which parameters emerge (Definitions 1 and 3); infinity if never.

    Attributes:
        alpha: flow time at unit learning rate at which alpha_3 reaches its threshold.
        beta: the same for beta_2.
        gamma: the same for gamma_3.
        icl: the last of these times, the emergence of in-context learning.
        collapse: flow time at which the loss is at most 1/2.
    """

    alpha: float
    beta: float
    gamma: float
    icl: float
    collapse: float


def times_in(
    landscape: Landscape,
    *,
    rates: Rates | Point = UNIT,
    start: Point | None = None,
    threshold: float | State = 0.5,
    low_loss: float = 0.5,
    end: float | None = None,
) -> EmergenceTimes:
    """Emergence times (Definitions 1 and 3) in any landscape, at any rates.

    Args:
        landscape: the loss and its gradient.
        rates: the rate of each layer's parameters or of each parameter, 1 unless given. The time of
            a parameter with rate 0 is 0 or infinity, and `icl` is the last of the others.
        start: the parameters at time 0, zero unless given.
        threshold: > 0, one value for all or one each for alpha, beta, gamma.
        low_loss: the loss at which it has collapsed, between 0 and 1.
        end: flow time after which nothing counts as reached; None for a long multiple of N^2.

    Returns:
        Flow times with a relative error near `1e-9`; infinity if a value is never reached.

    Raises:
        ValueError: if a threshold is not positive.
        ArithmeticError: if the solver fails.
    """
    levels = np.broadcast_to(np.asarray(threshold, dtype=float), 3).tolist()
    if not min(levels) > 0:
        raise ValueError(f"a threshold must be positive, got {threshold}")
    each = rate_of_each(landscape, rates)
    free = [i for i, place in enumerate(landscape.head) if each[place]]

    def heights(state: list[float]) -> list[float]:
        """How far alpha, beta, gamma and the negative loss are above their levels."""
        head = [state[place] for place in landscape.head]
        above = [value - level for value, level in zip(head, levels, strict=True)]
        return [*above, low_loss - landscape.loss(*state)]

    def done(heights: list[float]) -> bool:
        return min(heights[3], *(heights[i] for i in free)) >= 0

    # Higher thresholds take exponentially longer.
    end = end or HORIZON * landscape.pairs**2 * np.exp(2 * max(0.5, *levels)) + 10
    velocity = velocity_in(landscape, rates)
    steps = _steps(velocity, begin_in(landscape, start), end, heights, done)
    times = [_first_crossing(steps, i, heights, velocity) for i in range(4)]
    alpha, beta, gamma, collapse = times
    return EmergenceTimes(alpha, beta, gamma, icl=max(times[i] for i in free), collapse=collapse)


class _Step(NamedTuple):
    t: float
    state: list[float]
    heights: list[float]


def _steps(
    velocity: Velocity,
    start: list[float],
    end: float,
    heights: Heights,
    done: Callable[[list[float]], bool],
) -> list[_Step]:
    """The solver's own steps from `start`, up to the first at which all is done."""
    solver = LSODA(velocity, 0.0, np.array(start), end, **TOLERANCES)
    steps = [_Step(0.0, start, heights(start))]
    while solver.status == "running" and not done(steps[-1].heights):
        message = solver.step()
        state = solver.y.tolist()
        steps.append(_Step(float(solver.t), state, heights(state)))
    if solver.status == "failed":
        raise ArithmeticError(f"the gradient flow stopped: {message}")
    return steps


def _first_crossing(steps: list[_Step], which: int, heights: Heights, velocity: Velocity) -> float:
    """When a height first reaches 0, by integrating anew from the step before."""
    # The solver's interpolation would not do: at large N the loss collapses within a time of order
    # 1 after N^2, too steep for it.
    after = next((i for i, step in enumerate(steps) if step.heights[which] >= 0), None)
    if not after:  # never, or from the start
        return float("inf") if after is None else 0.0
    before, width = steps[after - 1], steps[after].t - steps[after - 1].t

    def above(wait: float) -> float:
        if not wait:
            return before.heights[which]
        return heights(solve(velocity, wait, before.state).y[:, -1].tolist())[which]

    if above(width) <= 0:  # but for rounding, the step ends where it crosses
        return steps[after].t
    return float(before.t + brentq(above, 0.0, width, xtol=1e-12 * steps[after].t))
