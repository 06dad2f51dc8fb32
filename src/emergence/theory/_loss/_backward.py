"""The gradient of the loss, by reverse accumulation written out."""

import math
from collections.abc import Sequence

from ._forward import (
    Context,
    Each,
    Questions,
    Scores,
    _after,
    _at,
    _before_in,
    _context,
    _folded,
    _output,
    _overlaps,
    _scores,
    _spread,
    _summed,
    _total,
)


def _gradient(point: Sequence[float], asked: Questions) -> tuple[float, ...]:
    """The derivatives of the loss; `d_x` is that by x in `_output`, or by the logarithm of x."""
    gamma = (0.0, *point[15:])
    context, paid = _context(point, asked)
    c, s = _at(asked, context), _scores(point, asked)
    f = _output(point, asked, c, s)

    # by what the output holds of each row, times the norm
    push = 2 * asked.weight * f.inverse
    by_square = push * f.inverse
    square = _folded(asked, by_square)
    d_norm = -by_square * (f.linear + f.inverse * f.square)
    d_right = square * f.right - _folded(asked, push)
    d_wrong = (by_square if asked.causal else square) * f.wrong
    pulled = _before_in(asked, by_square, square)
    d_held = f.held[0] * pulled, f.held[1] * pulled
    if asked.full:
        each = push * f.base + by_square * f.shared
        d_right, d_wrong = d_right + each, d_wrong + (each + push * f.extra)
        d_past = each + by_square * (gamma[4] * f.spread)
        d_early = asked.before * d_past + by_square * f.past
        d_spread = gamma[4] * d_early
        each = _before_in(asked, each, each)
        d_held = d_held[0] + each, d_held[1] + each

    # by the attention of layer 2
    by_item, by_label = gamma[3] + gamma[4] * c.item_itself, gamma[3] + gamma[4] * c.label_itself
    by_own, both = gamma[4] * c.own, s.looking + s.partner
    on_wrong, on_norm = _folded(asked, d_wrong), _folded(asked, d_norm)
    d_item, d_label = by_item * on_wrong + on_norm, by_label * d_right + on_norm
    if asked.full:
        d_item = d_item + c.item * d_spread
        d_label = d_label + c.label * d_spread + by_own * d_wrong
    d_item, d_label = f.on_item * d_item, f.on_label * d_label
    normed = _before_in(asked, d_norm, on_norm)
    d_late = by_item * d_held[0] + normed, by_label * d_held[1] + normed
    if asked.full:
        d_through = d_held[0] + d_held[1] + d_right + d_wrong
        seen = gamma[4] * (d_through + d_early)
        seen = _before_in(asked, seen, seen)
        d_late = d_late[0] + c.item * seen, d_late[1] + c.label * seen + by_own * d_held[0]
    d_late = f.late[0] * d_late[0], f.late[1] * d_late[1]
    d_both = _summed(asked, d_late[0], c.item) + _summed(asked, d_late[1], c.label)
    d_looking, d_partner, d_itself = d_both + _summed(asked, d_label, c.own), d_both, 0.0
    d_by_item = f.on_item * on_wrong + f.late[0] * d_held[0]
    d_by_label = f.on_label * d_right + f.late[1] * d_held[1]
    d_gamma_3 = _total(d_by_item) + _total(d_by_label) + gamma[3] * _total(square * asked.before)
    if asked.causal:
        wrongs = f.on_itself * _summed(asked, d_wrong)
        d_itself = f.on_itself * _summed(asked, d_norm) + (gamma[3] + gamma[4] * s.more) * wrongs
        d_looking = d_looking + _summed(asked, d_item, c.item_itself)
        d_partner = d_both + _summed(asked, d_label, c.label_itself)
        d_gamma_3 += _total(wrongs)
    if not asked.full:
        d_context = Context(0.0, both * d_late[1], s.looking * d_label)
        d_alpha_3, _ = _by_context(asked, context, paid, d_context)
        return d_alpha_3, _total(d_looking) + _total(d_itself * s.held), d_gamma_3

    # by what layer 1 passes on, and by what the query attends to in it
    d_linear, d_by_own = d_past + gamma[3] * by_square, f.on_label * d_wrong + f.late[1] * d_held[0]
    d_gamma_3 += _total(asked.before * d_past + c.linear * (gamma[4] * by_square))
    d_gamma_4 = _total(
        f.spread * d_early + f.through * d_through + c.own * d_by_own
        + c.linear * d_linear + c.square * (gamma[4] * by_square)
    )  # fmt: skip
    weight, every = 2 * _summed(asked, asked.weight), 2 * asked.n * f.base + f.extra - 1
    d_base = _summed(asked, push, f.total) + weight * every
    d_extra = _summed(asked, push, f.wrong) + weight * (f.base + f.extra)
    d_rest = d_more = d_first = 0.0
    if asked.causal:
        pushed = _summed(asked, push)
        d_shared = f.on_itself * (every * pushed + _summed(asked, by_square, f.total))
        d_extra = d_extra + f.shared * pushed
        d_itself = d_itself + gamma[4] * (s.rest * d_shared)
        d_rest, d_more = gamma[4] * d_shared, gamma[4] * wrongs
        d_gamma_4 += _total(s.more * wrongs + s.rest * d_shared)
        d_gamma_4 += _total(c.item_itself * d_by_item + c.label_itself * d_by_label)
    else:
        lack, some = gamma[3] * f.first, asked.some
        squares = _summed(asked, by_square, some)
        d_lack = _summed(asked, d_linear, some) + (lack + gamma[4]) * squares
        d_first = (1 + f.first) * (gamma[3] * d_lack + _summed(asked, d_norm, some))
        d_first = d_first + _summed(asked, d_item, 1 - some)
        d_gamma_3 += _total(f.first * d_lack + lack * squares)
        d_gamma_4 += _total(lack * squares)
    d_scores = Scores(
        gamma[2] * d_base + d_rest, 0.0, gamma[2] * d_extra + d_more, 0.0, d_looking, d_partner,
        _summed(asked, d_item), _summed(asked, d_label), d_itself, d_first,
    )  # fmt: skip
    d_context = Context(
        f.on_item * d_spread + f.late[0] * seen + both * d_late[0],
        f.on_label * d_spread + f.late[1] * seen + both * d_late[1],
        gamma[4] * d_by_own + s.looking * d_label,
        gamma[4] * d_by_item + s.looking * d_item,
        gamma[4] * d_by_label + s.partner * d_label,
        d_spread, gamma[4] * d_linear, gamma[4] ** 2 / 2 * by_square,
    )  # fmt: skip
    d_alpha_1, *d_beta = _by_scores(point, asked, s, d_scores)
    d_alpha_3, d_alpha_2 = _by_context(asked, context, paid, d_context)
    d_gamma = _total(d_extra), _total(s.rest * d_base + s.more * d_extra), d_gamma_3, d_gamma_4
    return (d_alpha_1 + d_alpha_2, d_alpha_2, d_alpha_3, *d_beta, *d_gamma)


def _by_context(
    asked: Questions, c: Context, paid: tuple[Each, Each], d: Context
) -> tuple[float, float]:
    """The derivatives by alpha_3, and by alpha_2 or alpha_1 as far as the context has them."""
    d_own, d_label = d.own, d.label
    if asked.full:
        d = Context(*(_spread(asked, part) for part in d))
        linear, square = _after(d.linear), 2 * _after(d.square)
        d_paid = linear + square * paid[0], linear + square * paid[1]
        taken = d_paid[0] + d_paid[1]
        d_share = _after(d.earlier - taken) - taken
        d_own, d_label = d.own + d_paid[0], d.label + d_share
    by_own = c.own * ((1 - c.own) * d_own - c.label * d_label)
    if not (asked.full and asked.causal):
        return _total(by_own), 0.0
    d_item, d_item_itself = d.item + d_share, d.item_itself + d_paid[0]
    d_label_itself = d.label_itself + d_paid[1]
    by_item = (1 - c.item_itself) * d_item_itself - c.item * d_item
    by_label = (1 - c.label_itself) * d_label_itself - c.label * d_label - c.own * d_own
    by_own = by_own - c.own * c.label_itself * d_label_itself
    return _total(by_own), _total(c.item_itself * by_item + c.label_itself * by_label)


def _by_scores(point: Sequence[float], asked: Questions, s: Scores, d: Scores) -> tuple[float, ...]:
    """The derivatives by alpha_1, as far as the query has it, and by beta_1 to beta_12."""
    beta, n, e, times = (0.0, *point[3:15]), asked.n, math.exp(point[0]), 1 + asked.causal
    place, partner = _overlaps(s.rest, e, n)
    on_item, looking = d.item + d.itself, d.looking + d.itself * s.held
    more = d.more + beta[7] * on_item + beta[8] * looking
    held = d.itself * (beta[2] + beta[8] * s.more)
    ahead = beta[9] * d.item + beta[10] * d.label + beta[11] * d.looking + beta[12] * d.partner
    rest = d.rest - d.first * (beta[8] + beta[11] + beta[12])
    rest = rest - d.itself * (beta[9] + beta[10] + beta[11] + beta[12])
    overlaps = beta[11] * (2 * n - 1 + e**2) + beta[12] * (2 * n - 2 + 2 * e)
    rest = rest + d.itself * (2 * s.rest * overlaps)
    by_e = times * (2 * n * more + (2 * n - 1) * held - rest) + (2 * n + asked.causal) * ahead
    by_e = s.rest**2 * (by_e + 2 * d.itself * (e * beta[11] + beta[12]))
    nothing, alone = s.rest * d.first, s.rest * d.itself
    slopes = (
        e * by_e, on_item, looking, 0.0, 0.0, 0.0, 0.0,
        s.more * on_item, s.more * looking - nothing,
        s.ahead * d.item - alone, s.ahead * d.label - alone,
        s.ahead * d.looking + place * d.itself - nothing,
        s.ahead * d.partner + partner * d.itself - nothing,
    )  # fmt: skip
    return tuple(map(_total, slopes))
