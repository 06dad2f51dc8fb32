"""The reduced model when the query asks for any pair: q uniform on 0..N-1, as in the experiments.

An untrained layer 1 averages all earlier positions, so every row after item q holds a share of a_q:
label q holds 1/(2q + 1), and later item k holds 1/2k and label k holds 1/(2k + 1). With alpha,
label q holds e^alpha/(2q + e^alpha) and label k > q holds 1/(2k + e^alpha). The share of a later
row depends on q only through the condition k > q, so sums over k, taken from the end, serve all q
at once.
"""

import math

import numpy as np

from ._flow import Landscape
from ._reduced import check_pairs


def landscape(n_pairs: int) -> Landscape:
    """The loss of the reduced model with uniform queries. Raises ValueError if N < 1."""
    check_pairs(n_pairs)
    twice = 2.0 * np.arange(n_pairs)  # of q, and of k
    item = 1 / twice[1:]  # what item k > q holds of a_q

    def rows(alpha, beta):
        """Shares of a_q in labels q and k; e^(beta share) in label q, item k and label k."""
        shrunk = math.exp(-alpha)
        own_item = 1 / (1 + twice * shrunk)
        label = shrunk * own_item[1:]
        return own_item, label, np.exp(beta * own_item), np.exp(beta * item), np.exp(beta * label)

    def loss(alpha, beta, gamma):
        _, _, s, u, v = rows(alpha, beta)
        later, later_squared = _after(u + v, u**2 + v**2)
        total = twice + 1 + s + later
        square = (twice + 1 + s**2 + later_squared) / total**2
        return float(np.mean(gamma**2 * square - 2 * gamma * s / total) + 1)

    def gradient(alpha, beta, gamma):
        own_item, label, s, u, v = rows(alpha, beta)
        # by alpha label q gains, and label k > q loses
        gain, loss = beta * own_item * (1 - own_item), -beta * label * own_item[1:]
        later, later_squared, by_beta, square_by_beta, by_alpha, square_by_alpha = _after(
            u + v, u**2 + v**2, u * item + v * label, u**2 * item + v**2 * label,
            v * loss, v**2 * loss,
        )  # fmt: skip
        total = twice + 1 + s + later
        target = s / total
        square = (twice + 1 + s**2 + later_squared) / total**2

        def slope(own_slope, total_slope, square_slope):
            """The derivative of the loss, from d log(s)/dx and the sums over later rows."""
            share = (own_slope * s + total_slope) / total
            squares = 2 * (own_slope * s**2 + square_slope) / total**2 - 2 * square * share
            return float(np.mean(gamma**2 * squares - 2 * gamma * target * (own_slope - share)))

        return (
            slope(gain, by_alpha, square_by_alpha),
            slope(own_item, by_beta, square_by_beta),
            float(np.mean(2 * gamma * square - 2 * target)),
        )

    return Landscape(loss, gradient, n_pairs)


def _after(*terms):
    """For every q the sum over k > q of each array of terms (k from 1): (terms, N)."""
    sums = np.zeros((len(terms), len(terms[0]) + 1))
    sums[:, :-1] = np.cumsum(np.stack(terms)[:, ::-1], axis=1)[:, ::-1]
    return sums
