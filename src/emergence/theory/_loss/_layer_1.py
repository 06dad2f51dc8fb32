"""The attention of layer 1, and the scores of layer 2 that follow from it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ._questions import Each, Questions
from ._sums import _before

TINY = 1e-300  # instead of zero

# The context consists of pairs k = 0, 1, ... of an item row and a label row, and a query asks for
# pair q among the first n. In layer 1 item k attends to each of the 2k earlier rows with `item`.
# Label k attends to its own item with `own` = e^alpha_3 `label`, and to each other earlier row with
# `label`. Under the causal mask a row also attends to itself, e^(alpha_1 + alpha_2) times as much
# as to another. A position has a score only with its partner, and the query has no position, so
# beta_3 to beta_6 have no effect.


class Context(NamedTuple):
    """Layer 1 in the context: the attention of the rows of each pair k, and of those before."""

    item: Each  # of item k to each earlier row
    label: Each  # of label k to each earlier row but its item
    own: Each  # of label k to its item
    item_itself: Each = 0.0  # of item k to itself
    label_itself: Each = 0.0  # of label k to itself
    earlier: Each = 0.0  # of all rows between pairs 0 and k to row 0
    linear: Each = 0.0  # of the same to each row before pair k, less `earlier`: the sum
    square: Each = 0.0  # and the sum of squares


class Scores(NamedTuple):
    """Layer 1 in the query, and the scores of layer 2 that follow, for each prefix."""

    rest: Each  # attention to each row but item q
    held: Each  # attention to the content of item q, which is the query's as well
    more: Each  # the same beyond `rest`
    ahead: Each  # attention to the position of item q beyond `rest`
    looking: Each  # score of a row by its attention to item q
    partner: Each  # score of a row by its attention to label q beyond `looking`
    item: Each  # score of item q beyond these
    label: Each  # score of label q beyond these
    itself: Each  # score of the query
    first: Each  # score of row 0 if it attends to nothing


def _context(point: Sequence[float], asked: Questions) -> tuple[Context, tuple[Each, Each]]:
    """Layer 1 in the context; and what `linear` and `square` are the sums of."""
    shrunk, itself, rows = math.exp(-point[2]), (0.0, 0.0), asked.rows
    if asked.causal:
        weight = math.exp(point[0] + point[1])
        rows = rows + weight
    own = 1 / (1 + shrunk * rows)
    item, label = 1 / np.maximum(rows, TINY), shrunk * own
    if asked.causal:
        itself = weight * item, weight * label
    item, label = asked.later * item, asked.later * label
    if not asked.full:
        return Context(item, label, own, *itself), (0.0, 0.0)
    share = item + label
    shares = np.add.accumulate(share)
    paid = own + itself[0] - shares, itself[1] - shares
    linear, square = _before(paid[0] + paid[1]), _before(paid[0] ** 2 + paid[1] ** 2)
    return Context(item, label, own, *itself, shares - share, linear, square), paid


def _scores(point: Sequence[float], asked: Questions) -> Scores:
    beta, n, e = (0.0, *point[3:15]), asked.n, math.exp(point[0])
    rest = 1 / (2 * n - 1 + (1 + asked.causal) * e)
    held = (1 + asked.causal) * e * rest
    if not asked.full:
        itself = beta[2] * held if asked.causal else -math.inf
        return Scores(rest, held, 0.0, 0.0, beta[2], 0.0, 0.0, 0.0, itself, 0.0)
    more, ahead = held - rest, (e - 1) * rest
    looking = beta[2] + beta[8] * more + beta[11] * ahead
    item = beta[1] + beta[7] * more + beta[9] * ahead
    itself, first = -math.inf, -(beta[8] + beta[11] + beta[12]) * rest
    if asked.causal:
        place, partner = _overlaps(rest, e, n)
        itself = beta[1] + beta[2] * held + more * (beta[7] + beta[8] * held)
        itself += beta[11] * place + beta[12] * partner - rest * (beta[9] + beta[10])
        first = 0.0
    partner, label = beta[12] * ahead, beta[10] * ahead
    return Scores(rest, held, more, ahead, looking, partner, item, label, itself, first)


def _overlaps(rest: Each, e: float, n: Each) -> tuple[Each, Each]:
    """Of the query's attention in layer 1 with itself and with its partners', beyond `rest`."""
    return rest**2 * (2 * n - 1 + e**2) - rest, rest**2 * (2 * n - 2 + 2 * e) - rest


def _at(asked: Questions, c: Context) -> Context:
    """Layer 1 in the pairs asked for."""
    if asked.any_pair or not asked.full:
        return c
    return Context(*(part if isinstance(part, float) else part[asked.last] for part in c))
