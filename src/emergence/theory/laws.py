"""Emergence times for many pairs under uniform queries, repeated pairs and windows."""

import math
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import digamma, zeta

from ._reduced import Values
from .limits import gauss

POWERS = np.arange(2, 40)  # of a retrieval in exp(beta w): the terms fall like 1/(j - 1)!
FACTORIALS = np.array([math.factorial(j - 1) for j in POWERS], dtype=float)


# Uniform queries: e^alpha = 2h retrieves pair q with weight h/(q + h)


def uniform_excess(half: float, beta: float) -> tuple[float, float]:
    """The sums over q of w e^(beta w) and of w (1 - w) e^(beta w), less h log N (this book).

    Args:
        half: h = e^alpha/2, > 0, in w = h/(q + h).
        beta: beta_2, any.

    Returns:
        Parts of the speeds of beta, less 1/2 for the later rows, and of alpha over beta.
    """
    # the limit of infinite N: the sum of w^j is h^j zeta(j, h), Hurwitz's zeta function
    moments = half**POWERS * zeta(POWERS, half)
    weights = beta ** (POWERS - 1) / FACTORIALS
    log_part = -half * float(digamma(half))
    in_beta = log_part + float(weights @ moments)
    lost = moments[0] + float(weights[:-1] @ moments[1:])
    return in_beta - 0.5, in_beta - lost


class LogLaw(NamedTuple):
    """An emergence time under uniform queries, N^2 leading/(log N + shift) (this book).

    Attributes:
        leading: the factor of N^2/log N.
        next: the factor of N^2/log^2 N in the expansion.
    """

    leading: float
    next: float

    # so that the law is N^2/log N (leading + next/log N), up to N^2/log^3 N
    @property
    def shift(self) -> float:
        return -self.next / self.leading

    def __call__(self, n_pairs: Values) -> Values:
        n = np.asarray(n_pairs, dtype=float)
        return n**2 * self.leading / (np.log(n) + self.shift)

    def turning(self) -> float:
        """The N at which T log N/N^2 is least, if T includes gamma's delay of N; shift > 0."""

        def rise(size: float) -> float:  # over log N
            law = self.leading * self.shift / (size + self.shift) ** 2
            return law - (size - 1) * math.exp(-size)

        return math.exp(brentq(rise, 2.5, 50.0))


def uniform_law(name: str, threshold: float = 0.5) -> LogLaw:
    """T_alpha or T_beta under uniform queries, 2 I(b) N^2/log N and what comes next (this book).

    Args:
        name: `alpha` or `beta`.
        threshold: > 0; b is that of beta, or sqrt(2 threshold) for alpha.

    Raises:
        ValueError: if the name is `gamma`, which emerges at N log 2 for any query.
    """
    if name == "gamma":
        raise ValueError("gamma emerges in N log 2, uniform queries or not")

    def lead(x):
        """Return the relative correction to d alpha/d beta = x, times log N."""
        half = math.exp(x * x / 2) / 2
        first, second = uniform_excess(half, x)
        return (second - first) / half

    def ahead(x):  # of alpha, times log N
        return quad(lambda y: y * lead(y), 0, x)[0]

    def slower(x):
        half = math.exp(x * x / 2) / 2
        return math.exp(-x * x / 2) * (uniform_excess(half, x)[0] / half + ahead(x))

    b = threshold if name == "beta" else math.sqrt(2 * threshold)
    next_term = -2 * quad(slower, 0, b)[0]
    if name == "alpha":  # alpha is there when beta is ahead(b)/(b log N) short of b
        next_term -= 2 * math.exp(-b * b / 2) * ahead(b) / b
    return LogLaw(2 * gauss(b), next_term)


# Repeated pairs: K distinct ones, each shown B times in turn


RepeatOrder = Literal["cyclic", "blocks"]  # all pairs in turn, or a pair's copies in a row


def repetition(copies: int, order: RepeatOrder = "cyclic") -> tuple[float, float]:
    """The constants of the flow with each pair B times (§7.2, chapter Effective context).

    Args:
        copies: B of each pair, >= 1.
        order: `cyclic`, all pairs in turn, or `blocks`, the copies of a pair in a row.

    Returns:
        H and k in beta' = H (e^alpha + k)/2NK and alpha' = beta H e^alpha/2NK.

    Raises:
        ValueError: if the order is unknown.
    """
    if order not in get_args(RepeatOrder):
        raise ValueError(f"order must be one of {get_args(RepeatOrder)}, got {order!r}")
    if order == "blocks":
        return 1.0, (copies - 1) / 2
    # k = (log B! + B - B log B)/H - 1 is between -0.13 and -1/2 from B = 2 on
    harmonic = sum(1 / c for c in range(1, copies + 1))
    return harmonic, (math.lgamma(copies + 1) + copies - copies * math.log(copies)) / harmonic - 1


def bursty_time(
    name: str,
    n_distinct: int,
    copies: int,
    threshold: float = 0.5,
    *,
    order: RepeatOrder = "cyclic",
) -> float:
    """The leading emergence time for many distinct pairs in copies (chapter Effective context).

    Args:
        name: `alpha`, `beta` or `gamma`.
        n_distinct: pairs K, >= 1.
        copies, order: as `repetition` takes them.
        threshold: > 0, and < 1 for gamma.

    Raises:
        ValueError: if the order is unknown.
    """
    if name == "gamma":
        return -n_distinct * math.log1p(-threshold)
    # With dalpha/dbeta = beta e^alpha/(e^alpha + k), hence alpha + k (1 - e^-alpha) = beta^2/2, the
    # time is 2NK/H times the integral of dalpha / (e^alpha beta).
    harmonic, k = repetition(copies, order)

    def half_square(alpha):  # beta^2/2
        return alpha - k * math.expm1(-alpha)

    end = threshold
    if name == "beta":
        end = brentq(lambda a: half_square(a) - threshold**2 / 2, 0, 2 + threshold**2)

    def rate(x):  # alpha = x^2, which takes the root out of the integrand
        alpha = x * x
        slope = half_square(alpha) / alpha if alpha else 1 + k
        return 2 * math.exp(-alpha) / math.sqrt(2 * slope)

    return 2 * n_distinct**2 * copies / harmonic * quad(rate, 0, math.sqrt(end))[0]


# Windows of W1 and W2 positions in layers 1 and 2


def windowed_time(name: str, window_1: int, window_2: int, threshold: float = 0.5) -> float:
    """The leading emergence time for wide windows: W2/2 for N once, W1 W2/4 for N^2 (§7.2).

    Args:
        name, threshold: as `bursty_time` takes them.
        window_1, window_2: positions that a row of layers 1 and 2 attends to, >= 1 each.
    """
    if name == "gamma":
        return -window_2 / 2 * math.log1p(-threshold)
    b = threshold if name == "beta" else math.sqrt(2 * threshold)
    return window_1 * window_2 / 2 * gauss(b)
