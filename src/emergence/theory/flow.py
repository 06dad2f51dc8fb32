"""Gradient flow and gradient descent in any landscape (App. B.5)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from .landscape import Landscape

Array = Float[np.ndarray, " times"]
State = tuple[float, float, float]
Velocity = Callable[[float, np.ndarray], list[float]]
ZERO: State = (0.0, 0.0, 0.0)
# gamma relaxes in a time of N, the rest takes N^2: the flow is stiff, hence LSODA.
TOLERANCES = {"rtol": 1e-12, "atol": 1e-18}  # alpha begins at 1 / 2N^2


class Rates(NamedTuple):
    """How fast each parameter goes down its slope: gradient flow has unit rates (App. B.5).

    Attributes:
        alpha: rate of alpha_3, >= 0; 0 holds the parameter at its start.
        beta: rate of beta_2.
        gamma: rate of gamma_3.
    """

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0


UNIT = Rates()


class Trajectory(NamedTuple):
    """A path down the loss (App. B.5), as arrays of one length.

    Attributes:
        t: flow time at unit learning rate; `theory.descent_in` counts updates instead.
        alpha: alpha_3 at these times.
        beta: beta_2.
        gamma: gamma_3.
        loss: the population loss, 1 at zero.
    """

    t: Array
    alpha: Array
    beta: Array
    gamma: Array
    loss: Array


def flow_in(
    landscape: Landscape,
    t_max: float,
    *,
    rates: Rates = UNIT,
    start: State = ZERO,
    times: Array | None = None,
) -> Trajectory:
    """The gradient flow of App. B.5 in any landscape, at any rates.

    Args:
        landscape: the loss and its gradient.
        t_max: flow time at which the path ends, >= 0.
        rates: factor of each parameter's speed, 1 unless given.
        start: alpha, beta, gamma at time 0, zero unless given.
        times: increasing flow times from 0 to t_max; None for where the solver stepped.

    Returns:
        The path in flow time at unit learning rate, integrated to a relative tolerance of 1e-12.

    Raises:
        ValueError: for a negative t_max or times outside.
        ArithmeticError: when the solver gives up.

    Example:
        >>> held = theory.Rates(alpha=0.0, beta=0.0)  # gamma relaxes to 1 alone
        >>> path = theory.flow_in(theory.landscape_of(4), 100.0, rates=held)
        >>> round(float(path.gamma[-1]), 6), float(path.alpha[-1])
        (1.0, 0.0)
    """
    if t_max < 0:
        raise ValueError(f"the flow runs forward in time, got t_max = {t_max}")
    solution = solve(velocity_in(landscape, rates), t_max, start, t_eval=times)
    losses = [landscape.loss(*state) for state in solution.y.T.tolist()]
    alpha, beta, gamma = solution.y
    return Trajectory(solution.t, alpha, beta, gamma, np.array(losses))


def descent_in(
    landscape: Landscape, steps: int, *, rates: Rates = UNIT, start: State = ZERO
) -> Trajectory:
    """Gradient descent on the population loss in any landscape, at any rates (App. B.5).

    Args:
        landscape: the loss and its gradient.
        steps: number of updates, >= 0.
        rates: learning rate of each parameter, 1 unless given.
        start: alpha, beta, gamma before the first update, zero unless given.

    Returns:
        The path of steps + 1 states, the last after all updates; t counts updates.

    Example:
        >>> path = theory.descent_in(theory.landscape_of(4), 2)
        >>> path.t.tolist(), round(float(path.gamma[1]), 6)  # 2/2N after one step
        ([0.0, 1.0, 2.0], 0.25)
    """
    velocity = velocity_in(landscape, rates)
    states = [np.array(start, dtype=float)]
    for _ in range(steps):
        states.append(states[-1] + np.array(velocity(0.0, states[-1])))
    losses = [landscape.loss(*state.tolist()) for state in states]
    alpha, beta, gamma = np.array(states).T
    return Trajectory(np.arange(steps + 1.0), alpha, beta, gamma, np.array(losses))


def velocity_in(landscape: Landscape, rates: Rates) -> Velocity:
    """The right-hand side of the flow."""

    def velocity(_t: float, state: np.ndarray) -> list[float]:
        slope = landscape.gradient(*state.tolist())
        return [-rate * part for rate, part in zip(rates, slope, strict=True)]

    return velocity


def solve(velocity: Velocity, t_max: float, start: Sequence[float], **options: Any) -> Any:
    solution = solve_ivp(velocity, (0.0, t_max), start, method="LSODA", **TOLERANCES, **options)
    if not solution.success:
        raise ArithmeticError(f"the gradient flow stopped: {solution.message}")
    return solution
