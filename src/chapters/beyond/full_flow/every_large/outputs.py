"""The output in the box for every large N: its forces, and how far it moves."""

from typing import NamedTuple

from flint import arb

from ..box import Box, Scales, both, upper
from .attentions import Attentions


class Outputs(NamedTuple):
    """Bounds on the output, with G = gamma_2 + gamma_3 and h = -gamma_4; its clock is t/N."""

    above: tuple[arb, arb]  # N/l times how far G and h are above their paths
    below: tuple[arb, arb]  # N/l times how far they are below
    away: tuple[arb, arb]  # the larger of both so far
    most_joint: arb  # G
    most_four: arb  # h
    most_three: arb  # gamma_3
    moves_joint: arb  # all that G moves
    moves_four: arb  # all that h moves
    turning: arb  # half the sum of gamma_3 and h, each times all that it moves
    whole: arb  # the integral of the sum of all errors


def output_bounds(box: Box, scale: Scales, attention: Attentions) -> Outputs:
    """The output beside its path for many pairs, a cooperative system, and how far it moves."""
    rare, most = scale.rare, scale.most
    joint = (-scale.mixed * box.joint_below).union(2 + scale.mixed * box.joint_above)
    four = (-scale.mixed * box.four_below).union(1 + scale.mixed * box.four_above)
    push_joint = rare * (
        -attention.p.both[1] * joint
        + 2 * attention.p.mixed[1] * four
        + 2 * (attention.p.each + attention.p.label)[1]
        + 2 * both(box.gamma_1) * (attention.p.asked + attention.p.item)[0]
        + both(box.apart) * attention.p.more[1]
    )  # fmt: skip
    push_four = attention.missing * four + rare * (
        attention.p.mixed[1] * joint
        - attention.p.found[1] * four
        + both(box.apart) * attention.p.turned[1]
        + 2 * most * both(box.gamma_1) * attention.on_label * attention.share
    )  # fmt: skip
    up_joint, up_four = (arb(0).max(upper(force)) for force in (push_joint, push_four))
    down_joint, down_four = (arb(0).max(upper(-force)) for force in (push_joint, push_four))
    above = up_joint + up_four, up_joint / 2 + up_four
    below = down_joint + down_four, down_joint / 2 + down_four
    most_joint, most_four = upper(joint), upper(four)
    most_three = upper((joint + box.apart) / 2)

    # how far the output moves, on the clock t/N
    away = upper(box.joint_above.max(box.joint_below)), upper(box.four_above.max(box.four_below))
    moves_joint = 2 + box.theta * (2 * away[0] + 2 * away[1] + up_joint.max(down_joint))
    moves_four = 1 + box.theta * (away[0] + 2 * away[1] + up_four.max(down_four))
    turning = (most_three * (moves_joint + box.apart) / 2 + most_four * moves_four) / 2
    whole = 1 + box.theta * (
        sum(away) + rare * (box.gamma_1 + most_four * attention.on_first)
    )  # sum of errors
    return Outputs(
        above=above, below=below, away=away, most_joint=most_joint, most_four=most_four,
        most_three=most_three, moves_joint=moves_joint, moves_four=moves_four, turning=turning,
        whole=whole,
    )  # fmt: skip
