"""Landscapes, a loss with its gradient: flow, descent and emergence times in them (App. B.5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import LSODA, solve_ivp
from scipy.optimize import brentq

from emergence.running.memo import kept

Array = Float[np.ndarray, " times"]
State = tuple[float, float, float]
Point = Sequence[float] | Float[np.ndarray, " parameters"]
Velocity = Callable[[float, np.ndarray], list[float]]
# gamma relaxes in a time of N, the rest takes N^2: the flow is stiff, hence LSODA.
TOLERANCES = {"rtol": 1e-12, "atol": 1e-18}  # alpha begins at 1 / 2N^2


class Landscape(NamedTuple):
    """A loss with its gradient, which a flow descends (App. B.3, B.4).

    Attributes:
        loss: the loss at alpha_3, beta_2, gamma_3, or at all 19 in the order of `subspace.NAMES`.
        gradient: its derivatives with respect to these parameters.
        pairs: places N in the context; emergence takes a few times its square.
        groups: how many of the parameters belong to layer 1, layer 2 and the output.
        head: places of alpha_3, beta_2 and gamma_3 in a point.
    """

    loss: Callable[..., float]
    gradient: Callable[..., tuple[float, ...]]
    pairs: int
    groups: tuple[int, int, int] = (1, 1, 1)
    head: tuple[int, int, int] = (0, 1, 2)


class Rates(NamedTuple):
    """How fast each parameter descends; gradient flow has unit rates (App. B.5).

    Attributes:
        alpha: rate of alpha_3, >= 0, or of all of layer 1; 0 keeps a parameter where it begins.
        beta: rate of beta_2, or of all of layer 2.
        gamma: rate of gamma_3, or of the whole output.
    """

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0


#: Unit rates, those of gradient flow.
UNIT = Rates()


class Crossing(NamedTuple):
    """An event for SciPy's solvers: all of these components of the state reach a level (App. B.5).

    Attributes:
        places: the places of the components in the state, at least one.
        level: the level that the least of them must reach.
        terminal: whether the solver stops there.
    """

    places: tuple[int, ...]
    level: float
    terminal: bool  # whether the solver stops here

    def __call__(self, _t: float, state: Sequence[float] | np.ndarray) -> float:
        return float(min(state[place] for place in self.places)) - self.level


@dataclass(frozen=True)
class Trajectory:
    """A path down the loss (App. B.5), as arrays of one length.

    Attributes:
        t: flow time at unit learning rate; `theory.descent_in` counts updates instead.
        alpha: alpha_3 at these times.
        beta: beta_2.
        gamma: gamma_3.
        loss: the population loss, 1 at zero.
        points: all parameters of the landscape at these times, a row a time.
    """

    t: Array
    alpha: Array
    beta: Array
    gamma: Array
    loss: Array
    points: Float[np.ndarray, "times parameters"]

    @classmethod
    def through(cls, landscape: Landscape, t: Array, points: np.ndarray) -> "Trajectory":
        """The path through these points, with the loss at each."""
        alpha, beta, gamma = points[:, list(landscape.head)].T
        losses = np.array([landscape.loss(*point) for point in points.tolist()])
        return cls(t, alpha, beta, gamma, losses, points)


@kept
def flow_in(
    landscape: Landscape,
    t_max: float,
    *,
    rates: Rates | Point = UNIT,
    start: Point | None = None,
    times: Array | None = None,
) -> Trajectory:
    """The gradient flow of App. B.5 in any landscape, at any rates.

    Args:
        landscape, rates, start: as `times_in` takes them.
        t_max: flow time at which the path ends, >= 0.
        times: increasing flow times from 0 to t_max, or None for the steps of the solver.

    Returns:
        The path in flow time at unit learning rate, integrated to a relative tolerance of `1e-12`.

    Raises:
        ValueError: if t_max is negative or a time lies outside.
        ArithmeticError: if the solver fails.
    """
    if t_max < 0:
        raise ValueError(f"the flow runs forward in time, got t_max = {t_max}")
    begin = begin_in(landscape, start)
    solution = solve(velocity_in(landscape, rates), t_max, begin, t_eval=times)
    return Trajectory.through(landscape, solution.t, solution.y.T)


def descent_in(
    landscape: Landscape,
    steps: int,
    *,
    rates: Rates | Point = UNIT,
    start: Point | None = None,
) -> Trajectory:
    """Gradient descent on the population loss in any landscape, at any rates (App. B.5).

    Args:
        landscape, start: as `times_in` takes them.
        steps: number of updates, >= 0.
        rates: the learning rate of each layer's parameters or of each parameter, 1 unless given.

    Returns:
        The path of steps + 1 states, the last after all updates; t counts updates.
    """
    velocity = velocity_in(landscape, rates)
    points = [np.array(begin_in(landscape, start))]
    for _ in range(steps):
        points.append(points[-1] + np.array(velocity(0.0, points[-1])))
    return Trajectory.through(landscape, np.arange(steps + 1.0), np.array(points))


def velocity_in(landscape: Landscape, rates: Rates | Point) -> Velocity:
    """The right-hand side of the flow."""
    each = rate_of_each(landscape, rates)

    def velocity(_t: float, state: np.ndarray) -> list[float]:
        slope = landscape.gradient(*state.tolist())
        return [-rate * part for rate, part in zip(each, slope, strict=True)]

    return velocity


def rate_of_each(landscape: Landscape, rates: Rates | Point) -> list[float]:
    """The rate of every parameter, from one per layer or per parameter; else a ValueError."""
    each = np.repeat(rates, landscape.groups).tolist() if len(rates) == 3 else list(rates)
    if len(each) != sum(landscape.groups):
        raise ValueError(f"need 3 rates or {sum(landscape.groups)}, got {len(each)}")
    return each


def begin_in(landscape: Landscape, start: Point | None) -> list[float]:
    """The first point of a path, zero unless given."""
    return [0.0] * sum(landscape.groups) if start is None else [float(part) for part in start]


def solve(velocity: Velocity, t_max: float, start: Sequence[float], **options: Any) -> Any:
    solution = solve_ivp(velocity, (0.0, t_max), start, method="LSODA", **TOLERANCES, **options)
    if not solution.success:
        raise ArithmeticError(f"the gradient flow stopped: {solution.message}")
    return solution


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
