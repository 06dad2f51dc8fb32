"""Emergence times of the reduced flow for many pairs, at threshold 1/2 and for the last pair."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from ._flow import EmergenceTimes


def leading(n_pairs: int) -> EmergenceTimes:
    """The limits of the emergence times: N ln 2 for gamma, constants times N^2 (Theorem 2).

    Args:
        n_pairs: pairs N in the context, >= 1.

    Returns:
        Flow times at threshold 1/2, for a query for the last pair.
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
        Flow times with a relative error O(1/N^2); gamma O(1/N^4), collapse O(1/(N sqrt(log N))).
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
    """
    return math.sqrt(math.pi / 2) * math.erf(beta / math.sqrt(2))


def collapse_correction(n_pairs: int) -> float:
    """The term after sqrt(2 pi) N^2 in the collapse time, in units of N (chapter Exact constants).

    Args:
        n_pairs: pairs N in the context, >= 2.

    Returns:
        The correction, up to the inverse of `limits.late_beta`.
    """
    late = late_beta(n_pairs)
    return 1 - math.sqrt(2 * math.pi) + 2 * late - late**2 + last_phase().constant


def late_beta(n_pairs: float | int) -> float:
    """The beta at which alpha begins to matter, e^(beta^2/2) beta = 2N (chapter Exact constants).

    Args:
        n_pairs: pairs N in the context, >= 1.

    Returns:
        The beta, near sqrt(2 log 2N) for many pairs.
    """
    return brentq(lambda b: b * b / 2 + math.log(b) - math.log(2 * n_pairs), 1e-6, 60.0)


class LastPhase(NamedTuple):
    """When the last phase ends, from its asymptote, in units of N (chapter Exact constants).

    Attributes:
        constant: C, the time for infinitely many pairs.
        first: C1, the coefficient of 1/`limits.late_beta`.
        second: C2, the coefficient of its square.
    """

    constant: float
    first: float
    second: float


@cache
def last_phase() -> LastPhase:
    """The end of the last phase from the expansion of gamma at a given x (chapter Exact constants).

    Returns:
        C, C1 and C2.

    Raises:
        ArithmeticError: if the solver fails.
    """

    # x = beta g is the score of layer 2. With f = (1/G - e^-x)/x^2 the three G obey G0' = f(G0),
    # G1' = 2x f + f' G1 and G2' = (3x^2 - 1) f + 2x f' G1 + f' G2 + f'' G1^2/2, and stay bounded
    # at x = 0. The constants are integrals of e^-x G beside closed forms.

    def slope(x, state):
        """The derivatives of the three G and of the integrals of e^-x G."""
        g, one, two = state[:3]
        f, by, twice = (1 / g - math.exp(-x)) / x**2, -1 / (g * x) ** 2, 2 / (g**3 * x**2)
        first = 2 * x * f + by * one
        second = (3 * x * x - 1) * f + 2 * x * by * one + by * two + twice * one**2 / 2
        return [f, first, second, *(math.exp(-x) * part for part in (g, one, two))]

    x = 1e-2  # errors of the start are gone like e^-(1/x)
    start = (
        1 + x - x**2 / 2 - 5 * x**3 / 6, 2 * x**3, -(x**2),
        x - x**3 / 3, x**4 / 2, -(x**3) / 3,
    )  # fmt: skip
    run = solve_ivp(slope, (x, 60.0), start, method="DOP853", rtol=1e-12, atol=1e-14)
    if not run.success:
        raise ArithmeticError(f"the last phase was not followed: {run.message}")
    known = 2 * (np.euler_gamma + math.log(2))
    zeroth, first, second = run.y[3:, -1].tolist()
    return LastPhase(known - 3 + zeroth, 2 - known + first, 3.5 - known + second)
