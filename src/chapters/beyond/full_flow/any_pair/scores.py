"""The scores that stay small when any pair may be asked for, and what the slow flow leaves out."""

from typing import NamedTuple

from flint import arb

from ..box import Scales, upper
from .outputs import (
    SQUARES,
    Deviations,
    Errors,
    Extent,
    Horizon,
    OutputBounds,
    QuickFlow,
    attention_deviations,
    forces,
    next_output,
    output_bounds,
    quick,
)

INVERSES = "0.8225"  # at least pi^2/12: the sum over k >= 1 of 1/2k^2


class Costs(NamedTuple):
    """Bounds on integrals over time that every score of layer 2 pays."""

    cost: arb  # of the mean over the attention, |gamma_3 r + gamma_4 A r|
    cost_at_answer: arb  # of that mean with w
    late_four: arb  # what gamma_4 does to later rows, over xl
    late_cost: arb  # what the mean does to them, over xl
    w_answer: arb  # the mean of |e^score - 1| of the answer, over xl
    half_up: arb  # gamma_3 N/Z, with the norm Z of layer 2


def idle(extent: Extent, scale: Scales, push: arb, stage: Horizon) -> tuple[Extent, Errors]:
    """These bounds with new ones from `alpha_1` on, and the slow flow's errors up to a stage's end.

    They follow from bounds that hold so far. `push` is at least beta_2's push over l, the sum over
    pairs of 2 w e^(beta w), less 1. Raises ArithmeticError where the bounds are too wide.
    """
    deviation = attention_deviations(extent, scale)
    output = output_bounds(extent, scale, deviation)
    force = forces(extent, scale, deviation, output)
    small = next_output(
        next_scores(extent, scale, deviation, output, quick(extent, scale, output, force)),
        output,
        force,
    )
    last = extent._replace(theta=stage.theta)
    moved = quick(last, scale, output, force, stage.tail)
    more = errors(last, scale, deviation, output, moved, push)
    sums = (upper(old + new) for old, new in zip(stage.before, more, strict=True))
    return small, Errors(*sums)


def next_scores(
    extent: Extent, scale: Scales, deviation: Deviations, output: OutputBounds, moved: QuickFlow
) -> Extent:
    """These bounds, with those that follow on all scores that stay small."""
    x, rare, mixed = scale.x, scale.rare, scale.mixed
    theta, three, area = extent.theta, output.three, moved.area_four
    row, ahead = deviation.row, deviation.ahead

    # how far coordinates and attention move
    moved_beta = (
        extent.beta + 3 * extent.low_beta + 2 * (2 * extent.beta_8 + extent.beta_12) * ahead * x**3
    )
    moved_alpha = extent.alpha + 3 * extent.low_alpha
    moved_half = (moved.moved_joint + extent.apart + 3 * extent.low_apart) / 2  # gamma_2 or gamma_3
    moved_score = moved_beta + deviation.score * moved_alpha
    moved_norm = mixed * row * moved_score * deviation.later / 2 + x / 2 * (
        row * (x * deviation.item + 2 * x * x * deviation.first)
        + deviation.label_row * (moved_score + 2 * x**3 * deviation.label)
    )
    at_item = deviation.asked * (moved_half + output.two * x * extent.alpha_1)
    at_item += row / 2 * (moved_half + three * (x * deviation.item + moved_norm))
    at_item += output.to_item * (
        moved.moved_four
        + output.four * (moved_score + 2 * x**3 * deviation.label + moved_alpha + moved_norm)
    )  # N times what the output moves at the item asked for; gamma_1 follows at rate 2

    costs = _costs(extent, scale, deviation, output, moved)
    cost = costs.cost

    # pushes on the scores of the item asked for (over x), its label (over N), row 0 and later rows
    on_item = (
        three
        * row
        * (at_item * x / 2 + (deviation.norm_mean + x * deviation.at_first) * moved.spent_item)
    )
    on_item += row * (area * output.past + cost)
    on_item += 2 * row * moved.square_four * deviation.label_row * (1 + mixed * output.squares_flat)
    on_label = deviation.label_row * (
        three * (theta * rare + x * moved.spent_answer)
        + x * area * (output.most_item + output.most_past) + x * x * cost
    )  # fmt: skip
    on_first = row * (three * (moved.spent_past + moved.spent_item) + x * cost)
    on_late = three * row * moved.spent_past + mixed * (costs.late_four + costs.late_cost)

    idle_1 = deviation.asked * deviation.flat * (
        2 * extent.beta_7 * on_item * x * x + (extent.beta_10 + 2 * extent.beta_8) * on_label
        + (2 * extent.beta_8 + extent.beta_12) * x * (on_late + on_first)
    )  # fmt: skip
    return extent._replace(
        alpha_1=output.two * deviation.asked * (x * at_item + moved_half) + idle_1,
        beta_1=on_item,
        beta_7=ahead * on_item * x * x,
        beta_8=x * ahead * moved_beta + deviation.flat * on_first / 2,
        beta_10=ahead * on_label,
        beta_12=x * ahead * on_late + deviation.flat * on_first / 2,
    )


def _costs(
    extent: Extent, scale: Scales, deviation: Deviations, output: OutputBounds, moved: QuickFlow
) -> Costs:
    """What the scores of layer 2 pay, from bounds on attention and output."""
    x, rare, mixed, most_answer = scale.x, scale.rare, scale.mixed, output.most_answer
    theta, three, area = extent.theta, output.three, moved.area_four
    w_1, up, late = deviation.w_1, deviation.up, deviation.late
    # in proportion to nothing, to w and to what later rows pay to the item
    w_answer = deviation.answer * w_1 + x * x * rare * deviation.more
    half_up = three * up / 2
    cost_all = half_up * (
        moved.total
        + x * deviation.own * moved.spent_item
        + x * x * deviation.at_first * (moved.spent_past + moved.spent_item)
    )
    cost_all += area * output.past + moved.square_four * output.most_squares
    cost_w = half_up * theta * (1 + most_answer)
    cost_late = half_up * late * moved.spent_past + area * deviation.row * (1 + most_answer) / 2
    cost_late += area * deviation.label_row * output.most_item
    cost = cost_all + cost_w * w_answer + cost_late
    cost_at_answer = mixed * w_1 * (cost_all) + deviation.heavy * w_1 * cost_late * deviation.later
    cost_at_answer += (
        cost_w * rare * (deviation.answer * deviation.w_2 + x * x * deviation.more * w_1 * mixed)
    )
    late_one = up * (1 + late * mixed * deviation.paid_2)  # 2N times the mean of their a
    late_two = up * (deviation.paid_2 + late * rare * arb(SQUARES))
    late_four = (
        area * (late_one * rare * output.past + late_two * (1 + output.most_item + most_answer))
        + late_one * moved.square_four * output.passed_on
    )
    late_cost = late_one * rare * cost_all
    late_cost += deviation.row * (
        rare * cost_late * deviation.later_2 + cost_w * w_answer * deviation.later
    )
    return Costs(cost, cost_at_answer, late_four, late_cost, w_answer, half_up)


def errors(
    extent: Extent,
    scale: Scales,
    deviation: Deviations,
    output: OutputBounds,
    moved: QuickFlow,
    push: arb,
) -> Errors:
    """What beta_2, alpha_3 and d move beside the slow flow."""
    x, rare, mixed = scale.x, scale.rare, scale.mixed
    theta, three, area = extent.theta, output.three, moved.area_four
    up, label_row, score, late = deviation.up, deviation.label_row, deviation.score, deviation.late
    all_w, ahead, flat, w_1 = deviation.all_w, deviation.ahead, deviation.flat, deviation.w_1
    area_joint, most_item, beta_8 = moved.area_joint, output.most_item, extent.beta_8
    costs = _costs(extent, scale, deviation, output, moved)
    # all over xl
    bent = deviation.gap + 2 * deviation.wide + 2 * (1 + up * flat) * deviation.norm_late
    scored = (deviation.label + 2 * beta_8 * ahead) * (score + x**3 * deviation.label).exp()
    label = three * label_row * w_1 * (moved.spent_answer + theta * up * deviation.norm)
    label += label_row * (w_1 * area * (most_item + output.most_past) + rare * costs.cost_at_answer)
    label += three * up * x * scored * theta * rare**2
    rest = rare * three * area * deviation.row * label_row / 2 + costs.late_four + costs.late_cost
    wait = push * area_joint / 4  # of gamma_3, which rises
    beta = label + rest + wait + rare * three * area_joint / 2
    later = late * (2 + late / 2) * deviation.paid_2 * up**2 * flat
    beta += three * theta * rare * output.both / 2 * (bent + later)
    alpha = score * (label + rest + wait)
    alpha += three * label_row * w_1 * 2 * beta_8 * ahead * x * rare * theta
    alpha += three * score * all_w * deviation.row * output.past * theta * rare / 2
    held = all_w * (most_item + output.most_past + (1 + output.most_answer + most_item) / 2)
    held += costs.half_up * (
        x * all_w * late + rare * deviation.half * arb(INVERSES) * deviation.raised
    )
    alpha += area * label_row * held
    apart = up * costs.w_answer * (moved.spent_answer + deviation.norm * theta)
    apart += up * x * scored * theta * rare**2
    turned = score * bent
    turned += up**2 * deviation.paid_2 * (flat * score**2 * (score / 2).exp() / 2 + late**2)
    turned += x * x * rare * (2 * beta_8 + extent.beta_12) * ahead
    apart += theta * rare * output.both / 2 * turned
    apart += rare * score * area_joint / 2 + rare * area * late * up * label_row / 2
    apart += moved.total * (deviation.norm_mean * rare + deviation.wide)
    apart += rare * (deviation.own * up + 2 * ahead) * moved.spent_item
    apart += x * rare * deviation.at_first * up * (moved.spent_past + moved.spent_item)
    recency = moved.square_four * label_row * all_w * 2 * output.passed_on
    alpha = mixed * alpha + deviation.heavy * recency
    return Errors(upper(mixed * beta), upper(alpha), upper(mixed * apart))
