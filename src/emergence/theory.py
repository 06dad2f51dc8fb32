"""The reduced model of §6 and App. B: closed-form loss, gradient, gradient flow, emergence times.

alpha, beta, gamma stand for alpha_3, beta_2, gamma_3; inputs are orthonormal, the query asks for
the last pair, the mask is strict, and the loss is the squared norm summed over dimensions.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import LSODA, simpson, solve_ivp
from scipy.optimize import brentq

Query = Literal["last"]
Array = Float[np.ndarray, " times"]
# gamma relaxes in a time of N, the rest takes N^2: the flow is stiff, hence LSODA.
TOLERANCES = {"rtol": 1e-12, "atol": 1e-18}  # alpha begins at 1 / 2N^2


class Trajectory(NamedTuple):
    """A solution of the gradient flow from zero; t is flow time, at unit learning rate."""

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


def signal(alpha, beta, n_pairs):
    """s of App. B.3, the unnormalised attention of the query to the target label."""
    return np.exp(beta * retrieval(alpha, n_pairs))


def retrieval(alpha, n_pairs):
    """The attention of the last label to its item in layer 1, e^alpha / (e^alpha + 2N - 2)."""
    return 1 / (1 + (2 * n_pairs - 2) * np.exp(-np.asarray(alpha, dtype=float)))


def reduced_loss(alpha, beta, gamma, n_pairs):
    """The loss of App. B.3; floats or arrays that broadcast, ValueError for N < 1."""
    target, others = _attention(alpha, beta, n_pairs)
    norm = target**2 + (2 * n_pairs - 1) * others**2
    return _plain(np.asarray(gamma) ** 2 * norm - 2 * np.asarray(gamma) * target + 1)


def reduced_gradient(alpha, beta, gamma, n_pairs):
    """(dL/dalpha, dL/dbeta, dL/dgamma) of App. B.4; floats or arrays that broadcast."""
    target, others = _attention(alpha, beta, n_pairs)
    found = retrieval(alpha, n_pairs)
    gamma = np.asarray(gamma, dtype=float)
    # dL/dlog(s): with r = s + 2N - 1 and F = 2N - 1, s dL/ds = 2F (gamma^2 (s - 1)/r - gamma) s/r^2
    push = 2 * (2 * n_pairs - 1) * target * others * (gamma**2 * (target - others) - gamma)
    d_alpha = push * beta * found * (1 - found)
    d_beta = push * found
    d_gamma = 2 * gamma * (target**2 + (2 * n_pairs - 1) * others**2) - 2 * target
    return _plain(d_alpha), _plain(d_beta), _plain(d_gamma)


def gradient_flow(
    n_pairs: int,
    t_max: float,
    *,
    query: Query = "last",
    start: tuple[float, float, float] = (0.0, 0.0, 0.0),
    times: Array | None = None,
) -> Trajectory:
    """Integrate App. B.5 from `start` to flow time t_max, at `times` or where the solver stepped.

    Raises ValueError for N < 1, a negative t_max or an unknown query rule.
    """
    if t_max < 0:
        raise ValueError(f"the flow runs forward in time, got t_max = {t_max}")
    solution = _solve(n_pairs, (0.0, t_max), start, query, t_eval=times)
    return Trajectory(solution.t, *solution.y, reduced_loss(*solution.y, n_pairs))


def gradient_descent(n_pairs: int, learning_rate: float, steps: int) -> Trajectory:
    """Population gradient descent of the reduced model from zero; t is learning rate times step."""
    _check(n_pairs)
    values = np.zeros((steps + 1, 3))
    for step in range(steps):
        values[step + 1] = values[step] - learning_rate * np.array(
            reduced_gradient(*values[step], n_pairs)
        )
    return Trajectory(
        learning_rate * np.arange(steps + 1), *values.T, reduced_loss(*values.T, n_pairs)
    )


def emergence_times(
    n_pairs: int,
    *,
    query: Query = "last",
    threshold: float | tuple[float, float, float] = 0.5,
) -> EmergenceTimes:
    """Emergence times of Definitions 1 and 3, in flow time, to a relative error near 1e-9.

    `threshold` is one value for all or one each for alpha, beta, gamma. `collapse` is when the
    loss first is <= 1/2. A value never reached has time infinity.
    """
    levels = np.broadcast_to(np.asarray(threshold, dtype=float), 3)
    if not np.all(levels > 0):
        raise ValueError(f"a threshold must be positive, got {threshold}")

    def height(state):  # of alpha, beta, gamma and the negative loss above their levels
        return np.append(state - levels, 0.5 - reduced_loss(*state, n_pairs))

    # Everything happens within a few N^2 (Theorem 2); higher thresholds take exponentially longer.
    end = 10 * n_pairs**2 * np.exp(2 * max(0.5, levels.max())) + 10

    steps = _steps_until(lambda state: height(state).min() >= 0, n_pairs, end, query)
    times = [
        _first_crossing(*steps, lambda state, i=i: height(state)[i], n_pairs) for i in range(4)
    ]
    return EmergenceTimes(*times[:3], icl=max(times[:3]), collapse=times[3])


def first_integral(alpha, beta, n_pairs):
    """e^alpha - 1 + (2N - 2) alpha - (N - 1) beta^2, which is 0 along the flow from zero."""
    alpha, beta = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float)
    return _plain(np.expm1(alpha) + (2 * n_pairs - 2) * alpha - (n_pairs - 1) * beta**2)


def first_integral_drift(n_pairs: int, t_max: float) -> float:
    """What gradient descent makes of the first integral by time t_max, per unit learning rate.

    The second order of a step, half the Hessian of the integral at the velocity, summed along the
    flow; the first order vanishes.
    """
    flow = gradient_flow(n_pairs, t_max, times=np.linspace(0, t_max, 4001))
    d_alpha, d_beta, _ = reduced_gradient(flow.alpha, flow.beta, flow.gamma, n_pairs)
    second_order = np.exp(flow.alpha) * d_alpha**2 - 2 * (n_pairs - 1) * d_beta**2
    return float(simpson(second_order, x=flow.t) / 2)


def _attention(alpha, beta, n_pairs):
    """The query's attention in layer 2 to the target label and to each other position."""
    _check(n_pairs)
    exponent = np.asarray(beta) * retrieval(alpha, n_pairs)
    others = 1 / (np.exp(exponent) + 2 * n_pairs - 1)
    return 1 / (1 + (2 * n_pairs - 1) * np.exp(-exponent)), others


def _check(n_pairs):
    if np.any(np.asarray(n_pairs) < 1):
        raise ValueError(f"need at least one pair, got N = {n_pairs}")


def _plain(value):
    """A float for a scalar, the array itself otherwise."""
    return float(value) if np.ndim(value) == 0 else value


def _velocity(_t, state, n_pairs):
    return -np.array(reduced_gradient(*state, n_pairs))


def _solve(n_pairs, span, start, query, **options):
    _check_flow(n_pairs, query)
    solution = solve_ivp(
        _velocity, span, start, method="LSODA", args=(n_pairs,), **TOLERANCES, **options
    )
    if not solution.success:
        raise ArithmeticError(f"the gradient flow for N = {n_pairs} stopped: {solution.message}")
    return solution


def _steps_until(reached, n_pairs, end, query):
    """Times and states of the solver's own steps from zero, up to the first that is `reached`."""
    _check_flow(n_pairs, query)
    solver = LSODA(lambda t, y: _velocity(t, y, n_pairs), 0.0, np.zeros(3), end, **TOLERANCES)
    times, states = [0.0], [np.zeros(3)]
    while solver.status == "running" and not reached(states[-1]):
        message = solver.step()
        times.append(solver.t)
        states.append(solver.y.copy())
    if solver.status == "failed":
        raise ArithmeticError(f"the gradient flow for N = {n_pairs} stopped: {message}")
    return times, states


def _check_flow(n_pairs, query):
    _check(n_pairs)
    if query != "last":
        raise ValueError(f"query must be 'last', got {query!r}")


def _first_crossing(times, states, height, n_pairs):
    """When `height` first reaches 0, by integrating anew from the step before.

    The solver's interpolation would not do: at large N the loss collapses within a time of order
    1 after N^2, too steep for it.
    """
    after = next((i for i, state in enumerate(states) if height(state) >= 0), None)
    if after is None:
        return float("inf")
    start, width = states[after - 1], times[after] - times[after - 1]

    def above(wait):
        return height(_solve(n_pairs, (0.0, wait), start, "last").y[:, -1] if wait else start)

    if above(width) <= 0:  # but for rounding, the step ends where it crosses
        return float(times[after])
    return float(times[after - 1] + brentq(above, 0.0, width, xtol=1e-12 * times[after]))
