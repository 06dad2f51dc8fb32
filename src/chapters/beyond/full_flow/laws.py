"""The emergence times of the full model for many pairs: slow flows and their limits.

The output is fast: within a time of order N it has learned at which position to expect the answer.
What is left is a flow of alpha_3, beta_2 and gamma_3 on the clock t/N^2, driven by a force of order
log N. Chapter "The full model's own law" derives it, and its steps stand here as residuals that
must vanish: e stands for e^alpha_3, m for the number of rows, s and t for rows of the context.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import sympy as sp
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


E, K, N, M = sp.symbols("e k N m", positive=True)
T, B, G = sp.symbols("t b g", positive=True)


def recency_residuals() -> dict[str, sp.Expr]:
    """How the query for the last pair drives alpha_3 when beta is zero."""
    label = 1 / (2 * K + E)
    own = E * label
    # what rows pass on: to item k, and on the mean to the 2k rows before it, from up to label k
    to_item, to_earlier = own, (2 * K - 1 + 1 + (1 - own)) / (2 * K)
    term = 2 * K * (2 * K + 1) * E / (2 * K + E) ** 3
    z = 1 + E / 2

    def closed(pairs: sp.Expr) -> sp.Expr:
        """The sum of the terms over e, for k = 1 .. pairs - 1."""
        shift = pairs + E / 2
        return (
            (sp.digamma(shift) - sp.digamma(z)) / 2
            + (2 * E - 1) / 4 * (sp.polygamma(1, shift) - sp.polygamma(1, z))
            + E * (E - 1) / 16 * (sp.polygamma(2, shift) - sp.polygamma(2, z))
        )

    more = sp.expand_func(closed(N + 1)) - sp.expand_func(closed(N))
    return {
        "a label's attention to its item, by alpha": sp.simplify(
            E * sp.diff(own, E) - own * (1 - own)
        ),
        "to each row before it, by alpha": sp.simplify(E * sp.diff(label, E) + own * label),
        "what item k lacks beside the rows before it": sp.simplify(
            to_earlier - to_item - (1 + label - own)
        ),
        "term k of the push": sp.simplify(own * (1 - own) * (1 + label - own) - term),
        "their sum, one pair more": sp.simplify(more - term.subs(K, N) / E),
        "their sum, one pair": sp.simplify(closed(sp.Integer(1))),
        **{f"the push of the network, N = {n}": _pushed(n) for n in (2, 3)},
    }


def quick_residuals() -> dict[str, sp.Expr]:
    """The quick phase of the output: the landscape on the clock t/N and its path from zero."""
    # a row m after rows 0 .. m - 1 passes 1/m on to each; their sum was m - 1
    squares = 2 * (M - 1) / M + M / M**2
    g, gamma_4, mean, total = sp.symbols("g gamma_4 mu Sigma")
    # output (g + gamma_4 mu_t)/2N on row t: the sum of mu is 2N - 1, that of its squares Sigma
    rows = 2 * N
    loss = (rows * g**2 + 2 * g * gamma_4 * (rows - 1) + gamma_4**2 * total) / rows**2
    loss -= 2 * (g + gamma_4 * mean) / rows
    most = 2 * (rows - 1) - sp.log(rows)  # of Sigma, for many pairs
    quick = g**2 + 2 * g * gamma_4 + 2 * gamma_4**2 - 2 * g - 2 * mean * gamma_4
    speeds_of = [-sp.diff(quick, symbol) / 2 for symbol in (g, gamma_4)]
    root = sp.sqrt(2)
    fade, c, s = sp.exp(-2 * T), sp.cosh(root * T), sp.sinh(root * T)
    last = 1 - fade * (c + s / root), -1 + fade * (c + root * s)
    any_pair = sp.Rational(1, 2) - fade * c / 2, fade * s / root

    def left_over(path: tuple[sp.Expr, sp.Expr], wanted: int) -> dict[str, sp.Expr]:
        """Of gamma_2 = gamma_3 = gamma and gamma_4 on the landscape of these N."""
        gamma, fourth = path
        at = {g: 2 * gamma, gamma_4: fourth, mean: wanted}
        speeds = [speed.subs(at) for speed in speeds_of]
        return {
            f"speed of {name}": sp.simplify((sp.diff(value, T) - speed).rewrite(sp.exp))
            for name, value, speed in zip(("gamma_3", "gamma_4"), path, speeds, strict=True)
        } | {"start": sp.Abs(gamma.subs(T, 0)) + sp.Abs(fourth.subs(T, 0))}

    return {
        "squares of what is passed on, one row more": sp.simplify(squares - (2 - 1 / M)),
        "the quick landscape": sp.simplify(
            sp.limit(rows * loss.subs(total, most), N, sp.oo) - quick
        ),
        **{f"output, last pair: {step}": rest for step, rest in left_over(last, 0).items()},
        **{f"output, any pair: {step}": rest for step, rest in left_over(any_pair, 1).items()},
    }


def slow_residuals() -> dict[str, sp.Expr]:
    """The slow flow in the leading order."""
    gamma = sp.sqrt(sp.Rational(1, 4) + B**2 / 2)
    alpha = sp.Symbol("alpha", positive=True)
    log_n = sp.Symbol("L", positive=True)
    # the gain, minus the loss, on the clock t log N/2N^2 (uniform queries) and t/4N^2 (last pair)
    speeds, last = _climbed(G * B * E), _climbed(E * (log_n + 2 * G * B))
    wait = 4 / log_n * (1 - sp.exp(-alpha))
    return {
        "any pair: alpha - beta^2/2 stays": sp.simplify(speeds[0] - B * speeds[1]),
        "any pair: gamma^2 - beta^2/2 stays": sp.simplify(2 * G * speeds[2] - B * speeds[1]),
        "any pair: gamma by beta": sp.simplify(
            sp.diff(gamma, B) - (speeds[2] / speeds[1]).subs(G, gamma)
        ),
        "last pair: gamma^2 - beta^2/2 stays": sp.simplify(2 * G * last[2] - B * last[1]),
        "last pair: the time to alpha": sp.simplify(
            sp.diff(wait, alpha) - (4 / last[0]).subs({B: 0, E: sp.exp(alpha)})
        ),
        "last pair: beta by alpha": sp.simplify((last[1] / last[0]).subs(B, 0) - 2 * G / log_n),
    }


def _climbed(gain: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Speeds of alpha, beta and gamma_3, which keeps its sum with gamma_2: half its gradient."""
    return E * sp.diff(gain, E), sp.diff(gain, B), sp.diff(gain, G) / 2


def _pushed(n: int) -> sp.Expr:
    """-dL/dalpha_3 of the network itself at beta = 0 for n pairs, less the sum that is claimed."""
    gamma_2, gamma_3, gamma_4 = sp.symbols("gamma_2:5")
    rows = 2 * n

    def paid(row: int, to: int) -> sp.Expr:
        """Layer 1's attention."""
        if row % 2 == 0:
            return sp.Rational(1, row) if to < row else sp.Integer(0)
        held = E if to == row - 1 else 1
        return held / (row - 1 + E) if to < row else sp.Integer(0)

    share = sp.Rational(1, rows)
    output = [
        (gamma_2 + gamma_3) * share + gamma_4 * share * sum(paid(row, to) for row in range(rows))
        for to in range(rows)
    ]
    loss = sum(value**2 for value in output) - 2 * output[rows - 1] + 1
    claimed = sum(2 * k * (2 * k + 1) * E / (2 * k + E) ** 3 for k in range(1, n))
    return sp.simplify(-E * sp.diff(loss, E) - gamma_4**2 / (2 * n**2) * claimed)
