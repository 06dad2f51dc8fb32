"""The population loss of the disentangled transformer on orthonormal inputs, and its gradient.

Inside the subspace of Theorem 1 the loss depends only on inner products of the inputs. On
orthonormal inputs (Assumption 7) it therefore depends on nothing random.

The context consists of pairs k = 0, 1, ... of an item row and a label row, and a query asks for
pair q among the first n. In layer 1 item k attends to each of the 2k earlier rows with `item`.
Label k attends to its own item with `own` = e^alpha_3 `label`, and to each other earlier row with
`label`. Under the causal mask a row also attends to itself, e^(alpha_1 + alpha_2) times as much as
to another. A position has a score only with its partner, and the query has no position, so beta_3
to beta_6 have no effect. In layer 2 the query has equal scores with all rows before pair q, except
row 0, which attends to nothing under the strict mask. Its score with a later row does not depend
on q, so one sum over pairs k > q serves all q at once.

The output has a part `base` in each of the 2n rows and a part that is divided by the norm of the
attention. The loss is therefore a polynomial of second degree in 1/norm. With three parameters
(alpha_3, beta_2, gamma_3 of §6) layer 1 passes nothing on, and all prefixes have the same scores.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from emergence.models import Mask
from emergence.tasks import Query

from ._flow import Landscape

Model = Literal["reduced", "full"]  # the three parameters of §6, or the 19 of Theorem 1
Row = Float[np.ndarray, " pairs"]
Each = Any  # a number, or one for each prefix, pair, or both: (prefixes, pairs)
BLOCK = 64  # prefixes at once, so that a block's matrices fit the processor's cache


class Questions(NamedTuple):
    """The pairs that queries ask for: the last of each prefix, or any pair of one or of many."""

    weight: Each  # in the loss
    n: Each  # pairs of each prefix; a column if there is more than one and any pair is asked for
    before: Each  # 2q, the rows before each pair asked for
    some: Each  # 1 if there are any, else 0
    rows: Each  # 2k, the rows before each pair of the context
    even: Each  # 1/2k, and 0 for the first pair
    last: int | Int[np.ndarray, " prefixes"] | None = None  # q among the k; None for all of them
    any_pair: bool = False
    present: Float[np.ndarray, "prefixes pairs"] | None = None  # 1 for the pairs of many prefixes


class Context(NamedTuple):
    """Layer 1 in the rows of the context: their attention, and what others pay to them."""

    item: Each  # attention of item k to each earlier row
    label: Each  # of label k to each earlier row but its item
    own: Each  # of label k to its item
    item_itself: Each  # of item k to itself
    label_itself: Each  # of label k to itself
    earlier: Each = 0.0  # attention to row 0 by the rows between pairs 0 and k
    linear: Each = 0.0  # that to the rows before pair k less the former, summed over them
    square: Each = 0.0  # its squares, summed


class Scores(NamedTuple):
    """Layer 1 in the query, and what it makes of the scores of layer 2: for each prefix."""

    rest: Each  # attention to each row but item q
    held: Each  # attention to the content of item q, which is the query's too
    more: Each  # this content beyond `rest`
    ahead: Each  # attention to item q beyond `rest`
    looking: Each  # score by a row's attention to item q
    both: Each  # score by its attention to each row of pair q
    item: Each  # score of item q itself
    label: Each  # score of label q itself
    itself: Each  # score of the query
    first: Each  # score of row 0, which attends to nothing


class Output(NamedTuple):
    """Layer 2 and the output for each pair asked for, times the norm of the attention."""

    inverse: Each  # 1/norm, itself without the norm, like `base` and `extra`
    on_item: Each  # attention to item q
    on_label: Each  # to label q
    on_itself: Each  # of the query to itself
    first: Each  # to row 0 beyond that to other rows before pair q
    late_item: Each  # to item k > q
    late_label: Each  # to label k > q
    through: Each  # what all later rows pass on to each row up to pair q
    spread: Each  # what all rows pass on to row 0
    base: Each  # output of every row by what the query retrieves in layer 1
    extra: Each  # output of item q beyond `base`
    shared: Each  # output of every row by what the query passes on; not in the following
    right: Each  # output of label q
    wrong: Each  # output of item q
    late: tuple[Each, Each]  # outputs of item and label k > q
    past: Each  # sum of the outputs of rows before pair q, less what they all have by `spread`
    rows: Each  # sum of all outputs
    linear: Each  # the coefficient of 2/norm in the loss
    squares: Each  # the coefficient of 1/norm^2


def landscape_of_chances(chances: Row) -> Landscape:
    """The full model's loss if the query asks for pair q with chance `chances[q]` (this book).

    Args:
        chances: the probability of each of the N pairs, >= 0 with a sum of 1.

    Returns:
        The loss of the 19 pseudo-parameters and its gradient, each at a cost of order N.

    Example:
        >>> first = theory.landscape_of_chances(np.array([1.0, 0.0, 0.0, 0.0]))
        >>> first.loss(*[0.0] * 19), len(first.gradient(*[0.0] * 19))
        (1.0, 19)
    """
    return landscape_of_questions([_of_one(chances)], len(chances), "full", "strict")


def landscape_of_questions(
    blocks: list[Questions], n_pairs: int, model: Model, mask: Mask
) -> Landscape:
    """The sum of the losses of all questions, whose weights have a sum of 1."""
    full, causal = model == "full", mask == "causal"
    weight = float(sum(np.sum(block.weight) for block in blocks))

    def loss(*parameters: float) -> float:
        point = _point(parameters, full)
        return weight + sum(excess(point, block, causal, full) for block in blocks)

    def gradient(*parameters: float) -> tuple[float, ...]:
        point = _point(parameters, full)
        slopes = [backward(point, block, causal, full) for block in blocks]
        return slopes[0] if len(slopes) == 1 else tuple(map(sum, zip(*slopes, strict=True)))

    if full:
        return Landscape(loss, gradient, n_pairs, groups=(3, 12, 4), head=(2, 4, 17))
    return Landscape(loss, gradient, n_pairs)


def questions(
    weights: Row, sizes: Int[np.ndarray, " prefixes"], query: Query, model: Model
) -> list[Questions]:
    """What prefixes of so many pairs are asked for."""
    if query == "uniform" and len(sizes) == 1:
        return [_of_one(np.full(sizes[0], weights[0] / sizes[0]))]
    if query == "uniform":
        starts = range(0, len(sizes), BLOCK)
        return [_of_many(weights[s : s + BLOCK], sizes[s : s + BLOCK, None]) for s in starts]
    if len(sizes) == 1:  # a number is faster than an array of one
        weights, sizes = weights[0], sizes[0]
    before, some, even = _rows(sizes - 1)
    if model == "reduced":
        return [Questions(weights, 1.0 * sizes, before, some, before, even)]
    rows, _, even = _rows(np.arange(np.max(sizes)))
    return [Questions(weights, 1.0 * sizes, before, some, rows, even, last=sizes - 1)]


def _of_one(chances: Row) -> Questions:
    """One context, whose pair q is asked for with chance `chances[q]`."""
    before, some, even = _rows(np.arange(len(chances)))
    return Questions(chances, float(len(chances)), before, some, before, even, any_pair=True)


def _of_many(weights: Row, sizes: Int[np.ndarray, "prefixes 1"]) -> Questions:
    before, some, even = _rows(np.arange(sizes[-1, 0]))
    present = 1.0 * (before < 2 * sizes)
    weight = weights[:, None] / sizes * present
    return Questions(
        weight, 1.0 * sizes, before, some, before, even, any_pair=True, present=present
    )


def _rows(k: Int[np.ndarray, " pairs"]) -> tuple[Row, Row, Row]:
    """How many rows there are before each pair, whether there are any, and one over their number"""
    rows = 2.0 * k
    some = 1.0 * (k > 0)
    return rows, some, some / np.maximum(rows, 1)


def _point(parameters: Sequence[float], full: bool) -> Sequence[float]:
    """All 19 parameters. Raises ValueError for another number of them."""
    if not full:
        alpha, beta, gamma = parameters
        return [0.0, 0.0, alpha, 0.0, beta, *[0.0] * 12, gamma, 0.0]
    if len(parameters) != 19:
        raise ValueError(f"there are 19 pseudo-parameters (Theorem 1), got {len(parameters)}")
    return parameters


def _context(point: Sequence[float], asked: Questions, causal: bool, full: bool):
    """Layer 1 in the context by pair k; and by pair what `linear` and `square` sum."""
    shrunk, itself, others, item = math.exp(-point[2]), 0.0, asked.rows, asked.even
    if causal:
        itself = math.exp(point[0] + point[1])
        others = others + itself
        item = 1 / others
    own = 1 / (1 + shrunk * others)
    label = shrunk * own
    item_itself, label_itself = (itself * item, itself * label) if causal else (0.0, 0.0)
    if not full:
        return Context(item, label, own, item_itself, label_itself), (0.0, 0.0)
    share = item + label
    share[0] = 0
    shares = np.add.accumulate(share)
    paid = own + item_itself - shares, label_itself - shares
    linear, square = before(paid[0] + paid[1]), before(paid[0] ** 2 + paid[1] ** 2)
    return Context(item, label, own, item_itself, label_itself, shares - share, linear, square), paid


def _scores(point: Sequence[float], asked: Questions, causal: bool, full: bool) -> Scores:
    beta, n, times = (0.0, *point[3:15]), asked.n, 1 + causal
    if not full:
        held = 2 / (2 * n + 1) if causal else 0.0
        return Scores(0.0, held, 0.0, 0.0, beta[2], beta[2], 0.0, 0.0, beta[2] * held, 0.0)
    e = math.exp(point[0])
    rest = 1 / (2 * n - 1 + times * e)
    held = times * e * rest
    more, ahead = held - rest, (e - 1) * rest
    looking = beta[2] + beta[8] * more + beta[11] * ahead
    item = beta[1] + beta[7] * more + beta[9] * ahead
    first = itself = 0.0
    if causal:
        place, partner = _overlaps(rest, e, n)
        itself = beta[1] + beta[2] * held + more * (beta[7] + beta[8] * held)
        itself += beta[11] * place + beta[12] * partner - rest * (beta[9] + beta[10])
    else:
        first = -(beta[8] + beta[11] + beta[12]) * rest
    both, label = looking + beta[12] * ahead, beta[10] * ahead
    return Scores(rest, held, more, ahead, looking, both, item, label, itself, first)


def _overlaps(rest: Each, e: float, n: Each) -> tuple[Each, Each]:
    """Of the positions that the query retrieves with themselves, and with their partners."""
    return rest**2 * (2 * n - 1 + e**2) - rest, rest**2 * (2 * n - 2 + 2 * e) - rest


def forward(point: Sequence[float], asked: Questions, c: Context, s: Scores, causal, full) -> Output:
    gamma = (0.0, *point[15:])
    some, rows = asked.some, asked.before

    # layer 2: attention, not normed
    on_item = s.item + s.looking * c.item_itself
    if full and not causal:
        on_item = on_item + (1 - some) * s.first
    on_item = np.exp(on_item)
    on_label = np.exp(s.label + (s.both - s.looking) * c.label_itself + s.looking * c.own)
    on_itself = np.exp(s.itself) if causal else 0.0
    norm = rows + on_label + on_item
    first = late_item = late_label = through = 0.0
    if causal:
        norm = norm + on_itself
    elif full:
        first = np.expm1(s.first)
        norm = norm + some * first
    if asked.any_pair:
        late_item, late_label = np.exp(s.both * c.item), np.exp(s.both * c.label)
        if full and asked.present is not None:
            late_item, late_label = late_item * asked.present, late_label * asked.present
        norm = after(late_item + late_label, asked, norm)
        if full:
            through = after(late_item * c.item + late_label * c.label)
    inverse = 1 / norm

    # what the output holds of each row, times the norm
    by_item, by_label = gamma[3] + gamma[4] * c.item_itself, gamma[3] + gamma[4] * c.label_itself
    right, wrong = by_label * on_label, by_item * on_item
    if causal:
        wrong = wrong + (gamma[3] + gamma[4] * s.more) * on_itself
    late = (by_item * late_item, by_label * late_label) if asked.any_pair else (0.0, 0.0)
    spread = base = extra = shared = past = total = linear = 0.0
    squares = gamma[3] ** 2 * rows
    if full:
        on_own, passed = gamma[4] * c.own, gamma[4] * through
        right = right + passed
        wrong = wrong + passed + on_own * on_label
        if asked.any_pair:
            late = late[0] + on_own * late_label + passed, late[1] + passed
        spread = through + on_item * c.item + on_label * c.label + c.earlier
        passed = gamma[4] * spread
        past = gamma[3] * rows + gamma[4] * c.linear
        squares = squares + gamma[4] * (2 * gamma[3] * c.linear + gamma[4] * c.square)
        if not causal:
            lack = gamma[3] * first
            past = past + some * lack
            squares = squares + some * (lack * (lack + 2 * (gamma[3] + gamma[4])))
        each = passed * rows + past
        squares = squares + passed * (each + past)
        total = each + right + wrong
        if asked.any_pair:
            total = total + after(late[0] + late[1])
    squares = squares + right**2 + wrong**2
    if asked.any_pair:
        squares = after(late[0] ** 2 + late[1] ** 2, asked, squares)
    if not full:
        return Output(inverse, on_item, on_label, on_itself, first, late_item, late_label, through, spread, base, extra, shared, right, wrong, late, past, total, -right, squares)
    base, extra = gamma[2] * s.rest, gamma[1] + gamma[2] * s.more
    linear = base * total + extra * wrong - right
    if causal:
        shared = gamma[4] * s.rest * on_itself
        each = 2 * asked.n * shared
        squares = squares + shared * (2 * total + each)
        total = total + each
        linear = linear + base * each + (extra - 1) * shared
    return Output(inverse, on_item, on_label, on_itself, first, late_item, late_label, through, spread, base, extra, shared, right, wrong, late, past, total, linear, squares)


def excess(point, asked, causal, full) -> float:
    """The loss less its value without an output."""
    c = _at(_context(point, asked, causal, full)[0], asked)
    f = forward(point, asked, c, _scores(point, asked, causal, full), causal, full)
    terms = f.inverse * (2 * f.linear + f.inverse * f.squares)
    if full:
        terms = terms + 2 * f.base * (asked.n * f.base + f.extra - 1) + f.extra**2
    return float(np.vdot(asked.weight, terms))


def backward(point, asked, causal, full) -> tuple[float, ...]:
    """The derivatives of the loss; `d_x` is that by x in `forward`."""
    gamma = (0.0, *point[15:])
    whole, paid = _context(point, asked, causal, full)
    c, s = _at(whole, asked), _scores(point, asked, causal, full)
    f = forward(point, asked, c, s, causal, full)
    d_scores = {}
    d_context = {}

    # by the output, times the norm: 2 base + 2 inverse (output + shared) by each row's
    push = 2 * asked.weight * f.inverse
    by_square = push * f.inverse
    d_norm = -by_square * (f.linear + f.inverse * f.squares)
    square = folded(by_square, f.right)
    d_right, d_wrong = square * f.right - folded(push, f.right), by_square * f.wrong
    if full:
        each = push * f.base
        if causal:
            each = each + by_square * f.shared
        d_right, d_wrong = d_right + each, d_wrong + push * f.extra + each
        passed = gamma[4] * f.spread
        d_past = each + by_square * passed
        d_passed = asked.before * d_past + by_square * f.past
        d_spread = gamma[4] * d_passed

    # by the attention of layer 2
    by_item, by_label = gamma[3] + gamma[4] * c.item_itself, gamma[3] + gamma[4] * c.label_itself
    on_own = gamma[4] * c.own
    d_late = 0.0, 0.0
    d_both = d_item = d_label = 0.0
    if asked.any_pair:
        pulled, normed = before(by_square, asked, f.late[0]), before(d_norm, asked, f.late[0])
        d_late = f.late[0] * pulled, f.late[1] * pulled
        if full:
            each = before(each)
            d_late = d_late[0] + each, d_late[1] + each
        d_late_item, d_late_label = by_item * d_late[0] + normed, by_label * d_late[1] + normed
        if full:
            seen = before(gamma[4] * (d_late[0] + d_late[1] + d_right + d_wrong + d_passed))
            d_late_item = d_late_item + c.item * seen
            d_late_label = d_late_label + c.label * seen + on_own * d_late[0]
            d_item, d_label = f.late_item * seen, f.late_label * seen
        d_late_item, d_late_label = d_late_item * f.late_item, d_late_label * f.late_label
        d_both = summed(d_late_item, c.item, asked) + summed(d_late_label, c.label, asked)
        d_item, d_label = d_item + s.both * d_late_item, d_label + s.both * d_late_label
    d_on_label = by_label * d_right + folded(d_norm, f.right)
    d_on_item = by_item * d_wrong + d_norm
    if full:
        d_on_label = d_on_label + on_own * d_wrong + c.label * d_spread
        d_on_item = d_on_item + c.item * d_spread
    d_log_label = f.on_label * d_on_label
    d_own = s.looking * d_log_label
    d_looking = summed(d_log_label, c.own, asked) + d_both
    d_log_item = d_log_itself = 0.0
    if full or causal:
        d_log_item = f.on_item * folded(d_on_item, f.on_item)
    if causal:
        d_looking = d_looking + summed(d_log_item, c.item_itself, asked)
        d_log_itself = (gamma[3] + gamma[4] * s.more) * summed(d_wrong, 1.0, asked) + summed(d_norm, 1.0, asked)

    d_gamma_3 = dot(d_right, f.on_label) + dot(d_wrong, f.on_item + f.on_itself) + gamma[3] * dot(square, asked.before)
    if asked.any_pair:
        d_gamma_3 += dot(d_late[0], f.late_item) + dot(d_late[1], f.late_label)
    if not full:
        d_alpha = total(c.own * ((1 - c.own) * d_own - c.label * d_label))
        d_log_itself = d_log_itself * f.on_itself
        return d_alpha, total(d_looking) + total(d_log_itself * s.held), float(d_gamma_3)

    # by what rows before pair q get passed on
    d_linear = d_past + gamma[3] * by_square
    d_gamma_3 += total(d_past * asked.before) + gamma[4] * total(by_square * c.linear)
    over = f.through + f.on_label * c.own
    d_gamma_4 = total(
        d_right * f.through + d_wrong * over + d_passed * f.spread + d_linear * c.linear
        + by_square * (gamma[4] * c.square)
    )
    if asked.any_pair:
        d_gamma_4 += total(d_late[0] * (f.through + f.late_label * c.own) + d_late[1] * f.through)

    d_own = d_own + gamma[4] * (d_late[0] * f.late_label + d_wrong * f.on_label)
    d_label = d_label + d_spread * f.on_label
    d_base = summed(push, f.rows, asked)
    d_extra = summed(push, f.wrong, asked)
    W = 2 * summed(asked.weight, 1.0, asked)
    d_base = d_base + W * (2 * asked.n * f.base + f.extra - 1)
    d_extra = d_extra + W * (f.base + f.extra)
    d_rest, d_more = gamma[2] * d_base, gamma[2] * d_extra
    d_first, d_item_itself, d_label_itself, on_partner = 0.0, 0.0, 0.0, d_both
    if causal:
        pushed = summed(push, 1.0, asked)
        d_shared = (2 * asked.n * f.base + f.extra - 1) * pushed + summed(by_square, f.rows, asked)
        d_extra_shared = pushed * f.shared
        d_more = d_more + gamma[2] * d_extra_shared
        d_extra = d_extra + d_extra_shared
        d_log_itself = f.on_itself * (d_log_itself + gamma[4] * s.rest * d_shared)
        d_rest = d_rest + gamma[4] * f.on_itself * d_shared
        wrongs = f.on_itself * summed(d_wrong, 1.0, asked)
        d_more = d_more + gamma[4] * wrongs
        d_item = d_item + d_spread * f.on_item
        d_item_itself = gamma[4] * (d_wrong * f.on_item + d_late[0] * f.late_item) + s.looking * d_log_item
        d_label_itself = gamma[4] * (d_right * f.on_label + d_late[1] * f.late_label) + (s.both - s.looking) * d_log_label
        on_partner = on_partner + summed(d_log_label, c.label_itself, asked)
        d_gamma_4 += total(d_right * (c.label_itself * f.on_label) + d_wrong * (c.item_itself * f.on_item))
        d_gamma_4 += total(s.more * wrongs) + total(s.rest * f.on_itself * d_shared)
        if asked.any_pair:
            d_gamma_4 += total(d_late[0] * (c.item_itself * f.late_item) + d_late[1] * (c.label_itself * f.late_label))
    else:
        lack = gamma[3] * f.first
        some_square = summed(by_square, asked.some, asked)
        d_lack = summed(d_linear, asked.some, asked) + (lack + gamma[4]) * some_square
        d_first = (1 + f.first) * (gamma[3] * d_lack + summed(d_norm, asked.some, asked))
        d_first = d_first + summed(d_log_item, 1 - asked.some, asked)
        d_gamma_3 += total(f.first * d_lack + lack * some_square)
        d_gamma_4 += total(lack * some_square)
    d_gamma = (total(d_extra), total(s.rest * d_base + s.more * d_extra), float(d_gamma_3), float(d_gamma_4))

    slopes = Context(d_item, d_label, d_own, d_item_itself, d_label_itself, d_spread, gamma[4] * d_linear, gamma[4] ** 2 / 2 * by_square)
    d_alpha_3, d_itself = by_context(whole, paid, Context(*(_spread(part, asked) for part in slopes)), causal)
    d_s = Scores(d_rest, 0.0, d_more, 0.0, d_looking, on_partner, summed(d_log_item, 1.0, asked), summed(d_log_label, 1.0, asked), d_log_itself, d_first)
    d_alpha_1, *d_beta = by_scores(point, asked, s, d_s, causal)
    return (d_alpha_1 + d_itself, d_itself, d_alpha_3, *d_beta, *d_gamma)


def by_context(c: Context, paid, d: Context, causal):
    """By alpha_3 and by alpha_1 + alpha_2."""
    linear, square = after(d.linear), 2 * after(d.square)
    d_paid = linear + square * paid[0], linear + square * paid[1]
    taken = d_paid[0] + d_paid[1]
    d_share = after(d.earlier - taken) - taken
    d_share[0] = 0
    d_label, d_own = d.label + d_share, d.own + d_paid[0]
    by_label = c.own * ((1 - c.own) * d_own - c.label * d_label)
    if not causal:
        return total(by_label), 0.0
    d_item, d_item_itself = d.item + d_share, d.item_itself + d_paid[0]
    d_label_itself = d.label_itself + d_paid[1]
    by_item = c.item_itself * ((1 - c.item_itself) * d_item_itself - c.item * d_item)
    itself = c.label_itself * (
        (1 - c.label_itself) * d_label_itself - c.label * d_label - c.own * d_own
    )
    return total(by_label - c.own * c.label_itself * d_label_itself), total(by_item + itself)


def by_scores(point, asked, s: Scores, d: Scores, causal):
    """By alpha_1, but for its effect on the context, and by beta."""
    beta, e, n, times = (0.0, *point[3:15]), math.exp(point[0]), asked.n, 1 + causal
    place, partner = _overlaps(s.rest, e, n)
    by_1, by_2 = d.item + d.itself, d.looking + d.itself * s.held
    more = d.more + beta[7] * by_1 + beta[8] * by_2
    held = d.itself * (beta[2] + beta[8] * s.more)
    ahead = beta[9] * d.item + beta[10] * d.label + beta[11] * d.looking + beta[12] * d.both
    rest = d.rest - (beta[8] + beta[11] + beta[12]) * d.first
    rest = rest - d.itself * (beta[9] + beta[10] + beta[11] + beta[12])
    rest = rest + 2 * s.rest * d.itself * (
        beta[11] * (2 * n - 1 + e**2) + beta[12] * (2 * n - 2 + 2 * e)
    )
    by_e = times * (2 * n * more + (2 * n - 1) * held - rest) + (2 * n + causal) * ahead
    by_e = s.rest**2 * (by_e + 2 * d.itself * (e * beta[11] + beta[12]))
    lost, alone = s.rest * d.first, s.rest * d.itself
    slopes = (
        e * by_e, by_1, by_2, 0.0, 0.0, 0.0, 0.0, s.more * by_1, s.more * by_2 - lost,
        s.ahead * d.item - alone, s.ahead * d.label - alone,
        s.ahead * d.looking + place * d.itself - lost, s.ahead * d.both + partner * d.itself - lost,
    )  # fmt: skip
    return map(total, slopes)


def _at(c: Context, asked: Questions) -> Context:
    if asked.last is None:
        return c
    return Context(*(part if isinstance(part, float) else part[asked.last] for part in c))


def _spread(d: Each, asked: Questions) -> Each:
    if isinstance(d, float) and asked.last is None:
        return d
    if asked.last is not None:
        row = np.zeros(len(asked.rows))
        row[asked.last] = d
        return row
    return np.add.reduce(d, axis=0) if d.ndim > 1 else d


def total(terms: Each) -> float:
    return float(terms if isinstance(terms, float) else np.add.reduce(terms, axis=None))


def dot(x, y):
    """The sum of the products."""
    if isinstance(y, float):
        return y * np.add.reduce(x, axis=None) if isinstance(x, np.ndarray) else x * y
    return np.vdot(x, y) if x.ndim == y.ndim else (x @ y).sum()


def folded(d, like):
    return np.add.reduce(d, axis=0) if d.ndim > like.ndim else d


def summed(d, row, asked):
    """By prefix."""
    if not asked.any_pair:
        return d * row
    if isinstance(row, float):
        return row * np.add.reduce(d, axis=-1, keepdims=d.ndim > 1)
    if d.ndim > 1:
        return np.add.reduce(d * row, axis=-1, keepdims=True) if row.ndim > 1 else (d @ row)[:, None]
    return d.dot(row)


def after(terms, asked=None, more=0.0):
    """The sum over k > q for every q."""
    sums = np.empty_like(terms)
    if asked is not None and terms.ndim < asked.weight.ndim:  # of prefixes alike
        sums[0] = 0
        np.add.accumulate(terms[1:], out=sums[1:])
        return (more - sums) + sums[asked.n.astype(int) - 1]
    sums[..., -1] = 0
    np.add.accumulate(terms[..., :0:-1], axis=-1, out=sums[..., -2::-1])
    return sums + more if asked is not None else sums


def before(terms, asked=None, like=None):
    """The sum over k < q for every q."""
    if like is not None and terms.ndim > like.ndim:
        sums = before(np.add.reduce(terms, axis=0))
        ends = np.zeros(len(like))
        n = asked.n.astype(int)[:, 0]
        inside = n < len(like)
        ends[n[inside]] = np.add.reduce(terms, axis=1)[inside]
        return sums - np.add.accumulate(ends)
    sums = np.empty_like(terms)
    sums[..., 0] = 0
    np.add.accumulate(terms[..., :-1], axis=-1, out=sums[..., 1:])
    return sums
