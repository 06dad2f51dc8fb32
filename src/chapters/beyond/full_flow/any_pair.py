"""The full model's flow held in a box when any pair may be asked for, for every N from some N0 on.

With x = 1/N and l = log N, the output is gamma_2 + gamma_3 = 1 + G and gamma_4 = -h, and
(G, h) stays near its path for many pairs because the linear system between them is cooperative.
Everything else that moves by order 1 is alpha_3, beta_2 and d = gamma_3 - gamma_2, up to `Errors`.
Numbers are upper bounds, evaluated in balls for all N >= N0 at once, as in `every_large`.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

from flint import arb

from .box import Scales, upper

EULER = "0.5773"  # at least: H_(N-1) < log N + this
SQUARES = "0.4113"  # at least pi^2/24: the sum over k >= 1 of 1/4k^2
INVERSES = "0.8225"  # at least twice that
RISE = "0.2034"  # at least the largest h on its path, sinh(sqrt 2 t) e^(-2t)/sqrt 2
AREA_JOINT, AREA_FOUR, SQUARE_FOUR = 1, "0.5", "0.0625"  # integrals of |G|, h, h^2 on their paths


class Bounds(NamedTuple):
    """Bounds on the flow until a score emerges; TV is all that a coordinate moves.

    Attributes:
        theta: T l/N^2.
        beta: the largest beta_2.
        alpha: the largest alpha_3.
        apart: the largest d.
        low_beta: -beta_2; also half of what beta_2 turns back.
        low_alpha: the same of alpha_3.
        low_apart: the same of d.
        alpha_1: N times its TV.
        beta_1: N times its TV.
        beta_7: N times its TV, beta_9's too.
        beta_8: N times its TV, beta_11's too.
        beta_10: N times its TV.
        beta_12: N times its TV.
        gamma_1: N |gamma_1|.
        joint_above: N/l times how far G is above its path.
        joint_below: N/l times how far it is below.
        four_above: N/l times how far h is above its path.
        four_below: N/l times how far it is below.
    """

    theta: Any
    beta: Any
    alpha: Any
    apart: Any
    low_beta: Any
    low_alpha: Any
    low_apart: Any
    alpha_1: Any
    beta_1: Any
    beta_7: Any
    beta_8: Any
    beta_10: Any
    beta_12: Any
    gamma_1: Any
    joint_above: Any
    joint_below: Any
    four_above: Any
    four_below: Any


class Errors(NamedTuple):
    """Time integrals of what the slow flow leaves out, at most: of beta_2, alpha_3 and d."""

    beta: arb
    alpha: arb
    apart: arb


def idle(b: Bounds, s: Scales, push: arb) -> tuple[dict[str, arb], Errors]:
    """New bounds on all that stays small, and the errors of the slow flow.

    Args:
        b: bounds that hold so far, as balls.
        s: the scales.
        push: at least beta_2's push over l, the sum over pairs of 2 w e^(beta w), less 1.

    Returns:
        The bounds from `alpha_1` on, by name, and the errors.

    Raises:
        ArithmeticError: where the bounds are too wide for what follows.
    """
    a = _attention(b, s)
    o = _output(b, s, a)
    quick = _quick(b, s, a, o)
    scores, errors = _scores(b, s, a, o, quick, push)
    return {**quick.after, **scores}, errors


def _attention(b: Any, s: Scales) -> SimpleNamespace:
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
    norm = (
        rare * (x * own + x * x * at_first + answer + x**3 * more) + late * later
    ) / 2
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


def _output(b: Any, s: Scales, a: SimpleNamespace) -> SimpleNamespace:
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
    four, joint = arb(RISE) + mixed * b.four_above, 1 + mixed * b.joint_above
    three, two = (joint + b.apart) / 2, (joint + b.low_apart.max(b.apart - 1)) / 2
    both = joint.max(b.apart)
    below_four, below_half = mixed * b.four_below, (mixed * b.joint_below + b.low_apart) / 2
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
    squares = squares_flat + a.norm_mean * rare * (2 + mixed * a.norm * a.up) * (
        1 + mixed * squares_flat
    )
    squares += a.up**2 / 2 * (a.raised * a.passed + a.norm * a.raised)
    to_item = a.label_row * (1 + mixed * a.w_1 / 2) / 2
    return SimpleNamespace(**locals())


def _quick(b: Any, s: Scales, a: SimpleNamespace, o: SimpleNamespace) -> SimpleNamespace:
    """The output's forces beside its limit, and what follows for G, h and gamma_1.

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
    held = o.two * a.asked + o.three * a.row / 2 + o.below_four * o.to_item
    not_held = o.four * o.to_item + (o.two + o.below_half) * a.row / 2
    either = o.two * (u_u + u_a) + o.three * (u_a + a_a) + a.wide
    both_items = 2 * rare * (a.asked + a.row / 2)
    up_joint = both_items * b.gamma_1 + either + v_up
    down_joint = both_items * b.gamma_1 + either + v_down
    up_four = 2 * rare * o.to_item * b.gamma_1 + o.two * u_f + f_v_down
    down_four = 2 * rare * o.to_item * b.gamma_1 + o.two * u_f + f_v_up
    up_four += o.three * a_f_up + o.below_half * a_f_down
    down_four += o.three * a_f_down + o.below_half * a_f_up
    by_four = u_f + a_f_up.max(a_f_down), 2 * o.squares
    most = o.four.max(o.below_four) * (by_four[0] + by_four[1])
    half = o.four.max(o.below_four) * (by_four[0] / 2 + by_four[1])
    after = {
        "gamma_1": held.max(not_held),
        "joint_above": up_joint + up_four + most,
        "joint_below": down_joint + down_four + most,
        "four_above": up_joint / 2 + up_four + half,
        "four_below": down_joint / 2 + down_four + half,
    }
    theta = b.theta
    late_four = (up_joint / 2 + up_four).max(down_joint / 2 + down_four)
    late_joint = (up_joint + up_four).max(down_joint + down_four)
    area_four = (arb(AREA_FOUR) + theta * late_four) / (1 - mixed * (by_four[0] / 2 + by_four[1]))
    area_joint = AREA_JOINT + theta * late_joint + mixed * (by_four[0] + by_four[1]) * area_four
    far = b.four_above.max(b.four_below)
    square_four = arb(SQUARE_FOUR) + mixed * far * (1 + theta * far)
    total = area_joint + area_four + theta * rare * b.gamma_1
    turned = 2 * area_joint + 2 * area_four
    moved_joint = turned + theta * up_joint.max(down_joint) + mixed * by_four[0] * area_four
    moved_four = turned - area_joint + theta * up_four.max(down_four)
    moved_four += mixed * by_four[1] * area_four
    spent_past, spent_answer, spent_item = (
        theta * rare * part + area_four * mixed * o.passed_on
        for part in (o.past, o.answer, o.item)
    )
    return SimpleNamespace(**locals())


def _scores(
    b: Any, s: Scales, a: SimpleNamespace, o: SimpleNamespace, q: SimpleNamespace, push: arb
) -> tuple[dict[str, arb], Errors]:
    """All scores that stay small, and the errors of the three that do not."""
    x, rare, mixed = s.x, s.rare, s.mixed
    theta, three, area = b.theta, o.three, q.area_four

    # how far coordinates and attention move
    moved_beta = b.beta + 3 * b.low_beta + 2 * (2 * b.beta_8 + b.beta_12) * a.ahead * x**3
    moved_alpha = b.alpha + 3 * b.low_alpha
    moved_half = (q.moved_joint + b.apart + 3 * b.low_apart) / 2  # gamma_2 or gamma_3
    moved_score = moved_beta + a.score * moved_alpha
    moved_norm = mixed * a.row * moved_score * a.later / 2 + x / 2 * (
        a.row * (x * a.item + 2 * x * x * a.first)
        + a.label_row * (moved_score + 2 * x**3 * a.label)
    )
    at_item = a.asked * (moved_half + o.two * x * b.alpha_1)
    at_item += a.row / 2 * (moved_half + three * (x * a.item + moved_norm))
    at_item += o.to_item * (
        q.moved_four + o.four * (moved_score + 2 * x**3 * a.label + moved_alpha + moved_norm)
    )  # N times what the output moves at the item asked for; gamma_1 follows at rate 2

    # the mean over the attention, which the norm of layer 2 costs: |gamma_3 r + gamma_4 A r|, with
    # parts in proportion to nothing, to w and to what later rows pay to the item
    w_answer = a.answer * a.w_1 + x * x * rare * a.more
    half_up = three * a.up / 2
    cost_all = half_up * (
        q.total + x * a.own * q.spent_item + x * x * a.at_first * (q.spent_past + q.spent_item)
    )
    cost_all += area * (o.to_item * o.most_item + o.past) + q.square_four * (1 + mixed * o.squares)
    cost_w = half_up * theta * (1 + o.most_answer)
    cost_late = half_up * a.late * q.spent_past + area * a.row * (1 + o.most_answer) / 2
    cost = cost_all + cost_w * w_answer + cost_late
    cost_at_answer = mixed * a.w_1 * (cost_all + cost_late * a.later * s.log)
    cost_at_answer += cost_w * rare * (a.answer * a.w_2 + x * x * a.more * a.w_1 * mixed)

    # pushes on the scores of the item asked for (over x), its label (over N), row 0 and later rows
    on_item = three * a.row * (at_item * x / 2 + (a.norm_mean + x * a.at_first) * q.spent_item)
    on_item += a.row * (area * o.past + cost)
    on_item += 2 * a.row * q.square_four * a.label_row * (1 + mixed * o.squares_flat)
    on_label = a.label_row * (
        three * (theta * rare + x * q.spent_answer)
        + x * area * (o.most_item + o.most_past) + x * x * cost
    )  # fmt: skip
    on_first = a.row * (three * (q.spent_past + q.spent_item) + x * cost)
    late_four = a.row * area * (
        rare * o.past + a.paid_2 * (1 + o.most_item + o.most_answer)
    ) + a.row * q.square_four * o.passed_on
    late_cost = a.row * (
        rare * (cost_all + cost_late * a.later_2) + cost_w * w_answer * a.later
    )
    on_late = three * a.row * q.spent_past + mixed * (late_four + late_cost)

    idle_1 = a.asked * a.flat * (
        2 * b.beta_7 * on_item * x * x + (b.beta_10 + 2 * b.beta_8) * on_label
        + (2 * b.beta_8 + b.beta_12) * x * (on_late + on_first)
    )  # fmt: skip
    after = {
        "alpha_1": o.two * a.asked * (x * at_item + moved_half) + idle_1,
        "beta_1": on_item,
        "beta_7": a.ahead * on_item * x * x,
        "beta_8": x * a.ahead * moved_beta + a.flat * on_first / 2,
        "beta_10": a.ahead * on_label,
        "beta_12": x * a.ahead * on_late + a.flat * on_first / 2,
    }

    # errors over xl
    bent = a.gap + 2 * a.wide + 2 * (1 + a.up * a.flat) * a.norm_late
    scored = (a.label + 2 * b.beta_8 * a.ahead) * (a.score + x**3 * a.label).exp()
    label = three * a.label_row * a.w_1 * (q.spent_answer + theta * a.up * a.norm)
    label += a.label_row * (a.w_1 * area * (o.most_item + o.most_past) + rare * cost_at_answer)
    label += three * a.up * x * scored * theta * rare**2
    rest = rare * three * area * a.row * a.label_row / 2 + late_four + late_cost
    wait = push * q.area_joint / 4  # of gamma_3, which rises
    beta = label + rest + wait + rare * three * q.area_joint / 2
    beta += three * theta * rare * o.both / 2 * (
        bent + a.late * (2 + a.late / 2) * a.paid_2 * a.up**2 * a.flat
    )
    alpha = a.score * (label + rest + wait)
    alpha += three * a.label_row * a.w_1 * 2 * b.beta_8 * a.ahead * x * rare * theta
    alpha += three * a.score * a.all_w * a.row * o.past * theta * rare / 2
    alpha += area * a.label_row * (
        a.all_w * (o.most_item + o.most_past + (1 + o.most_answer + o.most_item) / 2)
        + half_up * (x * a.all_w * a.late + rare * a.half * arb(INVERSES) * a.raised)
    )
    apart = a.up * w_answer * (q.spent_answer + a.norm * theta)
    apart += a.up * x * scored * theta * rare**2
    apart += theta * rare * o.both / 2 * (
        a.score * bent
        + a.up**2 * a.paid_2 * (a.flat * a.score**2 * (a.score / 2).exp() / 2 + a.late**2)
        + x * x * rare * (2 * b.beta_8 + b.beta_12) * a.ahead
    )
    apart += rare * a.score * q.area_joint / 2 + rare * area * a.late * a.up * a.label_row / 2
    apart += q.total * (a.norm_mean * rare + a.wide)
    apart += rare * (a.own * a.up + 2 * a.ahead) * q.spent_item
    apart += x * rare * a.at_first * a.up * (q.spent_past + q.spent_item)
    recency = q.square_four * a.label_row * a.all_w * 2 * o.passed_on
    return after, Errors(
        upper(mixed * beta), upper(mixed * alpha + a.heavy * recency), upper(mixed * apart)
    )
