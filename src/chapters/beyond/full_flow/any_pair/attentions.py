"""How far the attention of both layers is from flat when any pair may be asked for.

Numbers are upper bounds, in balls for all N >= N0, with x = 1/N and l = log N.
"""

from typing import NamedTuple

from flint import arb

from ..box import Scales, upper
from .extent import Extent

EULER = "0.5773"  # at least: H_(N-1) < log N + this


class Deviations(NamedTuple):
    """How far both layers are from a mean over 2N rows; Z is the norm of layer 2.

    u is the query's attention in layer 1, and w the attention of a label to its own item there. In
    layer 2 the score of the answer has a part `score` w and a rest.
    """

    wide: arb  # |2N u - 1| over xl on rows other than the item asked for
    flat: arb  # 2N u there
    ahead: arb  # N^2 times what u on the item asked for is beyond
    asked: arb  # N u on that item
    score: arb  # beta_2 and what adds to it
    low: arb  # how far that is below 0
    item: arb  # N times the score of the item asked for
    first: arb  # N^2 times the score of row 0
    label: arb  # N^3 times the rest of the answer's score
    own: arb  # N |e^score - 1| of the item asked for
    at_first: arb  # N^2 |e^score - 1| of row 0
    more: arb  # N^3 |e^score - 1| of that rest
    answer: arb  # |e^score - 1| of the answer over w
    late: arb  # |e^score - 1| of a later row over its attention to the item, which is at most 1/2
    half: arb  # e^alpha_3/2
    all_w: arb  # the sum over pairs k >= 1 of w, over l
    w_1: arb  # the mean over pairs of w, over xl
    w_2: arb  # the mean over pairs of w^2, over x
    later: arb  # the sum of the attention of later rows to an item, over l
    later_2: arb  # the mean square of that sum: the integral of log^2 is 2
    passed: arb  # the sum of the attention to any row, over l
    gap: arb  # 1 less the mean over pairs of the attention of later rows to the item, over xl
    paid_2: arb  # the mean over pairs of the sum of the squares of that attention, over xl
    raised: arb  # the mean of the sum over rows of |e^score - 1|
    either: arb  # what the item asked for, row 0 and that rest add to it
    norm: arb  # |Z/2N - 1| over xl
    norm_mean: arb  # the mean of |2N/Z - 1| over x
    norm_above: arb  # the mean of how far 2N/Z is above 1, over x
    norm_late: arb  # the mean of |2N/Z - 1| times the attention of later rows to the item, over xl
    up: arb  # 2N/Z
    row: arb  # 2N times the attention of layer 2 to a row that is not the answer
    label_row: arb  # 2N times its attention to the answer
    heavy: arb  # log^2 N/N


def attention_deviations(extent: Extent, scale: Scales) -> Deviations:
    """Bounds on the attention of both layers; ArithmeticError where those so far are too wide."""
    x, rare, mixed = scale.x, scale.rare, scale.mixed
    near = upper(extent.alpha_1 * (x * extent.alpha_1).exp())  # N (e^alpha_1 - 1)
    if not (near * scale.most**2 < 1 and extent.alpha < arb(2).log()):
        raise ArithmeticError("the bounds are too wide for what follows")
    wide = near * x * rare / (2 - near * x * x)
    flat = 1 + mixed * wide
    ahead = near * flat / 2
    asked = flat / 2 + ahead * x

    score = extent.beta + (2 * extent.beta_8 + extent.beta_12) * ahead * x**3
    first = (2 * extent.beta_8 + extent.beta_12) * flat / 2
    item = extent.beta_1 + 4 * extent.beta_7 * ahead * x * x + 2 * first * x
    label = 2 * extent.beta_10 * ahead
    own, at_first, more = item * (x * item).exp(), first * (x * x * first).exp(), label
    more = label * (x**3 * label).exp()
    answer = (score.exp() - 1) * (x**3 * label).exp()
    late = 2 * ((score / 2).exp() - 1)

    half = extent.alpha.exp() / 2
    all_w = half - rare * half * half.log()
    w_1, w_2 = all_w + rare, 1 + half
    later = 1 + arb(EULER) * rare
    passed = later + rare
    gap, paid_2 = rare + all_w / 2, later / 2
    norm = (rare * (x * own + x * x * at_first + answer + x**3 * more) + late * later) / 2
    if not mixed * norm < 0.5:
        raise ArithmeticError("the attention of layer 2 is too far from flat")
    up = 1 / (1 - mixed * norm)
    raised = x * own + x * x * at_first + answer * mixed * w_1 + x**3 * more + late
    norm_mean = raised * up / 2
    low = extent.low_beta + (2 * extent.beta_8 + extent.beta_12) * ahead * x**3
    either = x * own + x * x * at_first + x**3 * more  # of Z - 2N, of either sign
    norm_above = up / 2 * (either + low * (1 + mixed * w_1))
    heavy = arb(0).union(scale.log**2 * scale.most)
    later_2 = 2 + heavy * later * later
    norm_late = up / 2 * (
        rare * (x * own + x * x * at_first + x**3 * more)
        + mixed * answer * w_1 * later + rare * late * later_2
    )  # fmt: skip
    row = up * (score / 2).exp().max((x * item).exp())
    label_row = up * (score + x**3 * label).exp()
    return Deviations(
        wide=wide, flat=flat, ahead=ahead, asked=asked, score=score, low=low, item=item,
        first=first, label=label, own=own, at_first=at_first, more=more, answer=answer, late=late,
        half=half, all_w=all_w, w_1=w_1, w_2=w_2, later=later, later_2=later_2, passed=passed,
        gap=gap, paid_2=paid_2, raised=raised, either=either, norm=norm, norm_mean=norm_mean,
        norm_above=norm_above, norm_late=norm_late, up=up, row=row, label_row=label_row,
        heavy=heavy,
    )  # fmt: skip
