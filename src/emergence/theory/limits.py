"""Emergence times of the reduced flow for many pairs: constants and the next order.

Threshold 1/2, the query asks for the last pair. Chapter "Exact constants" derives them.
"""

import math
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from .times import EmergenceTimes


def leading(n_pairs: int) -> EmergenceTimes:
    """The limits: N ln 2 for gamma, a constant times N^2 for the others."""
    square = n_pairs**2
    alpha = 2 * gauss(1.0) * square
    return EmergenceTimes(
        alpha,
        2 * gauss(0.5) * square,
        math.log(2) * n_pairs,
        alpha,
        math.sqrt(2 * math.pi) * square,
    )


def expansion(n_pairs: int) -> EmergenceTimes:
    """With the next order: relative error O(1/N^2), O(1/N^4) for gamma.

    The collapse is exact but for a relative O(1/(N sqrt(log N))).
    """
    first = leading(n_pairs)
    alpha = first.alpha + n_pairs * (3 - math.exp(-0.5) - 2 * gauss(1.0))
    return EmergenceTimes(
        alpha=alpha,
        beta=first.beta + n_pairs * (1.75 - 2 * gauss(0.5)),
        gamma=first.gamma - (0.75 * math.log(2) - 0.5) / n_pairs,
        icl=alpha,
        collapse=first.collapse + n_pairs * collapse_correction(n_pairs),
    )


def gauss(beta: float) -> float:
    """The integral of exp(-u^2/2) from 0 to beta."""
    return math.sqrt(math.pi / 2) * math.erf(beta / math.sqrt(2))


def collapse_correction(n_pairs: int) -> float:
    """What follows sqrt(2 pi) N^2 in the collapse time, in units of N.

    `late` is the beta at which alpha begins to matter: e^(beta^2/2) beta = 2N.
    """
    late = brentq(lambda b: b * b / 2 + math.log(b) - math.log(2 * n_pairs), 1e-6, 60.0)
    return 1 - math.sqrt(2 * math.pi) + 2 * late - late**2 + inner_constant()


@cache
def inner_constant() -> float:
    """When the last phase ends, counted from its asymptote -1/x - 2 ln x at early times.

    In time v = t/N, x = beta g and gamma obey dx/dv = x^2 e^x gamma and dgamma/dv = e^x - gamma;
    x is the independent variable here.
    """
    start = 1e-4
    series = 1 + start - start**2 / 2, -1 / start - 2 * math.log(start) + 3 * start

    def slope(x, state):
        gamma = state[0]
        return [(1 - gamma * np.exp(-x)) / (x * x * gamma), np.exp(-x) / (x * x * gamma)]

    # At x = 50 what is left of the time is below 1e-20.
    run = solve_ivp(slope, (start, 50.0), series, method="LSODA", rtol=1e-11, atol=1e-12)
    return float(run.y[1, -1])
