"""What the errors of the output push in the box for every large N."""

from typing import NamedTuple

from flint import arb

from ..box import Box, Scales, upper
from .attentions import Attentions
from .outputs import Outputs


class Pushes(NamedTuple):
    """Bounds on the errors of the output in the mean over the time, and on what they push."""

    goal: arb  # N times the limit of |gamma_1|
    at_item: arb  # N times the time integral of the error at the item asked for
    past: arb  # the time integral of the error of the past, over N^2
    per_past: arb  # N times the attention of the answer's rows in layer 1 to a row of the past
    small_push: arb  # what the output's share of the answer, and less, takes from gamma_3's push
    pushed_item: arb  # all that the score of the item is pushed
    pushed_label: arb  # the same of the label, over N
    pushed_first: arb  # the same of row 0
    idle: arb  # N times what alpha_1 moves by the scores of layer 2
    turned: arb  # half of all that gamma_3 - gamma_2 moves


def push_bounds(b: Box, s: Scales, a: Attentions, o: Outputs) -> Pushes:
    """What the output's errors push, from bounds on attention and output."""
    rare, most = s.rare, s.most
    goal = upper(o.most_joint * (a.asked + a.on_item) + b.apart * (a.asked + a.on_item)) / 2
    goal += o.most_four * most * a.on_label * a.share
    answer = o.most_three * (a.each + a.on_label)  # N times the output's share of the answer
    at_item = (
        (a.asked + a.on_item) * (o.moves_joint + b.apart)
        + (o.most_joint + b.apart) * (most * a.asked * b.alpha_1 + a.on_item * sum(a.moved))
    ) / 4 + most * a.on_label * a.share * (
        o.moves_four + o.most_four * (sum(a.moved) + a.varied)
    ) / 2
    past = b.theta * rare * (1 + most * answer) + most * o.whole + most**3 * at_item
    past_most = (
        1 + s.mixed * sum(o.away) + most * (3 * b.gamma_1 + o.most_four * a.on_first + answer)
    )
    on_row = rare * (
        o.most_three * (a.each + 1 / a.norm) + o.most_four * most * upper(a.p.passed[0]) / a.norm
    )
    on_row += o.most_four * (1 + 2 * rare) / a.norm + rare * most**2 * o.most_three * upper(a.row)
    per_past = 1 / (2 - 2 * most)

    # scores
    small_push = most * (o.most_three * answer + o.most_four * per_past * past_most)
    small_push += most**2 * o.most_four * a.share * 2 * b.gamma_1
    all_item = o.most_four * per_past * past + most * (o.most_three * most * at_item + o.turning)
    all_label = (o.most_three + small_push) * b.theta * rare + most * o.turning
    pushed_item = 2 * a.on_item * all_item
    pushed_label = 2 * a.on_label * all_label  # over N
    pushed_first = 2 * a.on_first * (o.most_three * on_row * b.theta + most * o.turning)
    idle = a.asked * (1 + most) * (
        2 * most**2 * b.beta_7 * pushed_item + 2 * most * b.beta_8 * b.beta_2
        + b.beta_10 * pushed_label
    ) + most**2 * a.of_first * a.asked * pushed_first  # fmt: skip
    turned = most * upper(abs((1 / a.p.norm - a.p.each)[1])) * o.whole
    turned += most**2 * (1 + a.on_item + most * a.near * a.each) * at_item
    turned += upper(a.label) / a.norm * b.theta * rare * (1 + most * answer)
    turned += most**2 * upper(a.row) / a.norm * b.theta * on_row
    return Pushes(
        goal=goal, at_item=at_item, past=past, per_past=per_past, small_push=small_push,
        pushed_item=pushed_item, pushed_label=pushed_label, pushed_first=pushed_first, idle=idle,
        turned=turned,
    )  # fmt: skip
