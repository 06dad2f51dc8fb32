"""The output when any pair may be asked for: gamma_2 + gamma_3 = 1 + G and gamma_4 = -h.

On the clock t/N, G' = -2G + 2h and h' = G - 2h up to forces of order l/N. This system is
cooperative: where forces are larger G and h are, and constant forces m_1 and m_2 move G by
m_1 + m_2 and h by m_1/2 + m_2 at most. Their path is G = -e^(-2t) cosh(sqrt 2 t), and
h = -e^(-2t) sinh(sqrt 2 t)/sqrt 2.
"""

from types import SimpleNamespace
from typing import Any

from flint import arb

from ..box import Scales

SQUARES = "0.4113"  # at least pi^2/24: the sum over k >= 1 of 1/4k^2
RISE = "0.2034"  # at least the largest -h on its path
AREAS = "1", "0.5", "0.0625"  # integrals of |G|, |h| and h^2 on their paths


def output_errors(b: Any, s: Scales, a: SimpleNamespace) -> SimpleNamespace:
    """Errors of the output.

    Attributes:
        four, joint, three, two: the largest h, gamma_2 + gamma_3, gamma_3 and |gamma_2|.
        area_joint, area_four: integrals of |G| and h over t/N; `total`: of the sum of all errors.
        past, answer, item: N times what the output holds of a row, without gamma_4, at most.
        most_...: the output there with gamma_4.
        spent_...: the integral of N |output| over time, times x^2.
        squares: |N f.f - 1| over xl, where f is what layer 2 finds through layer 1.
        squares_flat: the same where layer 2 is flat.
        to_item: N times the mean of f on the item asked for.
    """
    x, rare, mixed = s.x, s.rare, s.mixed
    four, above_four = arb(RISE) + mixed * b.four_below, mixed * b.four_above
    four = four.max(above_four)
    joint = 1 + mixed * b.joint_above.max(b.joint_below)
    three, two = (joint + b.apart) / 2, (joint + b.low_apart.max(b.apart - 1)) / 2
    both = joint.max(b.apart)
    below_half = (mixed * b.joint_below + b.low_apart) / 2
    passed_on = a.label_row * a.passed / 2  # N f on any row, over l
    past = (two * a.flat + three * a.row) / 2
    answer = (two * a.flat + three * a.label_row) / 2
    item = b.gamma_1 + two * a.asked + three * a.row / 2
    most_past, most_answer, most_item = (
        x * part + four * mixed * passed_on for part in (past, answer, item)
    )
    grown = 2 * a.half
    squares_flat = (
        3 * rare
        + grown * a.later
        + arb(SQUARES) * rare * (grown * grown - grown + 1 - (-b.low_alpha).exp())
    ) / 4
    most_squares = a.up**2 * (1 + mixed * squares_flat + a.heavy * a.norm * (a.passed + a.norm))
    squares = squares_flat + a.norm_mean * rare * (2 + mixed * a.norm * a.up) * (
        1 + mixed * squares_flat
    )
    squares += a.up**2 / 2 * (a.raised * a.passed + a.norm * a.raised)
    to_item = a.label_row * (1 + mixed * a.w_1 / 2) / 2
    return SimpleNamespace(**locals())


def quick(
    b: Any, s: Scales, a: SimpleNamespace, o: SimpleNamespace, tail: arb | None = None
) -> SimpleNamespace:
    """The output's forces beside its limit, and what follows for G, h and gamma_1.

    From time zero on, or for a later stretch of time, where `tail` bounds what is left of the
    integrals of the paths and of how they go on acting.

    Attributes:
        up_joint, down_joint, up_four, down_four: how far the forces on G and h are above and below
            their limits over xl, but for what h itself does: `by_four` times it.
        area_joint, area_four: integrals of |G| and |h| over t/N.
        square_four: that of h^2.
        total: that of the sum of all errors.
        moved_joint, moved_four: all that gamma_2 + gamma_3 and gamma_4 move.
        after: new bounds.
        spent_...: the integral of N |output| over time, times x^2.
    """
    x, rare, mixed = s.x, s.rare, s.mixed
    # inner products, each 2N times it and less its limit, over xl; v is the answer
    u_u = (2 + mixed * a.wide) * a.wide + 4 * a.ahead * a.asked * x * rare
    u_a = a.wide + a.ahead * a.row * x * rare
    squares = a.answer**2 * x * a.w_2 + x**3 * a.more * (2 * a.answer + a.more)
    squares += x * x * a.own**2 + x**4 * a.at_first**2 + a.late**2 * mixed * a.paid_2
    a_a = a.up**2 * rare * squares / 2
    u_f = a.wide + a.flat * a.row * rare / 2 + 2 * a.ahead * o.to_item * x * rare

    def found(answer: arb, late: arb) -> arb:
        """What scores add to a.f."""
        either = x * rare * a.own * o.to_item + x * x * a.at_first * o.passed_on
        by_answer = (answer * mixed * a.w_1 + x**3 * a.more) * a.row * a.later / 2
        return a.up * (either + by_answer + rare * late * a.label_row / 2)

    a_f_up = a.norm_above * rare + found(a.answer, a.late)
    a_f_down = (a.norm_mean + a.up * a.row / 2) * rare + found(a.low, a.low)
    v_up = a.norm_above * rare + a.up * (a.answer * a.w_1 + x * x * rare * a.more)
    v_down = a.norm_mean * rare + a.up * (a.low * a.w_1 + x * x * rare * a.more)
    f_v_up = a.up * a.late * a.paid_2 + a.up / 2 * (
        rare * a.either + a.low * (mixed * a.w_1 * a.later + rare * a.later_2)
    )
    f_v_down = a.gap + a.norm_late + a.up * a.low * a.paid_2

    # forces; gamma_1 goes to minus what else the output holds of the item asked for
    held = o.two * a.asked + o.three * a.row / 2 + o.four * o.to_item
    either = o.two * (u_u + u_a) + o.three * (u_a + a_a) + a.wide
    both_items = 2 * rare * (a.asked + a.row / 2)
    up_joint = both_items * b.gamma_1 + either + v_up
    down_joint = both_items * b.gamma_1 + either + v_down
    up_four = 2 * rare * o.to_item * b.gamma_1 + o.two * u_f + f_v_down
    down_four = 2 * rare * o.to_item * b.gamma_1 + o.two * u_f + f_v_up
    up_four += o.three * a_f_up + o.below_half * a_f_down
    down_four += o.three * a_f_down + o.below_half * a_f_up
    by_four = u_f + a_f_up.max(a_f_down), 2 * o.squares
    most = o.four * (by_four[0] + by_four[1])
    half = o.four * (by_four[0] / 2 + by_four[1])
    after = {
        "gamma_1": held,
        "joint_above": up_joint + up_four + most,
        "joint_below": down_joint + down_four + most,
        "four_above": up_joint / 2 + up_four + half,
        "four_below": down_joint / 2 + down_four + half,
    }
    theta = b.theta
    late_four = (up_joint / 2 + up_four).max(down_joint / 2 + down_four)
    late_joint = (up_joint + up_four).max(down_joint + down_four)
    areas = [arb(area) for area in AREAS] if tail is None else [tail] * 3
    area_four = (areas[1] + theta * late_four) / (1 - mixed * (by_four[0] / 2 + by_four[1]))
    area_joint = areas[0] + theta * late_joint + mixed * (by_four[0] + by_four[1]) * area_four
    far = b.four_above.max(b.four_below)
    square_four = areas[2] + mixed * far * (2 * areas[1] + theta * far)
    total = area_joint + area_four + theta * rare * b.gamma_1
    turned = 2 * area_joint + 2 * area_four
    moved_joint = turned + theta * up_joint.max(down_joint) + mixed * by_four[0] * area_four
    moved_four = turned - area_joint + theta * up_four.max(down_four)
    moved_four += mixed * by_four[1] * area_four
    spent_past, spent_answer, spent_item = (
        theta * rare * part + area_four * mixed * o.passed_on for part in (o.past, o.answer, o.item)
    )
    return SimpleNamespace(**locals())
