"""The losses of all prefixes, asked for their last pair, with nineteen parameters, in balls.

The formula is that of `theory.positions.landscape`, multiplied out so that every place is written
in x = 1/n: a ball around zero then stands for all long prefixes at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from emergence.models import Mask

from ._balls import Ball, Jet, Number, Series, Tape, Twice, columns

# Twelve coordinates move: the scores but beta_3 to beta_6, and (gamma_3 - gamma_2)/sqrt 2. Long
# prefixes hold the rest of the output: gamma_2 + gamma_3 = 2, gamma_4 = -1, gamma_1 = 0.
COORDINATES = (
    "alpha_1", "alpha_2", "alpha_3", "beta_1", "beta_2",
    *(f"beta_{i}" for i in range(7, 13)), "apart",
)  # fmt: skip
HALF_ROOT = Ball(np.array([0.5**0.5]), np.array([2e-16]))


class Place(NamedTuple):
    """Where a prefix of n pairs is: numbers of a tape or balls, an entry for each prefix."""

    x: Number  # 1/n
    past: Number  # sum of squares of what layer 1 pays to each row of the past, times x
    early: Number  # what the past pays to row 0 but by its own label, times x


def excess(z: Sequence[Number], at: Place, mask: Mask) -> Number:
    """The losses less 1, each over x, for n >= 2."""
    alpha_1, alpha_2, alpha_3, beta_1, beta_2, *betas, apart = z
    beta_7, beta_8, beta_9, beta_10, beta_11, beta_12 = betas
    gamma_2, gamma_3 = apart * HALF_ROOT.negative() + 1.0, apart * HALF_ROOT + 1.0
    x, own_row = at.x, mask == "causal"
    rows = x * -2.0 + 2.0  # of the past, times x

    # layer 1: the query's attention times n, and what it pays the item beyond the other rows
    e, grown = alpha_1.exp(), alpha_3.exp()
    twice = e * (2.0 if own_row else 1.0)
    rest = ((twice + -1.0) * x + 2.0).inverse()
    above = (twice + -1.0) * rest
    more, ahead = above * x, (e + -1.0) * rest * x
    itself = (alpha_1 + alpha_2).exp() * x  # the causal mask alone has it
    to_label = grown * x + rows
    label = (to_label + itself if own_row else to_label).inverse()  # times n
    own = grown * label * x

    # layer 2
    looking = beta_2 + beta_8 * more + beta_11 * ahead
    score_item = beta_1 + beta_7 * more + beta_9 * ahead
    score_label = beta_10 * ahead + looking * own
    by_item = by_label = gamma_3
    if own_row:
        item = (itself + rows).inverse()
        paid = itself * item, itself * label
        score_item = score_item + looking * paid[0]
        score_label = score_label + beta_12 * ahead * paid[1]
        by_item, by_label = gamma_3 - paid[0], gamma_3 - paid[1]
        one = rest * x
        square = (e * e * x + (x * -1.0 + 2.0)) * rest * one - one
        partner = (e * 2.0 * x + rows) * rest * one - one
        held = twice * one
        score_query = beta_1 + beta_2 * held + more * (beta_7 + beta_8 * held)
        score_query = score_query + beta_11 * square + beta_12 * partner - one * (beta_9 + beta_10)
        on_query = score_query.exp()
    else:
        item = rows.inverse()
        lost = (-(beta_8 + beta_11 + beta_12) * rest * x).exp() + -1.0  # row 0 pays to nothing
    on_item, on_label = score_item.exp(), score_label.exp()
    heavy = on_item + on_label + (on_query if own_row else lost)
    over = (heavy * x + rows).inverse()  # 1/norm, times n

    # the output, times the norm
    right = by_label * on_label
    wrong = by_item * on_item - own * on_label
    base, extra = gamma_2 * rest, gamma_2 * more
    passed = (on_item * item + on_label * label) * x  # to each row of the past
    mass = rows if own_row else rows - x
    found = passed * rows + mass
    total = gamma_3 * rows - found
    squares = gamma_3 * (gamma_3 * rows - found * 2.0) + passed * (found + mass) + at.past
    if own_row:
        wrong = wrong + (gamma_3 - more) * on_query
    else:
        lack = gamma_3 * lost
        total = total + lack * x
        of_first = (gamma_3 - passed + -1.0) * x - at.early
        squares = squares + lack * (lack * x + of_first * 2.0)
    total = total + (right + wrong) * x
    squares = squares + (right * right + wrong * wrong) * x
    linear = base * total + extra * wrong - right
    if own_row:
        shared = -rest * on_query  # times n
        squares = squares + shared * (total * 2.0 + shared * x * 2.0) * x
        linear = linear + (base * 2.0 + extra + -1.0) * shared * x
    by_query = base * (base + extra + -1.0) * 2.0 + gamma_2 * above * extra
    return over * (linear * 2.0 + over * squares) + by_query


class Pair(NamedTuple):
    """What pair k >= 1 adds to the two sums of `Place`."""

    squares: Number  # |A_item + A_label|^2, and twice what both pay to each row that pays before
    share: Number  # what both pay to each row before, times k


def pair(alphas: Sequence[Number], u: Number, mask: Mask) -> Pair:
    """Pairs k >= 1 of the context, for u = 1/k."""
    grown = alphas[2].exp()
    if mask == "causal":
        own = (alphas[0] + alphas[1]).exp()
        item, label = (own * u + 2.0).inverse(), ((own + grown) * u + 2.0).inverse()
        found = (own * item + grown * label) * u, own * label * u  # at the item and at the label
        share = item + label
        return Pair(_paid(share, found[0], u) + found[1].square() + share * 4.0, share)
    label = (grown * u + 2.0).inverse()
    share = label + 0.5
    return Pair(_paid(share, grown * label * u, u) + share * 4.0 - share * u * 2.0, share)


def _paid(share: Number, at_item: Number, u: Number) -> Number:
    return share.square() * u * 2.0 + at_item.square()


def first_pair(alphas: Sequence[Number], mask: Mask) -> Number:
    """The same sum for k = 0, which has no row before."""
    if mask == "strict":
        return alphas[2] * 0.0 + 1.0
    own = (alphas[0] + alphas[1]).exp()
    over = (own + alphas[2].exp()).inverse()
    return (alphas[2].exp() * over + 1.0).square() + (own * over).square()


def of_one_pair(z: Sequence[Number], mask: Mask) -> Number:
    """The loss of the prefix of one pair, less 1: the same, with each number once where it can be.

    In the general formula its terms cancel, which balls do not see.
    """
    alpha_1, alpha_2, alpha_3, beta_1, beta_2, *betas, apart = z
    beta_7, beta_8, beta_9, beta_10, beta_11, beta_12 = betas
    gamma_2, gamma_3 = apart * HALF_ROOT.negative() + 1.0, apart * HALF_ROOT + 1.0
    if mask == "strict":
        rest = (alpha_1.exp() + 1.0).inverse()
        more = rest * -2.0 + 1.0
        above = beta_1 - beta_2 + (beta_7 + beta_9 - beta_8 - beta_11 - beta_10) * more
        label = ((above - (beta_8 + beta_11 + beta_12) * rest).exp() + 1.0).inverse()
        right = gamma_2 * rest + gamma_3 * label
        wrong = -right - label + 2.0
    else:
        rest = (alpha_1.exp() * 2.0 + 1.0).inverse()
        held = rest * -1.0 + 1.0
        more, ahead = rest * -2.0 + 1.0, rest * -1.5 + 0.5
        itself = ((alpha_3 - alpha_1 - alpha_2).exp() + 1.0).inverse()  # of the label
        looking = beta_2 + beta_8 * more + beta_11 * ahead
        own = looking * itself - beta_12 * ahead * itself - beta_10 * ahead  # item over label
        item = beta_1 + beta_7 * more + beta_9 * ahead
        square = held.square() * 0.25 - rest * held
        query = beta_1 + beta_2 * held + more * (beta_7 + beta_8 * held) + beta_11 * square
        query = query - beta_12 * rest.square() - rest * (beta_9 + beta_10) - looking
        on_query = (query + own).exp()
        label = ((item + own).exp() + on_query + 1.0).inverse()
        past = label * (itself + on_query * rest)  # what all pay to the label in layer 1
        right = gamma_2 * rest + gamma_3 * label - past
        wrong = -right + 1.0
    return wrong.square() + right.square() - right * 2.0


class Prefixes(NamedTuple):
    """The sum of the losses, less 1 each, of the first prefixes."""

    longest: int  # pairs
    mask: Mask
    least: int = 1  # pairs of the shortest prefix that counts

    def loss(self, z: Sequence[Number]) -> Number:
        """At the `COORDINATES`, on their tape."""
        n = np.arange(2.0, self.longest + 1)
        x, u = (z[0] * 0.0 + Ball.of(k).inverse() for k in (n, n - 1))
        found = pair(z[:3], u, self.mask)
        squares = found.squares.before() + first_pair(z[:3], self.mask)
        early = (found.share * u).before()
        losses = excess(z, Place(x, squares * x, early * x), self.mask)
        longer = (losses * x * Ball.of(n >= self.least)).total()
        return longer + of_one_pair(z, self.mask) if self.least == 1 else longer

    def slopes(self, path: Ball) -> Ball:
        """The gradient along a path: power series of the coordinates, a row for each power."""
        tape, z = on_tape([Series(*path.part((slice(None), [i], None))) for i in range(12)])
        slopes = tape.slopes(self.loss(z), z)
        return columns([slope.part((slice(None), 0, 0)) for slope in slopes])

    def curvature(self, point: Ball) -> Ball:
        """The Hessian at all points of a ball."""
        tape, z = on_tape(jets(point))
        slopes = tape.slopes(self.loss(z), z)
        return columns([slope.part((slice(1, None), 0, 0)) for slope in slopes])

    def bends(self, point: Ball) -> Ball:
        """The third derivatives at all points of a ball."""
        many, values = len(point.mid), []
        for i in range(many):
            mid, rad = np.zeros((2, 1 + many, 1 + many, 1))
            mid[0, 0], rad[0, 0], mid[0, 1 + i], mid[1 + i, 0] = point.mid[i], point.rad[i], 1, 1
            values.append(Twice(mid, rad))
        tape, z = on_tape(values)
        slopes = tape.slopes(self.loss(z), z)
        return columns([slope.part((slice(1, None), slice(1, None), 0)) for slope in slopes])


def jets(point: Ball) -> list[Jet]:
    """Each coordinate of a point with its gradient with respect to all."""
    many, found = len(point.mid), []
    for i in range(many):
        mid, rad = np.zeros((2, 1 + many, 1, 1))
        mid[0], rad[0], mid[1 + i] = point.mid[i], point.rad[i], 1
        found.append(Jet(mid, rad))
    return found


def on_tape(values: Sequence[Series]) -> tuple[Tape, list[Number]]:
    tape = Tape()
    return tape, [tape.number(value) for value in values]
