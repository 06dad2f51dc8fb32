"""Attention and inner products of the full model when the last pair is asked for, in intervals.

Five of the nineteen stay at zero, beta_9 equals beta_7 and beta_11 equals beta_8. Time is counted
as t/N, and attention is multiplied by N, so that all formulas are written in x = 1/N: a ball
around x then stands for many N at once. Rows of pair q are called the answer's item and label; the
2N - 2 rows before them are the past.
"""

from typing import Any, NamedTuple

from flint import arb

Number = Any  # a ball, or a series of balls


class State(NamedTuple):
    """The twelve, with joint = gamma_2 + gamma_3 and apart = gamma_3 - gamma_2.

    alpha_1 and beta_1 follow the output at once, and are meant here without what they follow by:
    u (gamma_2 gamma_1 - gamma_2^2/2), where u is what the query pays in layer 1 to the item asked
    for, and a (gamma_3 gamma_1 - (gamma_3^2 + gamma_4^2)/2) with what it pays in layer 2.
    """

    alpha_1: arb
    alpha_3: arb
    beta_1: arb
    beta_2: arb
    beta_7: arb
    beta_8: arb
    beta_10: arb
    beta_12: arb
    gamma_1: arb
    joint: arb
    apart: arb
    gamma_4: arb


class Sums(NamedTuple):
    """Sums over the past that depend on alpha_3 and N alone."""

    # the sum over k of 4k (2k + 1)/(2k + e^alpha)^3, `laws.recency` without its last term
    push: arb
    # 2 (2N - 3) minus the sum of squares of the past's attention to each row in layer 1
    missing: arb
    first: arb  # the past's attention to row 0


class Attention(NamedTuple):
    """Attention of both layers, times N, and the inner products that the loss consists of."""

    each: Number  # the query's attention in layer 1 to a row that is not the queried item
    asked: Number  # its attention to the queried item
    norm: Number  # of the attention of layer 2, over N
    item: Number  # the attention of layer 2 to the answer's item
    label: Number  # to its label
    first: Number  # to row 0
    passed: Number  # what item and label of the answer pass on to a row of the past
    both: Number  # N |u + a|^2, u the query's attention in layer 1 and a that in layer 2
    more: Number  # N (|a|^2 - |u|^2)
    mixed: Number  # N (u + a) . v, with v what the rows that layer 2 finds had found in layer 1.
    turned: Number  # N (a - u) . v.
    found: Number  # 2N |v|^2


def sums(n_pairs: int, alpha: arb) -> Sums:
    """The sums over the past at N >= 3 pairs, in a time of order N."""
    grown = alpha.exp()
    push, paid = arb(0), arb(0)
    shares, own = [arb(0)], [arb(1)]  # up to pair k; label k to its own item
    for k in range(1, n_pairs - 1):
        label = 1 / (2 * k + grown)
        push += 4 * k * (2 * k + 1) * label * label * label
        paid += label + arb(1) / (2 * k)
        shares.append(paid)
        own.append(grown * label)
    squares = arb(0)
    for share, kept in zip(shares, own, strict=True):
        to_label = paid - share
        to_item = to_label + kept
        squares += to_label * to_label + to_item * to_item
    return Sums(push, 2 * (2 * n_pairs - 3) - squares, paid + 1)


def attention_and_overlaps(
    x: Number,
    grown: tuple[Number, Number],
    raised: tuple[Number, Number, Number],
    missing: Number,
    first: Number,
) -> Attention:
    """Attention and inner products.

    Args:
        x: 1/N.
        grown: e^alpha_1 and e^alpha_3.
        raised: the exponentials of the scores in layer 2 of the answer's item, of its label, and
            of row 0; those of all other rows are 1.
        missing: `Sums.missing` times x.
        first: `Sums.first` times x.
    """
    on_item, on_label, on_first = raised
    each = 1 / (2 - x + x * grown[0])
    asked = grown[0] * each
    norm = 2 - 3 * x + x * (on_item + on_label + on_first)
    item, label, row = on_item / norm, on_label / norm, on_first / norm
    rest = 2 - 2 * x + x * grown[1]
    passed = on_item / (2 - 2 * x) + on_label / rest
    back = x * label * grown[1] / rest  # v of the answer's item, times N
    square = (2 - 3 * x + x * (on_item * on_item + on_label * on_label + on_first * on_first)) / (
        norm * norm
    )
    square_query = (2 - x) * each * each + x * asked * asked
    product = each * (1 - x * item) + asked * x * item
    by_query = each * (1 - x * row) + x * (asked - each) * back
    found_first = (first + x * x * passed) / norm
    by_rows = (1 - x * row - x * back - (1 - on_first) * found_first) / norm + x * item * back
    of_past = 4 - 6 * x - missing + 2 * x * passed * (2 - 3 * x)
    of_past += x * x * (2 - 2 * x) * passed * passed
    return Attention(
        each, asked, norm, item, label, row, passed,
        both=square + square_query + 2 * product,
        more=square - square_query,
        mixed=by_query + by_rows,
        turned=by_rows - by_query,
        found=2 * of_past / (norm * norm) + 2 * x * back * back,
    )  # fmt: skip
