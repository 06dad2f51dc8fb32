"""The full model's flow held in a box until alpha_3 emerges, for every N from some N0 on.

The query asks for the last pair. With x = 1/N and l = log N every coordinate has its own scale, and
a `Box` has bounds on them in these scales. `consequences` derives bounds from bounds: if all
derived bounds are smaller, then no coordinate can be the first to leave the box. Numbers are balls
of Arb around x in [0, 1/N0], 1/l in [0, 1/l0] and xl in [0, l0/N0]: one evaluation speaks for all
N >= N0. What vanishes with x is x times a derivative over the ball (`arb_series`).
"""

import math
from typing import NamedTuple

from flint import arb, arb_series

from emergence.proofs.intervals import outward

from .box import WAIT, Box, Carried, Scales, both, excess, lower, scales, slow_time, upper
from .twelve import KAPPA, Attention, attention_and_overlaps


class Attentions(NamedTuple):
    """Bounds on both layers; item and label are the answer's, and scores those of layer 2."""

    e: arb  # e^alpha_3
    grown: arb  # its largest value
    slack: arb  # N times what `push` is beyond its limit and log N
    push: tuple[arb, arb]  # of recency on alpha_3, over log N: least and largest
    varied: arb  # all that alpha_3 moves
    near: arb  # N (e^alpha_1 - 1)
    each: arb  # N times the query's attention in layer 1 to a row that is not the queried item
    asked: arb  # N times its attention to the queried item
    ahead: arb  # N^2 times all that this moves
    share: arb  # N times the attention of the label to its item in layer 1
    score: arb  # beta_2 and what adds to it
    of_first: arb  # N^2 times the score of row 0
    moved: tuple[arb, arb, arb]  # what the scores of item, label and row 0 move
    label: arb  # N times what e^score of the label is beyond 1
    row: arb  # N^2 times what e^score of row 0 is beyond 1
    series: arb_series  # x = 1/N
    p: Attention  # both layers and their inner products, as series in x
    norm: arb  # of the attention of layer 2, over N: the least
    on_item: arb  # N times the attention of layer 2 to the item
    on_label: arb  # N times its attention to the label
    on_first: arb  # N times its attention to row 0
    missing: arb  # how far the decay of h is below its limit, over h and log N/N


def attention_bounds(box: Box, level: arb, scale: Scales) -> Attentions:
    """Both layers; ArithmeticError where the bounds so far are too wide."""
    x, rare, most = scale.x, scale.rare, scale.most
    e = (-box.low).exp().union(level.exp())
    grown = upper(e)
    slack = (arb("1.5") * grown).union(arb("-2.5")) / (1 - 2 * most)
    push = 1 + (excess(level) + slack * x) * rare, 1 + (excess(-box.low) + slack * x) * rare
    varied = level + 2 * box.low  # all that alpha_3 moves

    each, asked = upper(1 / (2 - x - x * box.alpha_1)), arb("0.6")
    near = box.alpha_1 * (most * box.alpha_1).exp()  # N (e^alpha_1 - 1)
    ahead = near * each + asked * box.alpha_1 * 2  # N^2 times all that it moves
    share = upper(e / (2 - 2 * x + x * e))
    score = box.beta_2 + 2 * most**3 * box.beta_8 * ahead
    of_label = share * score + most**2 * box.beta_10 * ahead  # N times its score
    of_first = (2 * box.beta_8 + box.beta_12) * each * (1 + most**2 * box.alpha_1)  # N^2 times
    moved = (
        box.beta_1 + 2 * most**4 * box.beta_7 * ahead,
        most * of_label * (1 + varied),
        most**2 * of_first,
    )
    if not (moved[0] < 3 and 2 * most * (box.alpha_1 + of_label.exp()) < 1):
        raise ArithmeticError("the bounds are too wide for what follows")
    series = arb_series([x, 1])
    item = (-moved[0]).exp().union(moved[0].exp())
    label = both(of_label * (most * of_label).exp())
    row = both(of_first * (most**2 * of_first).exp())
    first = arb(0).union(scale.mixed * (1 + 2 * rare))
    p = attention_and_overlaps(
        series,
        (1 + series * both(near), arb_series([e])),
        (arb_series([item]), 1 + series * label, 1 + series * series * row),
        arb_series([0]),
        arb_series([first]),
    )
    if not p.asked[0] < asked:
        raise ArithmeticError("alpha_1 is too far from zero")
    norm = arb(p.norm[0].lower())
    on_item, on_label, on_first = (upper(part[0]) for part in (p.item, p.label, p.first))
    missing = 1 + arb("1.7") * rare + (grown - 1) * upper(push[1])  # over log N
    missing = arb(0).union(upper(2 * missing / (norm * norm)))
    return Attentions(
        e=e, grown=grown, slack=slack, push=push, varied=varied, near=near, each=each, asked=asked,
        ahead=ahead, share=share, score=score, of_first=of_first, moved=moved, label=label,
        row=row, series=series, p=p, norm=norm, on_item=on_item, on_label=on_label,
        on_first=on_first, missing=missing,
    )  # fmt: skip


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
    rare, most, theta = scale.rare, scale.most, box.theta
    most_four, most_three = output.most_four, output.most_three
    on_item, asked, norm = attention.on_item, attention.asked, attention.norm
    goal = upper(output.most_joint * (asked + on_item) + box.apart * (asked + on_item)) / 2
    goal += most_four * most * attention.on_label * attention.share
    # N times the output's share of the answer
    answer = most_three * (attention.each + attention.on_label)
    at_item = (
        (asked + on_item) * (output.moves_joint + box.apart)
        + (output.most_joint + box.apart)
        * (most * asked * box.alpha_1 + on_item * sum(attention.moved))
    ) / 4 + most * attention.on_label * attention.share * (
        output.moves_four + most_four * (sum(attention.moved) + attention.varied)
    ) / 2
    past = theta * rare * (1 + most * answer) + most * output.whole + most**3 * at_item
    past_most = (
        1
        + scale.mixed * sum(output.away)
        + most * (3 * box.gamma_1 + most_four * attention.on_first + answer)
    )
    on_row = rare * (
        most_three * (attention.each + 1 / norm)
        + most_four * most * upper(attention.p.passed[0]) / norm
    )
    on_row += most_four * (1 + 2 * rare) / norm + rare * most**2 * most_three * upper(attention.row)
    per_past = 1 / (2 - 2 * most)

    # scores
    small_push = most * (most_three * answer + most_four * per_past * past_most)
    small_push += most**2 * most_four * attention.share * 2 * box.gamma_1
    all_item = most_four * per_past * past + most * (most_three * most * at_item + output.turning)
    all_label = (most_three + small_push) * theta * rare + most * output.turning
    pushed_item = 2 * on_item * all_item
    pushed_label = 2 * attention.on_label * all_label  # over N
    pushed_first = 2 * attention.on_first * (most_three * on_row * theta + most * output.turning)
    idle = asked * (1 + most) * (
        2 * most**2 * box.beta_7 * pushed_item + 2 * most * box.beta_8 * box.beta_2
        + box.beta_10 * pushed_label
    ) + most**2 * attention.of_first * asked * pushed_first  # fmt: skip
    turned = most * upper(abs((1 / attention.p.norm - attention.p.each)[1])) * output.whole
    turned += most**2 * (1 + on_item + most * attention.near * attention.each) * at_item
    turned += upper(attention.label) / norm * theta * rare * (1 + most * answer)
    turned += most**2 * upper(attention.row) / norm * theta * on_row
    return Pushes(
        goal=goal, at_item=at_item, past=past, per_past=per_past, small_push=small_push,
        pushed_item=pushed_item, pushed_label=pushed_label, pushed_first=pushed_first, idle=idle,
        turned=turned,
    )  # fmt: skip


START, GROWTH, TURNS = 0.01, 1.02, 200  # of the search for a box, from small bounds to larger


def close(least: int, top: float = 0.5) -> tuple[Box, Carried, Scales]:
    """A box that holds the flow for every N >= `least` until alpha_3 is `top`.

    That is, bounds that follow from larger bounds; with them what else follows, and the scales.
    Raises ArithmeticError where there are no such bounds, ValueError for N0 < 21.
    """
    scale, box = scales(least), Box(*[START] * len(Box._fields))
    for _ in range(TURNS):
        after, reached = consequences(box, top, scale)
        if all(new < old for new, old in zip(after, box, strict=True)):
            return after, reached, scale
        if not all(map(math.isfinite, after)):
            break
        box = Box(*(max(old, GROWTH * new) for old, new in zip(box, after, strict=True)))
    raise ArithmeticError(f"no box is found for N0 = {least} and alpha_3 up to {top}")


def consequences(box: Box, top: float, scale: Scales) -> tuple[Box, Carried]:
    """What follows from the bounds of a box up to alpha_3 = `top`, for every N of `s`."""
    held = Box(*map(arb, box))
    attention = attention_bounds(held, arb(top), scale)
    output = output_bounds(held, scale, attention)
    return _slow(
        held, arb(top), scale, attention, output, push_bounds(held, scale, attention, output)
    )


def _slow(
    held: Box, level: arb, scale: Scales, attention: Attentions, output: Outputs, pushed: Pushes
) -> tuple[Box, Carried]:
    """alpha_3 and beta_2 along sigma, the integral of e^alpha_3 dt/4N^2, and all bounds."""
    rare, most = scale.rare, scale.most
    ends = arb_series([attention.e]) / (2 - 2 * attention.series + attention.series * attention.e)
    by_beta = (
        4
        * (1 + attention.series * attention.label)
        / (attention.p.norm * (2 - 2 * attention.series + attention.series * attention.e))
    )
    strength = (
        2 * (1 + most * upper(abs(by_beta[1]))),
        2 * (1 + most * upper(abs((by_beta * (1 - attention.series * ends))[1]))),
    )
    shape = 4 / (attention.p.norm * attention.p.norm)
    area = arb(WAIT[1]) + 2 * held.theta * held.four_below
    offset = strength[0] * most**2 * attention.grown / 4 * output.turning
    late = strength[0] * most * attention.grown / 4 * arb(WAIT[0]) + offset
    three = (scale.mixed * held.joint_below + held.apart) / 2
    errors = most**3 * scale.log * pushed.at_item + most * scale.log * pushed.per_past * pushed.past
    small = strength[1] * output.most_four * errors
    first = 8 * arb(KAPPA) * most**2 * output.most_three * output.most_four * upper(attention.row)
    small += first / attention.norm**2 * held.theta
    small += (
        strength[1]
        * attention.score
        * (pushed.small_push * held.theta + most**2 * scale.log * output.turning)
    )
    late += 2 * most**3 * held.beta_8 * attention.ahead
    loss = small + strength[1] * held.theta * (attention.score * three + output.most_three * late)
    if not three + pushed.small_push < 1:
        raise ArithmeticError("gamma_3 may not rise")
    least = lower(attention.push[0]) * lower(shape[0])
    sigma = (
        level + attention.grown * loss / 4 / scale.log
    ) / least + attention.grown / 4 * area * scale.mixed
    wait = upper(slow_time(level, attention.slack, scale)[0])
    after = Box(
        theta=wait
        + scale.mixed * (area + held.theta * rare * output.most_four**2 * upper(abs(shape[1])))
        + loss / scale.log / lower(attention.push[0]),
        low=attention.grown * loss / 4 / scale.log,
        alpha_1=2
        * output.most_three
        * attention.asked
        * (most * pushed.at_item + (output.moves_joint + held.apart) / 4)
        + pushed.idle,
        beta_1=pushed.pushed_item,
        beta_2=strength[0] * (output.most_three + pushed.small_push) * sigma / scale.log + offset,
        beta_7=attention.near * attention.each * pushed.pushed_item,
        beta_8=attention.each * pushed.pushed_first
        + most * attention.near * attention.each * held.beta_2,
        beta_10=attention.near * attention.each * pushed.pushed_label,
        beta_12=attention.each * pushed.pushed_first,
        gamma_1=pushed.goal,
        apart=2 * pushed.turned,
        joint_above=output.above[0],
        joint_below=output.below[0],
        four_above=output.above[1],
        four_below=output.below[1],
    )
    reached = Carried(
        push=attention.push,
        grown=attention.grown,
        slack=attention.slack,
        norm=(shape[0], upper(abs(shape[1]))),
        four=output.most_four,
        area=area,
        three=three,
        small=upper(small),
        loss=upper(loss),
        strength=(upper(strength[0]), upper(strength[1])),
        score=upper(attention.score),
        offset=upper(offset),
        late=upper(late),
        sigma=upper(sigma),
        answered=upper(pushed.small_push),
        theta=held.theta,
        joint_three=output.most_three,
    )
    return Box(*(outward(part).high for part in after)), reached
