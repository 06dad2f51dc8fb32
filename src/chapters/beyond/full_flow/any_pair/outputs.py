"""The output when any pair may be asked for: gamma_2 + gamma_3 = 1 + G and gamma_4 = -h.

On the clock t/N, G' = -2G + 2h and h' = G - 2h up to forces of order l/N. This system is
cooperative: where forces are larger G and h are, and constant forces m_1 and m_2 move G by
m_1 + m_2 and h by m_1/2 + m_2 at most. Their path is G = -e^(-2t) cosh(sqrt 2 t), and
h = -e^(-2t) sinh(sqrt 2 t)/sqrt 2.
"""

from typing import NamedTuple

from flint import arb

from ..box import Scales
from .attentions import Deviations
from .extent import Extent

SQUARES = "0.4113"  # at least pi^2/24: the sum over k >= 1 of 1/4k^2
RISE = "0.2034"  # at least the largest -h on its path
AREAS = "1", "0.5", "0.0625"  # integrals of |G|, |h| and h^2 on their paths


class OutputBounds(NamedTuple):
    """Bounds on the output; f is what layer 2 finds through layer 1."""

    four: arb  # |gamma_4|
    three: arb  # |gamma_3|
    two: arb  # |gamma_2|
    both: arb  # gamma_2 + gamma_3, and d
    below_half: arb  # -gamma_3
    past: arb  # N times what the output holds of a row of the past, without gamma_4
    answer: arb  # the same of the answer
    item: arb  # the same of the item asked for
    most_past: arb  # what the output holds of a row of the past, with gamma_4
    most_answer: arb  # the same of the answer
    most_item: arb  # the same of the item asked for
    passed_on: arb  # N f on any row, over l
    to_item: arb  # N times the mean of f on the item asked for
    squares: arb  # |N f.f - 1| over xl
    squares_flat: arb  # the same where layer 2 is flat
    most_squares: arb  # N f.f


def output_bounds(b: Extent, s: Scales, a: Deviations) -> OutputBounds:
    """Bounds on the output from those on the attention."""
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
    return OutputBounds(
        four=four, three=three, two=two, both=both, below_half=below_half, past=past,
        answer=answer, item=item, most_past=most_past, most_answer=most_answer,
        most_item=most_item, passed_on=passed_on, to_item=to_item, squares=squares,
        squares_flat=squares_flat, most_squares=most_squares,
    )  # fmt: skip


class Forces(NamedTuple):
    """The output's forces beside its limit, over xl but for `held`.

    Those on G and h are without what h itself does, which is `by_four` times it.
    """

    held: arb  # N times the limit of |gamma_1|
    up_joint: arb  # how far the force on G is above its limit
    down_joint: arb  # how far it is below
    up_four: arb  # how far the force on h is above its limit
    down_four: arb  # how far it is below
    by_four: tuple[arb, arb]  # the force on G and on h that h exerts, over h


def forces(b: Extent, s: Scales, a: Deviations, o: OutputBounds) -> Forces:
    """Bounds on the output's forces."""
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
    return Forces(held, up_joint, down_joint, up_four, down_four, by_four)


def next_output(b: Extent, o: OutputBounds, f: Forces) -> Extent:
    """These bounds, with those on gamma_1, G and h that follow from the forces."""
    most = o.four * (f.by_four[0] + f.by_four[1])
    half = o.four * (f.by_four[0] / 2 + f.by_four[1])
    return b._replace(
        gamma_1=f.held,
        joint_above=f.up_joint + f.up_four + most,
        joint_below=f.down_joint + f.down_four + most,
        four_above=f.up_joint / 2 + f.up_four + half,
        four_below=f.down_joint / 2 + f.down_four + half,
    )


class QuickFlow(NamedTuple):
    """What the output does in a stretch of time, on the clock t/N."""

    area_joint: arb  # the integral of |G|
    area_four: arb  # that of |h|
    square_four: arb  # that of h^2
    total: arb  # that of the sum of all errors
    moved_joint: arb  # all that gamma_2 + gamma_3 moves
    moved_four: arb  # all that gamma_4 moves
    spent_past: arb  # the integral of N |output| on a row of the past over time, times x^2
    spent_answer: arb  # the same on the answer
    spent_item: arb  # the same on the item asked for


def quick(b: Extent, s: Scales, o: OutputBounds, f: Forces, tail: arb | None = None) -> QuickFlow:
    """What follows from the output's forces for G and h.

    From time zero on, or for a later stretch of time, where `tail` bounds what is left of the
    integrals of the paths and of how they go on acting.
    """
    rare, mixed, by_four = s.rare, s.mixed, f.by_four
    theta = b.theta
    late_four = (f.up_joint / 2 + f.up_four).max(f.down_joint / 2 + f.down_four)
    late_joint = (f.up_joint + f.up_four).max(f.down_joint + f.down_four)
    areas = [arb(area) for area in AREAS] if tail is None else [tail] * 3
    area_four = (areas[1] + theta * late_four) / (1 - mixed * (by_four[0] / 2 + by_four[1]))
    area_joint = areas[0] + theta * late_joint + mixed * (by_four[0] + by_four[1]) * area_four
    far = b.four_above.max(b.four_below)
    square_four = areas[2] + mixed * far * (2 * areas[1] + theta * far)
    total = area_joint + area_four + theta * rare * b.gamma_1
    turned = 2 * area_joint + 2 * area_four
    moved_joint = turned + theta * f.up_joint.max(f.down_joint) + mixed * by_four[0] * area_four
    moved_four = turned - area_joint + theta * f.up_four.max(f.down_four)
    moved_four += mixed * by_four[1] * area_four
    spent_past, spent_answer, spent_item = (
        theta * rare * part + area_four * mixed * o.passed_on for part in (o.past, o.answer, o.item)
    )
    return QuickFlow(
        area_joint, area_four, square_four, total, moved_joint, moved_four,
        spent_past, spent_answer, spent_item,
    )  # fmt: skip
