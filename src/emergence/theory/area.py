"""One law for the emergence of alpha and beta, an area under gamma (chapter One area law)."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.integrate import solve_ivp

from emergence.running.memo import kept

from ._flow import HORIZON, UNIT, Crossing, Landscape, Point, Rates, Velocity, velocity_in

__all__ = ["TOLERANCES", "AreaTimes", "area_times", "climb", "clock", "expected_loss", "swept"]

SMALL = 1e-3  # a gamma at which every loss is a parabola in gamma
TOLERANCES = {"rtol": 1e-10, "atol": 1e-14}


def expected_loss(
    order: Int[np.ndarray, " places"], chances: Float[np.ndarray, " distinct"]
) -> Landscape:
    """The mean loss when the query asks for pair q with probability `chances[q]` (this book).

    Args:
        order: the pair at each of the N places; repeated pairs have equal items and labels.
        chances: the probability of each pair 0 .. K - 1, >= 0 with a sum of 1; 0 if not in `order`.

    Returns:
        The squared error on orthonormal inputs with its gradient, as in App. B.3.

    Raises:
        ValueError: if the probabilities are invalid or refer to a pair outside the context.
    """
    if np.min(chances) < 0 or not math.isclose(np.sum(chances), 1):
        raise ValueError("chances must not be negative and have a sum of 1")
    # all queries at once, with one attention matrix whose rows are the queries
    wanted = np.flatnonzero(chances)
    if missing := set(wanted.tolist()) - set(order.tolist()):
        raise ValueError(f"pair {min(missing)} is not in the context")
    chance = chances[wanted]
    n, count = len(order), len(chances)
    place = 2.0 * np.arange(n)
    held = (order == wanted[:, None]).astype(float)  # whether the place has the pair asked for
    before = np.cumsum(held, axis=1) - held  # its copies at earlier places
    item = np.divide(before, place, out=np.zeros_like(before), where=place > 0)
    content = np.concatenate([order, order + count])  # of each row: items, then labels
    once = len(set(order.tolist())) == n
    says = np.eye(2 * count)[content]
    goal = np.eye(2 * count)[wanted + count]

    def forward(alpha, beta, gamma):
        """Shares of the queried item, the attention, the contents found, and the error."""
        shrunk = math.exp(-alpha)
        label = (before * shrunk + held) / (place * shrunk + 1)
        shares = np.concatenate([item, label], axis=1)
        attention = np.exp(beta * (shares - shares.max(axis=1, keepdims=True)))
        attention /= attention.sum(axis=1, keepdims=True)
        answer = attention[:, np.argsort(content)] if once else attention @ says
        return shares, attention, answer, gamma * answer - goal

    def loss(alpha, beta, gamma):
        error = forward(alpha, beta, gamma)[-1]
        return float(chance @ (error**2).sum(axis=1))

    def gradient(alpha, beta, gamma):
        shares, attention, answer, error = forward(alpha, beta, gamma)
        slope = (error * answer).sum(axis=1)
        by_score = 2 * gamma * attention * (error[:, content] - slope[:, None])
        shrunk = math.exp(-alpha)
        by_alpha = shrunk * (held * place - before) / (place * shrunk + 1) ** 2
        return (
            beta * float(chance @ (by_score[:, n:] * by_alpha).sum(axis=1)),
            float(chance @ (by_score * shares).sum(axis=1)),
            2 * float(chance @ slope),
        )

    return Landscape(loss, gradient, n)


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
