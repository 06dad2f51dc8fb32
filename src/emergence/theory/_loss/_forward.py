"""Layer 1, the scores of layer 2 that follow from it, layer 2, the output and the loss."""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from emergence.models import Mask
from emergence.tasks import Query

Model = Literal["reduced", "full"]  # the three parameters of §6, or the 19 of Theorem 1
Row = Float[np.ndarray, " pairs"]
Sizes = Int[np.ndarray, " prefixes"]
Each = Any  # a number, or one for each prefix, pair, or both: (prefixes, pairs)
BLOCK = 64  # prefixes at once, so that a block's matrices fit the processor's cache


class Questions(NamedTuple):
    """The pairs that queries ask for: the last of each prefix, or any pair of one or of many."""

    full: bool  # whether all parameters are free, or three
    causal: bool  # whether a row attends to itself
    any_pair: bool  # whether there are pairs after the one asked for
    weight: Each  # of each question in the loss
    n: Each  # pairs of each prefix; (prefixes, 1) with any pair of many
    last: Each  # k of the last pair of each prefix
    before: Each  # 2q, the rows before each pair asked for
    some: Each  # 1 if there are any, else 0
    rows: Each  # 2k, the rows before each pair of the context
    later: Each  # 1 if there are any, else 0
    present: Each = 1.0  # 1 for the pairs of each prefix, 0 for later ones

    @classmethod
    def of(
        cls, rule: tuple[bool, bool, bool], weight: Each, n: Each, q: Each, k: Each, **parts: Each
    ) -> "Questions":
        """Pairs q of prefixes with n pairs, in a context of pairs k; `rule` has the first three."""
        q, k = 2.0 * q, 2.0 * k
        some, later = np.minimum(q, 1), np.minimum(k, 1)
        return cls(*rule, weight, 1.0 * n, n - 1, q, some, k, later, **parts)


def questions(
    weights: Row, sizes: Sizes, query: Query, model: Model, mask: Mask
) -> list[Questions]:
    """What prefixes with so many pairs are asked for, in blocks."""
    rule, one = (model == "full", mask == "causal", query == "uniform"), len(sizes) == 1
    if query == "last":
        if one:  # a number is faster than an array of one
            weights, sizes = weights[0], sizes[0]
        pairs = np.arange(np.max(sizes)) if model == "full" else sizes - 1
        return [Questions.of(rule, weights, sizes, sizes - 1, pairs)]
    blocks = []
    for start in range(0, len(sizes), BLOCK):
        part = 0 if one else (slice(start, start + BLOCK), None)
        pairs, n = np.arange(np.max(sizes[part])), sizes[part]
        present = 1.0 * (pairs < n)
        weight = weights[part] / n * present
        blocks.append(Questions.of(rule, weight, n, pairs, pairs, present=present))
    return blocks


def _spread(asked: Questions, terms: Each) -> Each:
    """The sum over questions for each pair of the context."""
    if asked.any_pair or not asked.full:
        return np.add.reduce(terms, axis=0) if np.ndim(terms) > 1 else terms
    row = np.zeros(len(asked.rows))
    row[asked.last] = terms
    return row


def _folded(asked: Questions, terms: Each) -> Each:
    """With three parameters, the sum over prefixes, which have the same scores."""
    return terms if asked.full or terms.ndim < 2 else np.add.reduce(terms, axis=0)


def _summed(asked: Questions, terms: Each, by: Each = 1.0) -> Each:
    """The sum of the products over the pairs asked for, for each prefix."""
    if not asked.any_pair:
        return terms * by
    if terms.ndim > 1:
        return np.add.reduce(terms * by, axis=-1, keepdims=True)
    return np.add.reduce(terms) * by if isinstance(by, float) else terms.dot(by)


def _total(terms: Each) -> float:
    return float(terms if isinstance(terms, float) else np.add.reduce(terms, axis=None))


def _after_in(asked: Questions, terms: Each, more: Each = 0.0) -> Each:
    """The sum over the pairs k > q of each prefix for every q, and more."""
    if not asked.any_pair:
        return more
    if asked.weight.ndim == terms.ndim:
        return _after(terms) + more
    sums = np.zeros_like(terms)
    np.add.accumulate(terms[1:], out=sums[1:])
    return (more - sums) + sums[asked.last]


def _before_in(asked: Questions, terms: Each, folded: Each) -> Each:
    """The sum over q < k of each prefix for every k, and over prefixes if `folded` is that sum."""
    if not asked.any_pair:
        return 0.0
    if terms.ndim == folded.ndim:
        return _before(terms)
    ended = np.zeros(len(asked.rows) + 1)
    ended[asked.last[:, 0] + 1] = np.add.reduce(terms, axis=1)
    return _before(folded) - np.add.accumulate(ended[:-1])


def _after(terms: Each) -> Each:
    """The sum over k > q for every q."""
    sums = np.empty_like(terms)
    sums[..., -1] = 0
    np.add.accumulate(terms[..., :0:-1], axis=-1, out=sums[..., -2::-1])
    return sums


def _before(terms: Each) -> Each:
    """The sum over q < k for every k."""
    sums = np.empty_like(terms)
    sums[..., 0] = 0
    np.add.accumulate(terms[..., :-1], axis=-1, out=sums[..., 1:])
    return sums


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
