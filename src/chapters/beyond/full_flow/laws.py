"""The emergence times of the full model for many pairs: slow flows and their limits.

The output is fast: within a time of order N it has learned at which position to expect the answer.
What is left is a flow of alpha_3, beta_2 and gamma_3 on the clock t/N^2, driven by a force of order
log N. Chapter "The full model's own law" derives it.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from emergence.running.memo import kept
from emergence.tasks import Query
from emergence.theory import Crossing
from emergence.theory.laws import LogLaw, uniform_excess

Force = Callable[[float, float, float], tuple[float, float, float]]  # at alpha, beta, gamma


class SlowTimes(NamedTuple):
    """Flow times at unit learning rate at which the slow flow passes the threshold."""

    alpha: float
    beta: float


@kept
def slow_times(n_pairs: int, query: Query, threshold: float = 0.5) -> SlowTimes:
    """The emergence times by the slow flow, with its sums over N >= 2 pairs as they are.

    What they leave out falls like a power of N, not of log N. Takes a time of order N.
    """
    force = {"last": _last_force, "uniform": _uniform_force}[query](n_pairs)
    start = (0.0, 0.0, 1.0 if query == "last" else 0.5)
    return _passing(force, start, float(n_pairs**2), threshold)


@kept
def log_law(name: str, query: Query, threshold: float = 0.5) -> LogLaw:
    """The law T = N^2/log N (leading + next/log N) of T_alpha or T_beta in the full model.

    Raises ValueError for T_beta of the last pair, 4 N^2/log N: a power of N near -.2 comes before
    its next order at any size of use.
    """
    if name not in ("alpha", "beta") or (name, query) == ("beta", "last"):
        raise ValueError(f"there is no law for {name!r} with query = {query!r}")
    if query == "last":
        lost = quad(lambda a: math.exp(-a) * recency_excess(a), 0, threshold)[0]
        return LogLaw(-4 * math.expm1(-threshold), -4 * lost)

    def scaled(e: float) -> float:
        """The time over N^2/log N where 1/log N is e."""
        times = _passing(_uniform_limit_force(e), (0.0, 0.0, 0.5), 1.0, threshold)
        return times.alpha if name == "alpha" else times.beta

    # the flow is smooth in e through 0: a central difference of fourth order
    h = 2e-3
    slope = (8 * (scaled(h) - scaled(-h)) - (scaled(2 * h) - scaled(-2 * h))) / (12 * h)
    return LogLaw(uniform_leading(threshold if name == "beta" else math.sqrt(2 * threshold)), slope)


def uniform_leading(beta: float) -> float:
    """The time in N^2/log N at which beta_2 is there under uniform queries, for many pairs."""
    return 2 * quad(lambda x: math.exp(-x * x / 2) / math.sqrt(0.25 + x * x / 2), 0, beta)[0]


def quick_output(
    times: Float[np.ndarray, " times"], query: Query
) -> tuple[Float[np.ndarray, " times"], Float[np.ndarray, " times"]]:
    """gamma_3 (and gamma_2, its equal) and gamma_4 at times t/N of order one, for many pairs."""
    root = math.sqrt(2)
    fade, c, s = np.exp(-2 * times), np.cosh(root * times), np.sinh(root * times)
    if query == "last":
        return 1 - fade * (c + s / root), -1 + fade * (c + root * s)
    return 0.5 - fade * c / 2, fade * s / root


def quick_gamma(threshold: float = 0.5) -> float:
    """T_gamma/N for the last query and many pairs."""
    return brentq(lambda t: float(quick_output(np.array([t]), "last")[0][0]) - threshold, 0, 50)


def recency(alpha: float, n_pairs: int) -> float:
    """How recency drives alpha_3, near log N: the sum over k of 4k (2k + 1)/(2k + e^alpha)^3."""
    twice = 2.0 * np.arange(1, n_pairs)
    return float(2 * np.sum(twice * (twice + 1) / (twice + math.exp(alpha)) ** 3))


def recency_excess(alpha: float) -> float:
    """What `recency` is beyond log N for N to infinity, by polygamma functions."""
    if alpha > 12:  # the sum is an integral by then, but for e^-alpha
        return math.log(2) - 1.5 - alpha
    e = math.exp(alpha)
    z = 1 + e / 2
    first, second = float(polygamma(1, z)), float(polygamma(2, z))
    return -float(digamma(z)) - (e - 0.5) * first - e * (e - 1) / 8 * second


def _last_force(n_pairs: int) -> Force:
    def force(alpha, beta, gamma):
        grown = math.exp(alpha) / 4
        return grown * (recency(alpha, n_pairs) + 2 * gamma * beta), 2 * gamma * grown, grown * beta

    return force


def _uniform_force(n_pairs: int) -> Force:
    twice = 2.0 * np.arange(n_pairs)

    def force(alpha, beta, gamma):
        own = 1 / (1 + twice * math.exp(-alpha))
        raised = np.exp(beta * own)
        by_alpha = 2 * beta * float(np.sum(own * (1 - own) * raised))
        by_beta = 2 * float(np.sum(own * raised)) - 1
        value = 2 * float(np.sum(np.expm1(beta * own))) - beta
        return gamma * by_alpha / 2, gamma * by_beta / 2, value / 4

    return force


def _uniform_limit_force(e: float) -> Force:
    """For log N = 1/e, on the clock t log N/N^2."""

    def force(alpha, beta, gamma):
        half = math.exp(alpha) / 2
        by_beta, by_alpha = (half + e * excess for excess in uniform_excess(half, beta))
        value = beta * half + e * quad(lambda b: uniform_excess(half, b)[0], 0, beta)[0]
        return gamma * beta * by_alpha, gamma * by_beta, value / 2

    return force


def _passing(force: Force, start: tuple[float, ...], unit: float, threshold: float) -> SlowTimes:
    """When a flow in time t/unit passes the threshold, until both parameters have."""
    emergences = [Crossing((which,), threshold, False) for which in (0, 1)]
    path = solve_ivp(
        lambda _t, state: force(*state.tolist()), (0.0, 1e3), start,
        events=[*emergences, Crossing((0, 1), threshold, True)],
        rtol=1e-10, atol=1e-12, method="DOP853",
    )  # fmt: skip
    alpha, beta = (unit * float(path.t_events[i][0]) for i in (0, 1))
    return SlowTimes(alpha, beta)
