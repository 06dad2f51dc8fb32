"""Contexts with repeated pairs, and layers that attend within a window.

The steps behind the laws of repeated pairs, each as a residual that must vanish.

Copies c of each of the K pairs count from 1 to B.
"""

import numpy as np
import sympy as sp

from emergence.models import Windows
from emergence.theory import Landscape
from emergence.theory.contexts import Order, landscape


def any_query(order: Order, windows: Windows = (None, None)) -> Landscape:
    """The mean loss when the query asks for any of the distinct pairs of a context (§7.2).

    `order` has the pair at each place, from 0, and `windows` how many positions back each layer
    sees; None for all.
    """
    each = [landscape(order, int(pair), windows) for pair in np.unique(order)]

    def loss(*state):
        return float(np.mean([one.loss(*state) for one in each]))

    def gradient(*state):
        return tuple(np.mean([one.gradient(*state) for one in each], axis=0).tolist())

    return Landscape(loss, gradient, len(order))


C, K = sp.symbols("c K", positive=True)


def bursty_residuals() -> dict[str, sp.Expr]:
    """The same for K pairs, each shown B times in turn."""
    copies = sp.Symbol("B", integer=True, positive=True)
    alpha = sp.Symbol("alpha", positive=True)
    power = sp.exp(alpha)
    k = sp.Symbol("k", real=True)
    share = (C - 1 + power) / (2 * C * K)  # of the c-th copy's label row
    harmonic = sp.harmonic(copies)
    own_share = sp.summation(sp.expand(share), (C, 1, copies))
    # between copies c and c + 1 the rows' shares c/2n add up to c log((c + 1)/c), over both rows
    # in blocks all copies are at the end, and c - 1 of them come before the c-th
    in_block = sp.summation(sp.expand((C - 1 + power) / (2 * copies * K)), (C, 1, copies))
    closed = copies * sp.log(copies) - sp.loggamma(copies + 1)
    step = copies * sp.log((copies + 1) / copies)
    log_gamma = sp.loggamma(copies + 2) - sp.loggamma(copies + 1) - sp.log(copies + 1)
    half_square = alpha + k * (1 - sp.exp(-alpha))
    return {
        "sum over copies": sp.simplify(own_share - (copies + (power - 1) * harmonic) / (2 * K)),
        "sum over copies in a block": sp.simplify(in_block - (power + (copies - 1) / 2) / (2 * K)),
        "sum between copies, one copy more": sp.simplify(
            sp.expand_log(closed.subs(copies, copies + 1) - closed - step + log_gamma, force=True)
        ),
        "sum between copies, one copy": closed.subs(copies, 1),
        "the curve of alpha and beta": sp.simplify(
            sp.diff(half_square, alpha) - (power + k) / power
        ),
    }
