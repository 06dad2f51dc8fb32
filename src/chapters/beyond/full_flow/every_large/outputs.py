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


def output_bounds(b: Box, s: Scales, a: Attentions) -> Outputs:
    """The output beside its path for many pairs, a cooperative system, and how far it moves."""
    rare, most = s.rare, s.most
    joint = (-s.mixed * b.joint_below).union(2 + s.mixed * b.joint_above)
    four = (-s.mixed * b.four_below).union(1 + s.mixed * b.four_above)
    push_joint = rare * (
        -a.p.both[1] * joint + 2 * a.p.mixed[1] * four + 2 * (a.p.each + a.p.label)[1]
        + 2 * both(b.gamma_1) * (a.p.asked + a.p.item)[0] + both(b.apart) * a.p.more[1]
    )  # fmt: skip
    push_four = a.missing * four + rare * (
        a.p.mixed[1] * joint - a.p.found[1] * four + both(b.apart) * a.p.turned[1]
        + 2 * most * both(b.gamma_1) * a.on_label * a.share
    )  # fmt: skip
    up_joint, up_four = (arb(0).max(upper(force)) for force in (push_joint, push_four))
    down_joint, down_four = (arb(0).max(upper(-force)) for force in (push_joint, push_four))
    above = up_joint + up_four, up_joint / 2 + up_four
    below = down_joint + down_four, down_joint / 2 + down_four
    most_joint, most_four = upper(joint), upper(four)
    most_three = upper((joint + b.apart) / 2)

    # how far the output moves, on the clock t/N
    away = upper(b.joint_above.max(b.joint_below)), upper(b.four_above.max(b.four_below))
    moves_joint = 2 + b.theta * (2 * away[0] + 2 * away[1] + up_joint.max(down_joint))
    moves_four = 1 + b.theta * (away[0] + 2 * away[1] + up_four.max(down_four))
    turning = (most_three * (moves_joint + b.apart) / 2 + most_four * moves_four) / 2
    whole = 1 + b.theta * (sum(away) + rare * (b.gamma_1 + most_four * a.on_first))  # sum of errors
    return Outputs(
        above=above, below=below, away=away, most_joint=most_joint, most_four=most_four,
        most_three=most_three, moves_joint=moves_joint, moves_four=moves_four, turning=turning,
        whole=whole,
    )  # fmt: skip
