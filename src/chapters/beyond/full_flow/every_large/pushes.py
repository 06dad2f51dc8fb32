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


def push_bounds(box: Box, scale: Scales, attention: Attentions, output: Outputs) -> Pushes:
    """What the output's errors push, from bounds on attention and output."""
    rare, most = scale.rare, scale.most
    goal = (
        upper(
            output.most_joint * (attention.asked + attention.on_item)
            + box.apart * (attention.asked + attention.on_item)
        )
        / 2
    )
    goal += output.most_four * most * attention.on_label * attention.share
    answer = output.most_three * (
        attention.each + attention.on_label
    )  # N times the output's share of the answer
    at_item = (
        (attention.asked + attention.on_item) * (output.moves_joint + box.apart)
        + (output.most_joint + box.apart)
        * (most * attention.asked * box.alpha_1 + attention.on_item * sum(attention.moved))
    ) / 4 + most * attention.on_label * attention.share * (
        output.moves_four + output.most_four * (sum(attention.moved) + attention.varied)
    ) / 2
    past = box.theta * rare * (1 + most * answer) + most * output.whole + most**3 * at_item
    past_most = (
        1
        + scale.mixed * sum(output.away)
        + most * (3 * box.gamma_1 + output.most_four * attention.on_first + answer)
    )
    on_row = rare * (
        output.most_three * (attention.each + 1 / attention.norm)
        + output.most_four * most * upper(attention.p.passed[0]) / attention.norm
    )
    on_row += output.most_four * (
        1 + 2 * rare
    ) / attention.norm + rare * most**2 * output.most_three * upper(attention.row)
    per_past = 1 / (2 - 2 * most)

    # scores
    small_push = most * (output.most_three * answer + output.most_four * per_past * past_most)
    small_push += most**2 * output.most_four * attention.share * 2 * box.gamma_1
    all_item = output.most_four * per_past * past + most * (
        output.most_three * most * at_item + output.turning
    )
    all_label = (output.most_three + small_push) * box.theta * rare + most * output.turning
    pushed_item = 2 * attention.on_item * all_item
    pushed_label = 2 * attention.on_label * all_label  # over N
    pushed_first = (
        2 * attention.on_first * (output.most_three * on_row * box.theta + most * output.turning)
    )
    idle = attention.asked * (1 + most) * (
        2 * most**2 * box.beta_7 * pushed_item + 2 * most * box.beta_8 * box.beta_2
        + box.beta_10 * pushed_label
    ) + most**2 * attention.of_first * attention.asked * pushed_first  # fmt: skip
    turned = most * upper(abs((1 / attention.p.norm - attention.p.each)[1])) * output.whole
    turned += most**2 * (1 + attention.on_item + most * attention.near * attention.each) * at_item
    turned += upper(attention.label) / attention.norm * box.theta * rare * (1 + most * answer)
    turned += most**2 * upper(attention.row) / attention.norm * box.theta * on_row
    return Pushes(
        goal=goal, at_item=at_item, past=past, per_past=per_past, small_push=small_push,
        pushed_item=pushed_item, pushed_label=pushed_label, pushed_first=pushed_first, idle=idle,
        turned=turned,
    )  # fmt: skip
