"""The scores that stay small when any pair may be asked for, and what the slow flow leaves out."""

from typing import NamedTuple

from flint import arb

from ..box import Scales, upper
from .attentions import Deviations, attention_deviations
from .extent import Errors, Extent, Horizon
from .outputs import SQUARES, OutputBounds, QuickFlow, forces, next_output, output_bounds, quick

INVERSES = "0.8225"  # at least pi^2/12: the sum over k >= 1 of 1/2k^2


class Costs(NamedTuple):
    """Bounds on integrals over time that every score of layer 2 pays."""

    cost: arb  # of the mean over the attention, |gamma_3 r + gamma_4 A r|
    cost_at_answer: arb  # of that mean with w
    late_four: arb  # what gamma_4 does to later rows, over xl
    late_cost: arb  # what the mean does to them, over xl
    w_answer: arb  # the mean of |e^score - 1| of the answer, over xl
    half_up: arb  # gamma_3 N/Z, with the norm Z of layer 2


def idle(b: Extent, s: Scales, push: arb, stage: Horizon) -> tuple[Extent, Errors]:
    """These bounds with new ones from `alpha_1` on, and the slow flow's errors up to a stage's end.

    They follow from bounds that hold so far. `push` is at least beta_2's push over l, the sum over
    pairs of 2 w e^(beta w), less 1. Raises ArithmeticError where the bounds are too wide.
    """
    a = attention_deviations(b, s)
    o = output_bounds(b, s, a)
    f = forces(b, s, a, o)
    small = next_output(next_scores(b, s, a, o, quick(b, s, o, f)), o, f)
    last = b._replace(theta=stage.theta)
    more = errors(last, s, a, o, quick(last, s, o, f, stage.tail), push)
    sums = (upper(old + new) for old, new in zip(stage.before, more, strict=True))
    return small, Errors(*sums)


def next_scores(b: Extent, s: Scales, a: Deviations, o: OutputBounds, q: QuickFlow) -> Extent:
    """These bounds, with those that follow on all scores that stay small."""
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

    costs = _costs(b, s, a, o, q)
    cost = costs.cost

    # pushes on the scores of the item asked for (over x), its label (over N), row 0 and later rows
    on_item = three * a.row * (at_item * x / 2 + (a.norm_mean + x * a.at_first) * q.spent_item)
    on_item += a.row * (area * o.past + cost)
    on_item += 2 * a.row * q.square_four * a.label_row * (1 + mixed * o.squares_flat)
    on_label = a.label_row * (
        three * (theta * rare + x * q.spent_answer)
        + x * area * (o.most_item + o.most_past) + x * x * cost
    )  # fmt: skip
    on_first = a.row * (three * (q.spent_past + q.spent_item) + x * cost)
    on_late = three * a.row * q.spent_past + mixed * (costs.late_four + costs.late_cost)

    idle_1 = a.asked * a.flat * (
        2 * b.beta_7 * on_item * x * x + (b.beta_10 + 2 * b.beta_8) * on_label
        + (2 * b.beta_8 + b.beta_12) * x * (on_late + on_first)
    )  # fmt: skip
    return b._replace(
        alpha_1=o.two * a.asked * (x * at_item + moved_half) + idle_1,
        beta_1=on_item,
        beta_7=a.ahead * on_item * x * x,
        beta_8=x * a.ahead * moved_beta + a.flat * on_first / 2,
        beta_10=a.ahead * on_label,
        beta_12=x * a.ahead * on_late + a.flat * on_first / 2,
    )


def _costs(b: Extent, s: Scales, a: Deviations, o: OutputBounds, q: QuickFlow) -> Costs:
    """What the scores of layer 2 pay, from bounds on attention and output."""
    x, rare, mixed = s.x, s.rare, s.mixed
    theta, three, area = b.theta, o.three, q.area_four
    # in proportion to nothing, to w and to what later rows pay to the item
    w_answer = a.answer * a.w_1 + x * x * rare * a.more
    half_up = three * a.up / 2
    cost_all = half_up * (
        q.total + x * a.own * q.spent_item + x * x * a.at_first * (q.spent_past + q.spent_item)
    )
    cost_all += area * o.past + q.square_four * o.most_squares
    cost_w = half_up * theta * (1 + o.most_answer)
    cost_late = half_up * a.late * q.spent_past + area * a.row * (1 + o.most_answer) / 2
    cost_late += area * a.label_row * o.most_item
    cost = cost_all + cost_w * w_answer + cost_late
    cost_at_answer = mixed * a.w_1 * (cost_all) + a.heavy * a.w_1 * cost_late * a.later
    cost_at_answer += cost_w * rare * (a.answer * a.w_2 + x * x * a.more * a.w_1 * mixed)
    late_one = a.up * (1 + a.late * mixed * a.paid_2)  # 2N times the mean of their a
    late_two = a.up * (a.paid_2 + a.late * rare * arb(SQUARES))
    late_four = (
        area * (late_one * rare * o.past + late_two * (1 + o.most_item + o.most_answer))
        + late_one * q.square_four * o.passed_on
    )
    late_cost = late_one * rare * cost_all
    late_cost += a.row * (rare * cost_late * a.later_2 + cost_w * w_answer * a.later)
    return Costs(cost, cost_at_answer, late_four, late_cost, w_answer, half_up)


def errors(b: Extent, s: Scales, a: Deviations, o: OutputBounds, q: QuickFlow, push: arb) -> Errors:
    """What beta_2, alpha_3 and d move beside the slow flow."""
    x, rare, mixed = s.x, s.rare, s.mixed
    theta, three, area = b.theta, o.three, q.area_four
    c = _costs(b, s, a, o, q)
    # all over xl
    bent = a.gap + 2 * a.wide + 2 * (1 + a.up * a.flat) * a.norm_late
    scored = (a.label + 2 * b.beta_8 * a.ahead) * (a.score + x**3 * a.label).exp()
    label = three * a.label_row * a.w_1 * (q.spent_answer + theta * a.up * a.norm)
    label += a.label_row * (a.w_1 * area * (o.most_item + o.most_past) + rare * c.cost_at_answer)
    label += three * a.up * x * scored * theta * rare**2
    rest = rare * three * area * a.row * a.label_row / 2 + c.late_four + c.late_cost
    wait = push * q.area_joint / 4  # of gamma_3, which rises
    beta = label + rest + wait + rare * three * q.area_joint / 2
    later = a.late * (2 + a.late / 2) * a.paid_2 * a.up**2 * a.flat
    beta += three * theta * rare * o.both / 2 * (bent + later)
    alpha = a.score * (label + rest + wait)
    alpha += three * a.label_row * a.w_1 * 2 * b.beta_8 * a.ahead * x * rare * theta
    alpha += three * a.score * a.all_w * a.row * o.past * theta * rare / 2
    held = a.all_w * (o.most_item + o.most_past + (1 + o.most_answer + o.most_item) / 2)
    held += c.half_up * (x * a.all_w * a.late + rare * a.half * arb(INVERSES) * a.raised)
    alpha += area * a.label_row * held
    apart = a.up * c.w_answer * (q.spent_answer + a.norm * theta)
    apart += a.up * x * scored * theta * rare**2
    turned = a.score * bent
    turned += a.up**2 * a.paid_2 * (a.flat * a.score**2 * (a.score / 2).exp() / 2 + a.late**2)
    turned += x * x * rare * (2 * b.beta_8 + b.beta_12) * a.ahead
    apart += theta * rare * o.both / 2 * turned
    apart += rare * a.score * q.area_joint / 2 + rare * area * a.late * a.up * a.label_row / 2
    apart += q.total * (a.norm_mean * rare + a.wide)
    apart += rare * (a.own * a.up + 2 * a.ahead) * q.spent_item
    apart += x * rare * a.at_first * a.up * (q.spent_past + q.spent_item)
    recency = q.square_four * a.label_row * a.all_w * 2 * o.passed_on
    alpha = mixed * alpha + a.heavy * recency
    return Errors(upper(mixed * beta), upper(alpha), upper(mixed * apart))
