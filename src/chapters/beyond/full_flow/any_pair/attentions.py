"""How far the attention of both layers is from flat when any pair may be asked for.

Numbers are upper bounds, in balls for all N >= N0, with x = 1/N and l = log N.
"""

from types import SimpleNamespace
from typing import Any

from flint import arb

from ..box import Scales, upper

EULER = "0.5773"  # at least: H_(N-1) < log N + this


def attention_deviations(b: Any, s: Scales) -> SimpleNamespace:
    """How far both layers are from a mean over 2N rows; w is what a label pays to its own item.

    Attributes:
        wide: |2N u - 1| over xl on rows other than the item asked for, with attention u of layer 1.
        flat: 2N u there, at most; `asked` is N u on the item, `ahead` N^2 times what it is beyond.
        score: the largest beta_2 and its like; `item`, `first`, `label`: N, N^2 and N^3 times the
            scores of the item asked for, of row 0 and of what its label has beside `score` w.
        own, at_first, more: |e^score - 1| of these three, in the same scales.
        answer: |e^score - 1| of the answer over w; `late`: that of a later row over what it pays to
            the item asked for, at most 1/2.
        all_w: the sum over pairs k >= 1 of w, over l.
        w_1, w_2: means over pairs of w over xl and of w^2 over x.
        later: all that later rows pay to an item, over l; `passed`: all that a row is paid.
        gap: 1 less the mean over pairs of what later rows pay to the item, over xl.
        paid_2: the mean of the sum of squares of what each of them pays, over xl.
        norm: |Z/2N - 1| over xl, with the norm Z of layer 2; `norm_mean`: the mean of |2N/Z - 1|
            over x; `norm_late`: the mean of it times what later rows pay to the item, over xl.
        heavy: log^2 N/N.
        later_2: the mean square of what later rows pay to an item: the integral of log^2 is 2.
        up: 2N/Z, at most; `row` and `label_row`: 2N times the attention of layer 2.
    """
    x, rare, mixed = s.x, s.rare, s.mixed
    near = upper(b.alpha_1 * (x * b.alpha_1).exp())  # N (e^alpha_1 - 1)
    if not (near * s.most**2 < 1 and b.alpha < arb(2).log()):
        raise ArithmeticError("the bounds are too wide for what follows")
    wide = near * x * rare / (2 - near * x * x)
    flat = 1 + mixed * wide
    ahead = near * flat / 2
    asked = flat / 2 + ahead * x

    score = b.beta + (2 * b.beta_8 + b.beta_12) * ahead * x**3
    first = (2 * b.beta_8 + b.beta_12) * flat / 2
    item = b.beta_1 + 4 * b.beta_7 * ahead * x * x + 2 * first * x
    label = 2 * b.beta_10 * ahead
    own, at_first, more = item * (x * item).exp(), first * (x * x * first).exp(), label
    more = label * (x**3 * label).exp()
    answer = (score.exp() - 1) * (x**3 * label).exp()
    late = 2 * ((score / 2).exp() - 1)

    half = b.alpha.exp() / 2
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
    low = b.low_beta + (2 * b.beta_8 + b.beta_12) * ahead * x**3
    either = x * own + x * x * at_first + x**3 * more  # of Z - 2N, of either sign
    norm_above = up / 2 * (either + low * (1 + mixed * w_1))
    heavy = arb(0).union(s.log**2 * s.most)
    later_2 = 2 + heavy * later * later
    norm_late = up / 2 * (
        rare * (x * own + x * x * at_first + x**3 * more)
        + mixed * answer * w_1 * later + rare * late * later_2
    )  # fmt: skip
    row = up * (score / 2).exp().max((x * item).exp())
    label_row = up * (score + x**3 * label).exp()
    return SimpleNamespace(**locals())
