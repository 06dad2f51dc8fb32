"""Gradient flow and descent in a landscape, and the times at which parameters emerge."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import LSODA, solve_ivp
from scipy.optimize import brentq

from . import reduced, uniform
from .landscape import Landscape

Query = Literal["last", "uniform"]
LOSSES = {"last": reduced.landscape, "uniform": uniform.landscape}
Array = Float[np.ndarray, " times"]
State = tuple[float, float, float]
ZERO: State = (0.0, 0.0, 0.0)
# gamma relaxes in a time of N, the rest takes N^2: the flow is stiff, hence LSODA.
TOLERANCES = {"rtol": 1e-12, "atol": 1e-18}  # alpha begins at 1 / 2N^2


class Rates(NamedTuple):
    """How fast each parameter goes down its slope; zero for one that is held at its start."""

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0


UNIT = Rates()


class Trajectory(NamedTuple):
    """A path down the loss; t is flow time at unit learning rate, or counts updates."""

    t: Array
    alpha: Array
    beta: Array
    gamma: Array
    loss: Array


class EmergenceTimes(NamedTuple):
    """First flow times at which a parameter is at its threshold, all are, the loss is 1/2."""

    alpha: float
    beta: float
    gamma: float
    icl: float
    collapse: float


def gradient_flow(
    n_pairs: int,
    t_max: float,
    *,
    query: Query = "last",
    start: State = ZERO,
    times: Array | None = None,
) -> Trajectory:
    """Integrate App. B.5 from `start` to flow time t_max, at `times` or where the solver stepped.

    Raises ValueError for N < 1, a negative t_max or an unknown query rule.
    """
    return flow_in(landscape_of(n_pairs, query), t_max, start=start, times=times)


def gradient_descent(
    n_pairs: int, learning_rate: float, steps: int, *, query: Query = "last"
) -> Trajectory:
    """Population gradient descent of the reduced model from zero; t is learning rate times step."""
    rates = Rates(learning_rate, learning_rate, learning_rate)
    path = descent_in(landscape_of(n_pairs, query), steps, rates=rates)
    return path._replace(t=learning_rate * path.t)


def emergence_times(
    n_pairs: int, *, query: Query = "last", threshold: float | State = 0.5
) -> EmergenceTimes:
    """Emergence times of Definitions 1 and 3, in flow time, to a relative error near 1e-9.

    `threshold` is one value for all or one each for alpha, beta, gamma. `collapse` is when the
    loss first is <= 1/2. A value never reached has time infinity.
    """
    return times_in(landscape_of(n_pairs, query), threshold=threshold)


def landscape_of(n_pairs: int, query: Query = "last") -> Landscape:
    """The population loss on orthonormal inputs; ValueError for N < 1 or another query rule."""
    if query not in LOSSES:
        raise ValueError(f"query must be one of {tuple(LOSSES)}, got {query!r}")
    return LOSSES[query](n_pairs)


def flow_in(
    landscape: Landscape,
    t_max: float,
    *,
    rates: Rates = UNIT,
    start: State = ZERO,
    times: Array | None = None,
) -> Trajectory:
    """`gradient_flow` in any landscape, at any rates."""
    if t_max < 0:
        raise ValueError(f"the flow runs forward in time, got t_max = {t_max}")
    solution = _solve(_velocity(landscape, rates), t_max, start, t_eval=times)
    losses = [landscape.loss(*state) for state in solution.y.T.tolist()]
    return Trajectory(solution.t, *solution.y, np.array(losses))


def descent_in(
    landscape: Landscape, steps: int, *, rates: Rates = UNIT, start: State = ZERO
) -> Trajectory:
    """Gradient descent in steps of the rates; t counts updates, and the last state is after all."""
    velocity = _velocity(landscape, rates)
    states = [np.array(start, dtype=float)]
    for _ in range(steps):
        states.append(states[-1] + np.array(velocity(0.0, states[-1])))
    losses = [landscape.loss(*state.tolist()) for state in states]
    return Trajectory(np.arange(steps + 1.0), *np.array(states).T, np.array(losses))


def times_in(
    landscape: Landscape,
    *,
    rates: Rates = UNIT,
    start: State = ZERO,
    threshold: float | State = 0.5,
    low_loss: float = 0.5,
    end: float | None = None,
) -> EmergenceTimes:
    """`emergence_times` in any landscape, at any rates; `collapse` is at a loss of `low_loss`.

    A parameter with rate zero stays at its start: its time is 0 or infinity, and `icl` is the
    last of the others. What is not reached by flow time `end` counts as never reached.
    """
    levels = np.broadcast_to(np.asarray(threshold, dtype=float), 3).tolist()
    if not min(levels) > 0:
        raise ValueError(f"a threshold must be positive, got {threshold}")
    free = [i for i in range(3) if rates[i]]

    def heights(state: list[float]) -> list[float]:
        """Of alpha, beta, gamma and the negative loss above their levels."""
        above = [value - level for value, level in zip(state, levels, strict=True)]
        return [*above, low_loss - landscape.loss(*state)]

    def done(heights: list[float]) -> bool:
        return min(heights[3], *(heights[i] for i in free)) >= 0

    # Everything happens within a few N^2 (Theorem 2); higher thresholds take exponentially longer.
    end = end or 10 * landscape.pairs**2 * np.exp(2 * max(0.5, *levels)) + 10
    velocity = _velocity(landscape, rates)
    steps = _steps(velocity, start, end, heights, done)
    times = [_first_crossing(steps, i, heights, velocity) for i in range(4)]
    return EmergenceTimes(*times[:3], icl=max(times[i] for i in free), collapse=times[3])


class _Step(NamedTuple):
    """Where the solver stopped."""

    t: float
    state: list[float]
    heights: list[float]


def _velocity(landscape: Landscape, rates: Rates) -> Callable:
    """The right-hand side of the flow."""

    def velocity(_t: float, state: np.ndarray) -> list[float]:
        slope = landscape.gradient(*state.tolist())
        return [-rate * part for rate, part in zip(rates, slope, strict=True)]

    return velocity


def _solve(velocity: Callable, t_max: float, start, **options):
    solution = solve_ivp(velocity, (0.0, t_max), start, method="LSODA", **TOLERANCES, **options)
    if not solution.success:
        raise ArithmeticError(f"the gradient flow stopped: {solution.message}")
    return solution


def _steps(velocity: Callable, start: State, end: float, heights, done) -> list[_Step]:
    """The solver's own steps from `start`, up to the first at which all is done."""
    solver = LSODA(velocity, 0.0, np.array(start, dtype=float), end, **TOLERANCES)
    steps = [_Step(0.0, list(start), heights(list(start)))]
    while solver.status == "running" and not done(steps[-1].heights):
        message = solver.step()
        state = solver.y.tolist()
        steps.append(_Step(float(solver.t), state, heights(state)))
    if solver.status == "failed":
        raise ArithmeticError(f"the gradient flow stopped: {message}")
    return steps


def _first_crossing(steps: list[_Step], which: int, heights, velocity: Callable) -> float:
    """When a height first reaches 0, by integrating anew from the step before.

    The solver's interpolation would not do: at large N the loss collapses within a time of order
    1 after N^2, too steep for it.
    """
    after = next((i for i, step in enumerate(steps) if step.heights[which] >= 0), None)
    if not after:  # never, or from the start
        return float("inf") if after is None else 0.0
    before, width = steps[after - 1], steps[after].t - steps[after - 1].t

    def above(wait: float) -> float:
        if not wait:
            return before.heights[which]
        return heights(_solve(velocity, wait, before.state).y[:, -1].tolist())[which]

    if above(width) <= 0:  # but for rounding, the step ends where it crosses
        return steps[after].t
    return float(before.t + brentq(above, 0.0, width, xtol=1e-12 * steps[after].t))
