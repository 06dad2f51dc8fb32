"""Bounds on what all prefixes of more than M pairs add to the gradient, in balls."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.models import Mask

from ._balls import Array, Ball, columns
from ._prefixes import Place, excess, first_pair, jets, on_tape, pair

# The loss of a prefix of n pairs is 1 + x f(z; x, C, E), with x = 1/n and the two sums of `Place`.
# At x = 0, C = 4, E = 0, f = -1 for all z. So its slopes are at most x, C - 4 and E times mixed
# derivatives, and what C and E depend on alpha. Both sums over pairs k <= n - 2
# are those up to M, and sums of terms of at most constant/k. With l = log(n/M) all this is at most
# x (a + b l), and the sum of x^2 (a + b l) over n > M is at most (a + b + b/M)/M.


class _Sum(NamedTuple):
    """A sum over pairs, its distance from 4n or from zero, and its slopes: up to M, and per 1/k."""

    size: float
    slopes: Float[np.ndarray, "3"]
    size_per: float
    slopes_per: Float[np.ndarray, "3"]


def long_prefixes(box: Ball, count: int, mask: Mask) -> Float[np.ndarray, "12"]:
    """At most the slopes of all losses with n > `count`, the limit of many prefixes."""
    m = float(count)
    sums = _past(box, count, mask)
    x, c, e = (  # in the ball; log(n/M)/n is at most 1/(M e)
        Ball(np.array([mid]), np.array([rad]))
        for mid, rad in (
            (0.5 / m, 0.51 / m),
            (4.0, (sums[0].size + 0.37 * sums[0].size_per) / m * 1.01),
            (0.0, (sums[1].size + 0.37 * sums[1].size_per) / m * 1.01),
        )
    )
    whole = Ball(*map(np.concatenate, zip(box, x, c, e, strict=True)))
    tape, z = on_tape(jets(whole))
    slopes = tape.slopes(excess(z[:12], Place(*z[12:]), mask), z)
    mixed = columns([slope.part((slice(13, 16), 0, 0)) for slope in slopes]).above[:, :12]
    by_sum = [slope.part((slice(0, 1), 0, 0)).above[0] for slope in slopes[13:]]
    at, grown = mixed[0].copy(), np.zeros(12)
    for mixed_with, slope, one in zip(mixed[1:], by_sum, sums, strict=True):
        at += mixed_with * one.size
        grown += mixed_with * one.size_per
        at[:3] += slope * one.slopes
        grown[:3] += slope * one.slopes_per
    total: Array = (at + grown * (1 + 1 / m)) / m * (1 + 1e-9)
    return total


def _past(box: Ball, count: int, mask: Mask) -> list[_Sum]:
    alphas, k = box.part(slice(3)), np.arange(1.0, count)
    _, z = on_tape(jets(alphas))
    found = pair(z, z[0] * 0.0 + Ball.of(k).inverse(), mask)
    squares = (found.squares + -4.0).total() + (first_pair(z, mask) + -8.0)
    early = (found.share * Ball.of(k).inverse()).total()
    upto = [part.value.part((..., 0, 0)).above for part in (squares, early)]
    # longer ones, for u = 1/k in a ball
    tape, z = on_tape(jets(Ball(*map(np.append, alphas, (0.5 / count, 0.51 / count)))))
    later = pair(z[:3], z[3], mask)
    mixed = columns([part.part((slice(4, 5), 0, 0)) for part in tape.slopes(later.squares, z[:3])])
    share = later.share.value.part((..., 0, 0)).above
    per = [
        (float(later.squares.value.part((slice(4, 5), 0, 0)).above[0]), mixed.above[0]),
        (share[0], share[1:4]),
    ]
    return [
        _Sum(one[0] + many / (count - 1), one[1:] + slopes / (count - 1), many, slopes)
        for one, (many, slopes) in zip(upto, per, strict=True)
    ]
