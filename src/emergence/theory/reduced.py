"""The reduced model of §6 and App. B, the query asking for the last pair: loss and gradient.

alpha, beta, gamma stand for alpha_3, beta_2, gamma_3; inputs are orthonormal, the mask is strict,
and the loss is the squared norm summed over dimensions. The number of pairs enters through two
counts of rivals: the last label chooses its item among 2N - 2 other positions in layer 1, the
query chooses that label among 2N - 1 other positions in layer 2.
"""

import math

import numpy as np

from .landscape import Landscape


def signal(alpha, beta, n_pairs):
    """s of App. B.3, the unnormalised attention of the query to the target label."""
    return np.exp(beta * retrieval(alpha, n_pairs))


def retrieval(alpha, n_pairs):
    """The attention of the last label to its item in layer 1, e^alpha / (e^alpha + 2N - 2)."""
    return 1 / (1 + (2 * n_pairs - 2) * np.exp(-np.asarray(alpha, dtype=float)))


def reduced_loss(alpha, beta, gamma, n_pairs):
    """The loss of App. B.3; floats or arrays that broadcast, ValueError for N < 1."""
    alpha, beta, gamma = _arrays(alpha, beta, gamma, n_pairs)
    return plain(_loss(alpha, beta, gamma, n_pairs, np.exp))


def reduced_gradient(alpha, beta, gamma, n_pairs):
    """(dL/dalpha, dL/dbeta, dL/dgamma) of App. B.4; floats or arrays that broadcast."""
    alpha, beta, gamma = _arrays(alpha, beta, gamma, n_pairs)
    gradient = _gradient(alpha, beta, gamma, n_pairs, np.exp)
    return tuple(plain(part) for part in gradient)


def landscape(n_pairs: int) -> Landscape:
    """The reduced model with the query for the last pair. Raises ValueError for N < 1."""
    check_pairs(n_pairs)
    return Landscape(
        lambda alpha, beta, gamma: _loss(alpha, beta, gamma, n_pairs, math.exp),
        lambda alpha, beta, gamma: _gradient(alpha, beta, gamma, n_pairs, math.exp),
        n_pairs,
    )


def _loss(alpha, beta, gamma, n_pairs, exp):
    # math.exp where floats come in: NumPy's is slow on a single number
    _, target, others = _attention(alpha, beta, n_pairs, exp)
    return gamma**2 * (target**2 + (2 * n_pairs - 1) * others**2) - 2 * gamma * target + 1


def _gradient(alpha, beta, gamma, n_pairs, exp):
    found, target, others = _attention(alpha, beta, n_pairs, exp)
    rivals = 2 * n_pairs - 1
    # dL/dlog(s): with r = s + F and F rivals, s dL/ds = 2F (gamma^2 (s - 1)/r - gamma) s/r^2
    push = 2 * rivals * target * others * (gamma**2 * (target - others) - gamma)
    d_gamma = 2 * gamma * (target**2 + rivals * others**2) - 2 * target
    return push * beta * found * (1 - found), push * found, d_gamma


def _attention(alpha, beta, n_pairs, exp):
    """Layer 1's attention of the last label to its item; layer 2's to the target, to each rival."""
    found = 1 / (1 + (2 * n_pairs - 2) * exp(-alpha))
    exponent, rivals = beta * found, 2 * n_pairs - 1
    return found, 1 / (1 + rivals * exp(-exponent)), 1 / (exp(exponent) + rivals)


def check_pairs(n_pairs):
    """Raises ValueError for less than one pair."""
    if np.any(np.asarray(n_pairs) < 1):
        raise ValueError(f"need at least one pair, got N = {n_pairs}")


def _arrays(alpha, beta, gamma, n_pairs):
    check_pairs(n_pairs)
    return (np.asarray(value, dtype=float) for value in (alpha, beta, gamma))


def plain(value):
    """A float for a scalar, the array itself otherwise."""
    return float(value) if np.ndim(value) == 0 else value
