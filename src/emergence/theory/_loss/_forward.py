"""Layer 2, the output and the loss."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ._layer_1 import Context, Scores, _at, _context, _scores
from ._questions import Each, Questions
from ._sums import _after_in

# In layer 2 the query has equal scores with all rows before pair q, except row 0, which attends to
# nothing under the strict mask. Its score with a later row does not depend on q, so one sum over
# the pairs k > q serves all q at once.
#
# What the output holds of each of the 2n rows is `base`, from layer 1 in the query, plus a part
# that is divided by the norm of the attention in layer 2. So the loss is a polynomial in 1/norm. If
# only alpha_3, beta_2 and gamma_3 are free (§6), layer 1 passes nothing on, and all prefixes have
# the same scores: the parts under `full` are zero.


class Output(NamedTuple):
    """Layer 2 and the output for each question; all but `base` and `extra` times the norm."""

    inverse: Each  # one over the norm of the attention
    on_item: Each  # attention to item q
    on_label: Each  # to label q
    on_itself: Each  # of the query to itself
    first: Each  # to row 0 beyond that to other rows before pair q
    late: tuple[Each, Each]  # to item and label k > q
    through: Each  # to each row up to pair q by way of later pairs
    spread: Each  # to each row before pair q by way of all rows, less what `past` has
    base: Each  # output of every row by what the query attends to in layer 1
    extra: Each  # output of item q beyond that
    shared: Each  # output of every row by way of the query, not counted in the next four
    right: Each  # output of label q
    wrong: Each  # output of item q
    held: tuple[Each, Each]  # output of item and label k > q
    past: Each  # sum of the outputs of rows before pair q, less those by `spread`
    total: Each  # sum of all outputs
    linear: Each  # coefficient of 2/norm in the loss
    square: Each  # coefficient of 1/norm^2


def _output(point: Sequence[float], asked: Questions, c: Context, s: Scores) -> Output:
    gamma, lacking = (0.0, *point[15:]), asked.full and not asked.causal

    # attention, times its norm
    score, first = s.item + s.looking * c.item_itself, 0.0
    if lacking:
        score, first = score + (1 - asked.some) * s.first, np.expm1(s.first)
    on_item, on_itself = np.exp(score), np.exp(s.itself)
    on_label = np.exp(s.label + s.partner * c.label_itself + s.looking * c.own)
    norm = asked.before + on_label + (on_item + on_itself)
    if lacking:
        norm = norm + asked.some * first
    both, through = s.looking + s.partner, 0.0
    late = np.exp(both * c.item), np.exp(both * c.label)
    if asked.full:
        late = late[0] * asked.present, late[1] * asked.present
        through = _after_in(asked, late[0] * c.item + late[1] * c.label)
    norm = _after_in(asked, late[0] + late[1], norm)

    # what the output holds of each row, times the norm
    by_item, by_label = gamma[3] + gamma[4] * c.item_itself, gamma[3] + gamma[4] * c.label_itself
    right, wrong = by_label * on_label, by_item * on_item
    held = by_item * late[0], by_label * late[1]
    if asked.causal:
        wrong = wrong + (gamma[3] + gamma[4] * s.more) * on_itself
    base, extra = gamma[2] * s.rest, gamma[1] + gamma[2] * s.more
    spread = shared = past = total = linear = 0.0
    square = gamma[3] ** 2 * asked.before
    if asked.full:
        by_own, passed = gamma[4] * c.own, gamma[4] * through
        right, wrong = right + passed, wrong + (passed + by_own * on_label)
        held = held[0] + (passed + by_own * late[1]), held[1] + passed
        past = gamma[3] * asked.before + gamma[4] * c.linear
        square = square + gamma[4] * (2 * gamma[3] * c.linear + gamma[4] * c.square)
        if lacking:
            lack = gamma[3] * first
            past = past + lack * asked.some
            square = square + lack * (lack + 2 * (gamma[3] + gamma[4])) * asked.some
        spread = through + on_item * c.item + on_label * c.label + c.earlier
        early = gamma[4] * spread
        total = asked.before * early + past
        square = square + early * (total + past)
        total = _after_in(asked, held[0] + held[1], total + right + wrong)
        linear = base * total + extra * wrong
    linear, square = linear - right, square + right**2 + wrong**2
    square = _after_in(asked, held[0] ** 2 + held[1] ** 2, square)
    if asked.full and asked.causal:
        shared = gamma[4] * s.rest * on_itself
        every = 2 * asked.n * shared
        square = square + shared * (2 * total + every)
        linear = linear + base * every + (extra - 1) * shared
        total = total + every
    return Output(
        1 / norm, on_item, on_label, on_itself, first, late, through, spread, base, extra, shared,
        right, wrong, held, past, total, linear, square,
    )  # fmt: skip


def _excess(point: Sequence[float], asked: Questions) -> float:
    """The loss less that of an output of zero."""
    c = _at(asked, _context(point, asked)[0])
    f = _output(point, asked, c, _scores(point, asked))
    terms = f.inverse * (2 * f.linear + f.inverse * f.square)
    if asked.full:
        terms = terms + (2 * f.base * (asked.n * f.base + f.extra - 1) + f.extra**2)
    return float(np.vdot(asked.weight, terms))
