"""Emergence times of the reduced flow for many pairs: constants and the next order.

The threshold is 1/2 and the query asks for the last pair. Chapter "Exact constants" derives the
constants.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from ._times import EmergenceTimes


def leading(n_pairs: int) -> EmergenceTimes:
    """The limits of the emergence times: N ln 2 for gamma, constants times N^2 (Theorem 2).

    Args:
        n_pairs: pairs N in the context, >= 1.

    Returns:
        Flow times at threshold 1/2, for a query for the last pair.

    Example:
        >>> round(limits.leading(100).collapse / 100**2, 4)  # sqrt(2 pi)
        2.5066
    """
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
    """The emergence times with their next order in 1/N (chapter Exact constants).

    Args:
        n_pairs: pairs N in the context, >= 2.

    Returns:
        Flow times with a relative error O(1/N^2), or O(1/N^4) for gamma. The collapse comes from
        matched expansions, with a relative error O(1/(N sqrt(log N))).

    Example:
        >>> round(limits.expansion(64).alpha / theory.emergence_times(64).alpha, 3)
        1.0
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
    """The integral of exp(-u^2/2) from 0 to beta (chapter Exact constants).

    Args:
        beta: the upper end of the integral, any.

    Returns:
        The integral, below 1.2534.

    Example:
        >>> round(2 * limits.gauss(1.0), 3)  # of T_alpha/N^2
        1.711
    """
    return math.sqrt(math.pi / 2) * math.erf(beta / math.sqrt(2))


def collapse_correction(n_pairs: int) -> float:
    """The term after sqrt(2 pi) N^2 in the collapse time, in units of N (chapter Exact constants).

    Args:
        n_pairs: pairs N in the context, >= 2.

    Returns:
        The correction, up to the inverse of `limits.late_beta`.

    Example:
        >>> limits.collapse_correction(1000) < limits.collapse_correction(100) < 0
        True
    """
    late = late_beta(n_pairs)
    return 1 - math.sqrt(2 * math.pi) + 2 * late - late**2 + last_phase().constant


def late_beta(n_pairs: float | int) -> float:
    """The beta at which alpha begins to matter, e^(beta^2/2) beta = 2N (chapter Exact constants).

    Args:
        n_pairs: pairs N in the context, >= 1.

    Returns:
        The beta, near sqrt(2 log 2N) for many pairs.

    Example:
        >>> late = limits.late_beta(100)
        >>> round(math.exp(late**2 / 2) * late)
        200
    """
    return brentq(lambda b: b * b / 2 + math.log(b) - math.log(2 * n_pairs), 1e-6, 60.0)


class LastPhase(NamedTuple):
    """When the last phase ends, counted from its asymptote (chapter Exact constants).

    Attributes:
        constant: the time for infinitely many pairs, in units of N.
        next: the coefficient of the next term, in 1/`limits.late_beta`.
    """

    constant: float
    next: float


@cache
def last_phase() -> LastPhase:
    """The end of the last phase for many pairs, with its next order (chapter Exact constants).

    In time v = t/N, with b for `late_beta`, x = beta g and gamma obey dx/dv = x^2 e^x gamma
    (1 - 2x/b) and dgamma/dv = e^x - gamma, up to O(1/b^2). At early times v = -1/x - 2 ln x +
    (2 ln x + 2)/b, as the time of the slow phase says. Here x is the independent variable.

    Returns:
        The constant and the coefficient of 1/b.

    Raises:
        ArithmeticError: if the solver fails.

    Example:
        >>> limits.last_phase().constant == limits.last_phase()[0]
        True
    """
    x = 1e-3
    log = math.log(x)
    series = (
        1 + x - x**2 / 2 - 5 * x**3 / 6,
        -1 / x - 2 * log + 3 * x - 5 * x**2 / 3,
        2 * x**3,
        2 * log + 2 - 4 * x,
    )

    def slope(x, state):
        """The derivatives of gamma, v and their next orders."""
        gamma, _, gamma_next, _ = state
        shrunk = np.exp(-x)
        pace = shrunk / (x * x * gamma)  # dv/dx
        rise = (1 - gamma * shrunk) / (x * x * gamma)
        by_gamma = -pace - rise / gamma
        return [
            rise,
            pace,
            2 * x * rise + by_gamma * gamma_next,
            pace * (2 * x - gamma_next / gamma),
        ]

    # At x = 50 what is left of the time is below 1e-20.
    run = solve_ivp(slope, (x, 50.0), series, method="LSODA", rtol=1e-11, atol=1e-12)
    return LastPhase(float(run.y[1, -1]), float(run.y[3, -1]))
