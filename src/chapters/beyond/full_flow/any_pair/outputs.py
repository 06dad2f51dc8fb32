"""The output and the attention of both layers when any pair may be asked for, bounded for N >= N0.

Numbers are upper bounds, in balls for all N >= N0, with x = 1/N and l = log N. The output is
gamma_2 + gamma_3 = 1 + G and gamma_4 = -h. On the clock t/N, G' = -2G + 2h and h' = G - 2h up to
forces of order l/N. This system is cooperative: where forces are larger G and h are, and constant
forces m_1 and m_2 move G by m_1 + m_2 and h by m_1/2 + m_2 at most. Their path is
G = -e^(-2t) cosh(sqrt 2 t), and h = -e^(-2t) sinh(sqrt 2 t)/sqrt 2.
"""

from typing import NamedTuple

from flint import arb

from ..box import Bound, Scales, upper


class Extent(NamedTuple):
    """Bounds on the flow until a score emerges; TV is all that a coordinate moves."""

    theta: Bound  # T l/N^2
    span: Bound  # the same of the last stage alone
    beta: Bound  # the largest beta_2
    alpha: Bound  # the largest alpha_3
    apart: Bound  # the largest d
    low_beta: Bound  # -beta_2; also half of what beta_2 turns back
    low_alpha: Bound  # the same of alpha_3
    low_apart: Bound  # the same of d
    alpha_1: Bound  # N times its TV
    beta_1: Bound  # N times its TV
    beta_7: Bound  # N times its TV, beta_9's too
    beta_8: Bound  # N times its TV, beta_11's too
    beta_10: Bound  # N times its TV
    beta_12: Bound  # N times its TV
    gamma_1: Bound  # N |gamma_1|
    joint_above: Bound  # N/l times how far G is above its path
    joint_below: Bound  # N/l times how far it is below
    four_above: Bound  # N/l times how far h is above its path
    four_below: Bound  # N/l times how far it is below


class Errors(NamedTuple):
    """Time integrals of what the slow flow leaves out, at most: of beta_2, alpha_3 and d."""

    beta: arb
    alpha: arb
    apart: arb


class Horizon(NamedTuple):
    """A stretch of time up to which the errors are sought."""

    theta: arb  # how long it is, times l/N^2
    tail: arb | None  # of `quick`; None where it begins at time zero
    before: Errors  # the errors up to its beginning


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


def output_bounds(extent: Extent, scale: Scales, deviation: Deviations) -> OutputBounds:
    """Bounds on the output from those on the attention."""
    x, rare, mixed, norm = scale.x, scale.rare, scale.mixed, deviation.norm
    four, above_four = arb(RISE) + mixed * extent.four_below, mixed * extent.four_above
    four = four.max(above_four)
    joint = 1 + mixed * extent.joint_above.max(extent.joint_below)
    three, two = (joint + extent.apart) / 2, (joint + extent.low_apart.max(extent.apart - 1)) / 2
    both = joint.max(extent.apart)
    below_half = (mixed * extent.joint_below + extent.low_apart) / 2
    passed_on = deviation.label_row * deviation.passed / 2  # N f on any row, over l
    past = (two * deviation.flat + three * deviation.row) / 2
    answer = (two * deviation.flat + three * deviation.label_row) / 2
    item = extent.gamma_1 + two * deviation.asked + three * deviation.row / 2
    most_past, most_answer, most_item = (
        x * part + four * mixed * passed_on for part in (past, answer, item)
    )
    grown = 2 * deviation.half
    squares_flat = (
        3 * rare
        + grown * deviation.later
        + arb(SQUARES) * rare * (grown * grown - grown + 1 - (-extent.low_alpha).exp())
    ) / 4
    most_squares = deviation.up**2 * (
        1 + mixed * squares_flat + deviation.heavy * norm * (deviation.passed + norm)
    )
    squares = squares_flat + deviation.norm_mean * rare * (2 + mixed * norm * deviation.up) * (
        1 + mixed * squares_flat
    )
    squares += deviation.up**2 / 2 * (deviation.raised * deviation.passed + norm * deviation.raised)
    to_item = deviation.label_row * (1 + mixed * deviation.w_1 / 2) / 2
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


def forces(extent: Extent, scale: Scales, deviation: Deviations, output: OutputBounds) -> Forces:
    """Bounds on the output's forces."""
    x, rare, mixed, gamma_1 = scale.x, scale.rare, scale.mixed, extent.gamma_1
    up, row, wide = deviation.up, deviation.row, deviation.wide
    low, more, w_1 = deviation.low, deviation.more, deviation.w_1
    to_item, three, two = output.to_item, output.three, output.two
    # inner products, each 2N times it and less its limit, over xl; v is the answer
    u_u = (2 + mixed * wide) * wide + 4 * deviation.ahead * deviation.asked * x * rare
    u_a = wide + deviation.ahead * row * x * rare
    squares = deviation.answer**2 * x * deviation.w_2 + x**3 * more * (2 * deviation.answer + more)
    squares += (
        x * x * deviation.own**2
        + x**4 * deviation.at_first**2
        + deviation.late**2 * mixed * deviation.paid_2
    )
    a_a = up**2 * rare * squares / 2
    u_f = wide + deviation.flat * row * rare / 2 + 2 * deviation.ahead * to_item * x * rare

    def found(answer: arb, late: arb) -> arb:
        """What scores add to a.f."""
        either = x * rare * deviation.own * to_item + x * x * deviation.at_first * output.passed_on
        by_answer = (answer * mixed * w_1 + x**3 * more) * row * deviation.later / 2
        return up * (either + by_answer + rare * late * deviation.label_row / 2)

    a_f_up = deviation.norm_above * rare + found(deviation.answer, deviation.late)
    a_f_down = (deviation.norm_mean + up * row / 2) * rare + found(low, low)
    v_up = deviation.norm_above * rare + up * (deviation.answer * w_1 + x * x * rare * more)
    v_down = deviation.norm_mean * rare + up * (low * w_1 + x * x * rare * more)
    f_v_up = up * deviation.late * deviation.paid_2 + up / 2 * (
        rare * deviation.either + low * (mixed * w_1 * deviation.later + rare * deviation.later_2)
    )
    f_v_down = deviation.gap + deviation.norm_late + up * low * deviation.paid_2

    # forces; gamma_1 goes to minus what else the output holds of the item asked for
    held = two * deviation.asked + three * row / 2 + output.four * to_item
    either = two * (u_u + u_a) + three * (u_a + a_a) + wide
    both_items = 2 * rare * (deviation.asked + row / 2)
    up_joint = both_items * gamma_1 + either + v_up
    down_joint = both_items * gamma_1 + either + v_down
    up_four = 2 * rare * to_item * gamma_1 + two * u_f + f_v_down
    down_four = 2 * rare * to_item * gamma_1 + two * u_f + f_v_up
    up_four += three * a_f_up + output.below_half * a_f_down
    down_four += three * a_f_down + output.below_half * a_f_up
    by_four = u_f + a_f_up.max(a_f_down), 2 * output.squares
    return Forces(held, up_joint, down_joint, up_four, down_four, by_four)


def next_output(extent: Extent, output: OutputBounds, force: Forces) -> Extent:
    """These bounds, with those on gamma_1, G and h that follow from the forces."""
    most = output.four * (force.by_four[0] + force.by_four[1])
    half = output.four * (force.by_four[0] / 2 + force.by_four[1])
    return extent._replace(
        gamma_1=force.held,
        joint_above=force.up_joint + force.up_four + most,
        joint_below=force.down_joint + force.down_four + most,
        four_above=force.up_joint / 2 + force.up_four + half,
        four_below=force.down_joint / 2 + force.down_four + half,
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


def quick(
    extent: Extent, scale: Scales, output: OutputBounds, force: Forces, tail: arb | None = None
) -> QuickFlow:
    """What follows from the output's forces for G and h.

    From time zero on, or for a later stretch of time, where `tail` bounds what is left of the
    integrals of the paths and of how they go on acting.
    """
    rare, mixed, by_four = scale.rare, scale.mixed, force.by_four
    theta = extent.theta
    late_four = (force.up_joint / 2 + force.up_four).max(force.down_joint / 2 + force.down_four)
    late_joint = (force.up_joint + force.up_four).max(force.down_joint + force.down_four)
    areas = [arb(area) for area in AREAS] if tail is None else [tail] * 3
    area_four = (areas[1] + theta * late_four) / (1 - mixed * (by_four[0] / 2 + by_four[1]))
    area_joint = areas[0] + theta * late_joint + mixed * (by_four[0] + by_four[1]) * area_four
    far = extent.four_above.max(extent.four_below)
    square_four = areas[2] + mixed * far * (2 * areas[1] + theta * far)
    total = area_joint + area_four + theta * rare * extent.gamma_1
    turned = 2 * area_joint + 2 * area_four
    moved_joint = (
        turned + theta * force.up_joint.max(force.down_joint) + mixed * by_four[0] * area_four
    )
    moved_four = turned - area_joint + theta * force.up_four.max(force.down_four)
    moved_four += mixed * by_four[1] * area_four
    spent_past, spent_answer, spent_item = (
        theta * rare * part + area_four * mixed * output.passed_on
        for part in (output.past, output.answer, output.item)
    )
    return QuickFlow(
        area_joint, area_four, square_four, total, moved_joint, moved_four,
        spent_past, spent_answer, spent_item,
    )  # fmt: skip
