"""When the loss collapses for any number of pairs, by the exact time.

Chapter "Exact constants" proves T = sqrt(2 pi) N^2 + N (1 - sqrt(2 pi) + 2b - b^2 + C + C1/b +
C2/b^2) + O(N/b^3) with b = `limits.late_beta` and the constants of `limits.last_phase`, in whose
place the flow at one N has `rest`. x = beta g is the score of layer 2, p and o the attention to the
target and to each other position, n = p^2 + (2N - 1) o^2.
"""

import math
from typing import NamedTuple

import numpy as np
from flint import acb, arb, ctx
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from emergence.theory import limits
from running.memo import kept

FEWEST = 4096  # pairs from which gamma has risen before x is SMALL
SMALL = 1e-6  # x at which gamma is its goal, up to x^2
TIGHT = 1e-12  # relative tolerance of the flows in floats


class _State(NamedTuple):
    """What alpha decides, with beta on the curve of the first integral; e^x = signal."""

    beta: float
    retrieval: float
    x: float
    p: float
    o: float
    norm: float
    h: float  # p - o


def stated(n_pairs: int) -> float:
    """The elementary terms after sqrt(2 pi) N^2, in units of N: 1 - sqrt(2 pi) + 2b - b^2."""
    late = limits.late_beta(n_pairs)
    return 1 - math.sqrt(2 * math.pi) + 2 * late - late**2


@kept
def rest(n_pairs: int) -> float:
    """What the collapse time has beside sqrt(2 pi) N^2 + N `stated`, in units of N (this book).

    The time up to x = 1 is that of the lemma on the exact time: an integral over the slow manifold
    in interval arithmetic, with as many digits as N^2 asks for, and a delay that needs gamma.
    From there the flow itself is followed until the loss is one half. The error is near 1e-10, and
    a googol of pairs is no more trouble than a million. Raises ValueError for N < 4096, and
    ArithmeticError when a solver gives up.
    """
    if n_pairs < FEWEST:
        raise ValueError(f"gamma has to rise first: at least {FEWEST} pairs, got {n_pairs}")
    count, most = float(n_pairs), math.log(2.0 * n_pairs) + 5
    begin, middle = (
        brentq(lambda a, level=level: _state(a, count).x - level, 1e-300, most, xtol=1e-15)
        for level in (SMALL, 1.0)
    )
    gamma, delay = _delay(begin, middle, count)
    return _slow_time(middle, n_pairs) + delay + _to_the_end(middle, gamma, count) - stated(n_pairs)


def _state(alpha: float, count: float) -> _State:
    power = math.exp(alpha)
    beta = math.sqrt(math.expm1(alpha) / (count - 1) + 2 * alpha)
    retrieval = power / (power + 2 * count - 2)
    x = beta * retrieval
    o = 1 / (math.exp(x) + 2 * count - 1)
    p = math.exp(x) * o
    return _State(beta, retrieval, x, p, o, p * p + (2 * count - 1) * o * o, math.expm1(x) * o)


def _speeds(state: _State, gamma: float) -> tuple[float, float]:
    """d alpha/dt and d gamma/dt of App. B.5."""
    push = 2 * (1 - state.p) * state.p * gamma * (1 - gamma * state.h)
    by_alpha = push * state.retrieval * (1 - state.retrieval) * state.beta
    return by_alpha, 2 * state.norm * (state.p / state.norm - gamma)


def _slow_time(alpha: float, n_pairs: int) -> float:
    """The integral of d beta/V up to an alpha less sqrt(2 pi) N^2, in units of N."""
    ctx.prec = 120 + round(2.2 * math.log2(n_pairs))
    pairs = arb(n_pairs)
    ratio = 1 / (2 * (pairs - 1))

    def wait(u: acb, _: bool) -> acb:
        """By u = sqrt(2 alpha), which knows no square root at zero."""
        power = (u * u / 2).exp()
        stretch = (1 + 2 * ratio * (power - 1) / (u * u)).sqrt()  # beta/u
        retrieval = power / (power + 2 * pairs - 2)
        signal = (u * stretch * retrieval).exp()
        weight = 1 + (signal * signal - 1) / (2 * pairs)
        return (weight / signal) ** 2 / retrieval * (1 + ratio * power) / stretch

    tiny, digits = arb(2) ** -ctx.prec, -60 - round(2 * math.log2(n_pairs))
    integral = acb.integral(wait, tiny, (2 * arb(alpha)).sqrt(), rel_tol=arb(2) ** digits).real
    return float(integral / (1 - 1 / (2 * pairs)) - pairs * (2 * arb.pi()).sqrt())


def _delay(begin: float, end: float, count: float) -> tuple[float, float]:
    """gamma at the end, and the integral of k d gamma from zero on, between two alphas."""

    def slope(log_alpha: float, state: np.ndarray) -> list[float]:
        here, gamma = _state(math.exp(log_alpha), count), state[0]
        by_alpha, by_gamma = _speeds(here, gamma)
        rise = by_gamma / by_alpha * math.exp(log_alpha)
        signal = math.exp(here.x)
        late = gamma * here.h / (1 - here.p / here.norm * here.h)
        return [rise, rise * (1 + (signal - 1) / (2 * count)) / signal * (1 - late)]

    start = _state(begin, count)  # up to here k is 1 - x, and gamma has come to 1 + x
    run = solve_ivp(
        slope,
        (math.log(begin), math.log(end)),
        np.array([start.p / start.norm, 1 + start.x]),
        method="Radau",
        rtol=1e-11,
        atol=1e-13,
    )
    if not run.success:
        raise ArithmeticError(f"gamma was not followed, N = {count:g}: {run.message}")
    return float(run.y[0, -1]), float(run.y[1, -1])


def _to_the_end(begin: float, gamma: float, count: float) -> float:
    """The time in units of N from an alpha until the loss is one half."""

    def slope(alpha: float, state: np.ndarray) -> list[float]:
        by_alpha, by_gamma = _speeds(_state(alpha, count), state[0])
        return [by_gamma / by_alpha, 1 / (count * by_alpha)]

    def half(alpha: float, state: np.ndarray) -> float:
        here = _state(alpha, count)
        return float(state[0] ** 2 * here.norm - 2 * state[0] * here.p + 0.5)

    half.terminal = True  # type: ignore[attr-defined]
    end = math.log(2 * count) + 20  # by then e^alpha is far above (N - 1) beta^2
    run = solve_ivp(
        slope,
        (begin, end),
        np.array([gamma, 0.0]),
        method="DOP853",
        rtol=TIGHT,
        atol=1e-13,
        events=half,
    )
    if run.status != 1:
        raise ArithmeticError(f"the loss did not fall to one half, N = {count:g}: {run.message}")
    return float(run.y[1, -1])
