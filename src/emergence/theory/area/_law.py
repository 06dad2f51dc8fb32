"""The area under gamma at which alpha and beta emerge, by two flows and by integration."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from emergence.running.memo import kept

from .._flow import UNIT, Crossing, Landscape, Point, Rates, Velocity, velocity_in
from .._times import HORIZON

SMALL = 1e-3  # a gamma at which every loss is a parabola in gamma
TOLERANCES = {"rtol": 1e-10, "atol": 1e-14}


class AreaTimes(NamedTuple):
    """When alpha and beta emerge, on two clocks; infinity if they never do (this book).

    Attributes:
        alpha: flow time at which alpha_3 reaches its threshold.
        beta: flow time at which beta_2 does.
        alpha_area: the integral of gamma_3 over flow time up to then.
        beta_area: the same for beta_2.
    """

    alpha: float
    beta: float
    alpha_area: float
    beta_area: float


def climb(landscape: Landscape, alpha: float, beta: float) -> Float[np.ndarray, " 2"]:
    """The gradient that drives alpha and beta, divided by gamma where gamma is small (this book).

    Args:
        landscape: the loss of alpha_3, beta_2 and gamma_3.
        alpha, beta: alpha_3 and beta_2, any.

    Returns:
        The odd part in gamma of the negative gradient with respect to alpha and beta, over gamma.
    """
    # for the squared error the gradient of twice the attention to the answer, at any gamma
    up, down = (landscape.gradient(alpha, beta, gamma) for gamma in (SMALL, -SMALL))
    return (np.array(down[:2]) - np.array(up[:2])) / (2 * SMALL)


@kept
def area_times(
    landscape: Landscape, *, rates: Rates = UNIT, threshold: float = 0.5, settled: bool = False
) -> AreaTimes:
    """The times and areas of the area law, from two independent flows (this book).

    Args:
        landscape: the loss of alpha_3, beta_2 and gamma_3 on any data, squared or not.
        rates: the rate of each parameter, all > 0.
        threshold: the threshold of alpha_3 and beta_2, > 0.
        settled: whether gamma is its limit R/S, for the squared error: R is the attention to the
            answer, and S the sum of the squares of the attention.

    Returns:
        The areas, and the times, which neglect how attention changes until then.

    Raises:
        ValueError: if the landscape has other parameters, or a rate or threshold is not positive.
        ArithmeticError: if the solver fails.
    """
    if landscape.groups != (1, 1, 1):
        raise ValueError(f"the law is one of three parameters, not of {sum(landscape.groups)}")
    if min(*rates, threshold) <= 0:
        raise ValueError(f"rates and threshold must be positive, got {rates} and {threshold}")

    def velocity(_area: float, state: np.ndarray) -> list[float]:
        push = (_settled_climb if settled else climb)(landscape, *state.tolist())
        return [rates.alpha * float(push[0]), rates.beta * float(push[1])]

    # Under a gamma near 1 the area grows like time, of which `times_in` lets HORIZON pass; twice
    # that is enough for a gamma up to 2.
    end = 2 * HORIZON * landscape.pairs**2 * math.exp(2 * max(0.5, threshold)) / min(rates[:2])
    areas, _ = _crossings(velocity, [0.0, 0.0], (0, 1), threshold, end)
    return AreaTimes(*(clock(landscape, rates.gamma, area) for area in areas), *areas)


def _settled_climb(landscape: Landscape, alpha: float, beta: float) -> Float[np.ndarray, " 2"]:
    """The same as `climb` where gamma is R/S, to which it tends."""
    at_zero, at_one = (landscape.gradient(alpha, beta, gamma)[2] for gamma in (0.0, 1.0))
    gamma = at_zero / (at_zero - at_one)
    return -np.array(landscape.gradient(alpha, beta, gamma)[:2]) / gamma


def clock(landscape: Landscape, rate: float, area: float) -> float:
    """The time at which the integral of gamma has a value, if attention stays even (this book).

    Args:
        landscape: the loss of alpha_3, beta_2 and gamma_3.
        rate: the rate of gamma, > 0.
        area: the integral of gamma_3 over flow time, >= 0; may be infinite.

    Returns:
        The flow time.

    Raises:
        ValueError: if the area is negative.
        ArithmeticError: if the solver fails.
    """
    if area < 0:
        raise ValueError(f"an area is not negative while gamma rises from zero, got {area}")
    if area in (0, math.inf):
        return area

    # for the squared error, t - (N/rate) (1 - e^(-rate t/N)) = area
    def velocity(_t: float, state: np.ndarray) -> list[float]:
        gamma, _ = state.tolist()
        return [-rate * landscape.gradient(0.0, 0.0, gamma)[2], gamma]

    # gamma takes a time of N over its rate, at which it is of order one or more
    end = 100 * (area + landscape.pairs / rate)
    (time,), _ = _crossings(velocity, [0.0, 0.0], (1,), area, end)
    return time


@kept
def swept(
    landscape: Landscape,
    end: float,
    *,
    rates: Rates | Point = UNIT,
    threshold: float = 0.5,
    relative: float = 1e-10,
) -> AreaTimes:
    """The times and areas of the flow itself, of three parameters or of nineteen (this book).

    Args:
        landscape, rates: as `theory.times_in` takes them.
        end: flow time after which nothing counts as reached, > 0.
        threshold: the threshold of alpha_3 and beta_2, > 0.
        relative: the solver's relative tolerance.

    Returns:
        The times of the flow, with the integral of gamma_3 along it.

    Raises:
        ArithmeticError: if the solver fails.
    """
    descend = velocity_in(landscape, rates)
    alpha, beta, gamma = landscape.head

    def velocity(t: float, state: np.ndarray) -> list[float]:
        return [*descend(t, state[:-1]), float(state[gamma])]

    start = [0.0] * (sum(landscape.groups) + 1)
    times, states = _crossings(velocity, start, (alpha, beta), threshold, end, relative)
    areas = (float(state[-1]) if len(state) else math.inf for state in states)
    return AreaTimes(*times, *areas)


def _crossings(
    velocity: Velocity,
    start: list[float],
    places: tuple[int, ...],
    level: float,
    end: float,
    relative: float = TOLERANCES["rtol"],
) -> tuple[list[float], list[np.ndarray]]:
    """When each component first reaches the level, and the states then; infinity for never."""
    events = [Crossing((place,), level, terminal=False) for place in places]
    run = solve_ivp(
        velocity, (0.0, end), np.array(start), method="LSODA",
        rtol=relative, atol=TOLERANCES["atol"],
        events=[*events, Crossing(places, level, terminal=True)],
    )  # fmt: skip
    if not run.success:
        raise ArithmeticError(f"the flow stopped: {run.message}")
    reached_at = zip(run.t_events[:-1], run.y_events[:-1], strict=True)
    pairs = [(float(t[0]), y[0]) if len(t) else (math.inf, np.array([])) for t, y in reached_at]
    return [time for time, _ in pairs], [state for _, state in pairs]
