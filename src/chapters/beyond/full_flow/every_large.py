"""A box that holds the full model's flow until alpha_3 emerges, for every N from some N0 on.

The last pair is asked for. With x = 1/N and l = log N every coordinate has its own scale, and a
`Box` has bounds on them in these scales. `follow` derives bounds from bounds: if all that follow
are smaller, then no coordinate can be the first to leave. Numbers are balls of Arb around x in
[0, 1/N0], 1/l in [0, 1/l0] and xl in [0, l0/N0], so that one evaluation speaks for all N >= N0. What
vanishes with x is x times a derivative over the ball (`arb_series`).
"""

import math
from typing import NamedTuple

from flint import acb, arb, arb_series, ctx

from .reduced import KAPPA
from .twelve import attention

PRECISION = 80
WAIT = "1.5", "2.875", "2.5"  # of 1 - gamma and 1 - h^2, and of t/N (1 - gamma), while gamma rises
START, GROWTH, TURNS = 0.01, 1.02, 200  # of the search for a box, from small bounds to larger


class Box(NamedTuple):
    """Bounds while alpha_3 is below its threshold; l is log N, and T the time spent.

    Attributes:
        theta: T l/N^2.
        low: -alpha_3, and all that alpha_3 ever loses.
        alpha_1: N times all that alpha_1 moves.
        beta_1: all that beta_1 moves.
        beta_2: all that beta_2 moves.
        beta_7: N^2 times all that beta_7 moves.
        beta_8: N times all that beta_8 moves.
        beta_10: N times all that beta_10 moves.
        beta_12: N times all that beta_12 moves.
        gamma_1: N |gamma_1|.
        apart: all that gamma_3 - gamma_2 moves.
        joint_above: N/l times what gamma_2 + gamma_3 is above its path for many pairs.
        joint_below: N/l times what it is below.
        four_above: N/l times what h = -gamma_4 is above its own.
        four_below: N/l times what it is below.
    """

    theta: float
    low: float
    alpha_1: float
    beta_1: float
    beta_2: float
    beta_7: float
    beta_8: float
    beta_10: float
    beta_12: float
    gamma_1: float
    apart: float
    joint_above: float
    joint_below: float
    four_above: float
    four_below: float


class Scales(NamedTuple):
    """Balls for all N >= N0, and their largest values."""

    x: arb
    rare: arb  # 1/log N
    mixed: arb  # log N/N
    most: arb  # 1/N0
    log: arb  # log N0


def scales(least: int) -> Scales:
    """For N0 >= 21, so that log^3 N/N falls."""
    if least < 21:
        raise ValueError(f"the bounds hold from 21 pairs on, got {least}")
    ctx.prec, ctx.cap = PRECISION, 2
    log, most = arb(least).log(), 1 / arb(least)
    return Scales(
        arb(0).union(most), arb(0).union(1 / log), arb(0).union(log * most), most, log
    )


def excess(alpha: arb) -> arb:
    """What the sum behind `push` is beyond log N for N to infinity; it falls with alpha."""
    grown = alpha.exp()
    z = acb(1 + grown / 2)
    first, second = z.polygamma(1).real, z.polygamma(2).real
    return -z.digamma().real - (grown - arb(1) / 2) * first - grown * (grown - 1) / 8 * second


class Reached(NamedTuple):
    """Numbers that `follow` derives along the way; `push` is over log N.

    Attributes:
        push: least and largest.
        grown: the largest e^alpha_3.
        slack: N times what `push` is beyond its limit and log N.
        norm: 4/(N norm)^2 of layer 2's attention, and N times its distance from 1.
        joint: the largest gamma_2 + gamma_3.
        four: the largest h.
        area: N times the integral of what |1 - h^2| is on the clock t/N^2, at most.
        three: how far gamma_3 is below its path for many pairs.
        small: bounds the time integral of the small parts of `Push`, over N^2/l.
        loss: bounds the time integral of the negative part of alpha_3's push.
        strength: 2 (1 + ...) of beta_2's and of alpha_3's push by gamma_3.
        score: the largest sum of beta_2 and its like.
        offset: of beta_2, from the output's own speed, at most.
        late: what beta_2 lacks at most, for gamma_3 was not there from the beginning.
        sigma: l times the integral of e^alpha_3 dt/4N^2, at most.
        answered: what the answer's share takes from gamma_3's push, at most.
        theta: T l/N^2, at most.
        joint_three: the largest gamma_3.
    """

    push: tuple[arb, arb]
    grown: arb
    slack: arb
    norm: tuple[arb, arb]
    joint: arb
    four: arb
    area: arb
    three: arb
    small: arb
    loss: arb
    strength: tuple[arb, arb]
    score: arb
    offset: arb
    late: arb
    sigma: arb
    answered: arb
    theta: arb
    joint_three: arb


def slow_time(top: arb, slack: arb, s: Scales, cells: int = 64) -> tuple[arb, arb]:
    """The integral of 4 e^-a/`push` over a up to `top`, times l, and what it is beyond the law.

    The law is 4 (1 - e^-top) minus the integral of 4 e^-a `excess` over l; the difference is taken
    times l^2.
    """
    total, beyond = arb(0), arb(0)
    ends = [excess(top * k / cells) for k in range(cells + 1)]
    for k in range(cells):
        weight = 4 * ((-top * k / cells).exp() - (-top * (k + 1) / cells).exp())
        more = ends[k].union(ends[k + 1]) + slack * s.x
        total += weight / (1 + more * s.rare)
        beyond += weight * (more * more / (1 + more * s.rare) - slack * s.mixed)
    return total, beyond


def follow(box: Box, top: float, s: Scales) -> tuple[Box, Reached]:
    """What follows from the bounds of a box up to alpha_3 = `top`, for every N of `s`."""
    b = Box(*map(arb, box))
    x, rare, most = s.x, s.rare, s.most
    level = arb(top)
    e = (-b.low).exp().union(level.exp())
    grown = _up(e)
    slack = (arb("1.5") * grown).union(arb("-2.5")) / (1 - 2 * most)
    push = 1 + (excess(level) + slack * x) * rare, 1 + (excess(-b.low) + slack * x) * rare
    varied = level + 2 * b.low  # all that alpha_3 moves

    # attention
    each, asked = _up(1 / (2 - x - x * b.alpha_1)), arb("0.6")
    near = b.alpha_1 * (most * b.alpha_1).exp()  # N (e^alpha_1 - 1)
    ahead = near * each + asked * b.alpha_1 * 2  # N^2 times all that it moves
    share = _up(e / (2 - 2 * x + x * e))
    score = b.beta_2 + 2 * most**3 * b.beta_8 * ahead
    of_label = share * score + most**2 * b.beta_10 * ahead  # N times its score
    of_first = (2 * b.beta_8 + b.beta_12) * each * (1 + most**2 * b.alpha_1)  # N^2 times
    moved = (
        b.beta_1 + 2 * most**4 * b.beta_7 * ahead,
        most * of_label * (1 + varied),
        most**2 * of_first,
    )
    if not (moved[0] < 3 and 2 * most * (b.alpha_1 + of_label.exp()) < 1):
        raise ArithmeticError("the bounds are too wide for what follows")
    series = arb_series([x, 1])
    item = (-moved[0]).exp().union(moved[0].exp())
    label = _both(of_label * (most * of_label).exp())
    row = _both(of_first * (most**2 * of_first).exp())
    first = arb(0).union(s.mixed * (1 + 2 * rare))
    p = attention(
        series,
        (1 + series * _both(near), arb_series([e])),
        (arb_series([item]), 1 + series * label, 1 + series * series * row),
        arb_series([0]),
        arb_series([first]),
    )
    if not p.asked[0] < asked:
        raise ArithmeticError("alpha_1 is too far from zero")
    norm = arb(p.norm[0].lower())
    on_item, on_label, on_first = (_up(part[0]) for part in (p.item, p.label, p.first))
    missing = 1 + arb("1.7") * rare + (grown - 1) * _up(push[1])  # over log N
    missing = arb(0).union(_up(2 * missing / (norm * norm)))

    # the output, beside its path for many pairs: a cooperative system
    joint = _between(-s.mixed * b.joint_below, 2 + s.mixed * b.joint_above)
    four = _between(-s.mixed * b.four_below, 1 + s.mixed * b.four_above)
    push_joint = rare * (
        -p.both[1] * joint + 2 * p.mixed[1] * four + 2 * (p.each + p.label)[1]
        + 2 * _both(b.gamma_1) * (p.asked + p.item)[0] + _both(b.apart) * p.more[1]
    )  # fmt: skip
    push_four = missing * four + rare * (
        p.mixed[1] * joint - p.found[1] * four + _both(b.apart) * p.turned[1]
        + 2 * most * _both(b.gamma_1) * on_label * share
    )  # fmt: skip
    up_joint, up_four = (arb(0).max(_up(force)) for force in (push_joint, push_four))
    down_joint, down_four = (arb(0).max(_up(-force)) for force in (push_joint, push_four))
    above = up_joint + up_four, up_joint / 2 + up_four
    below = down_joint + down_four, down_joint / 2 + down_four
    most_joint, most_four = _up(joint), _up(four)
    most_three = _up((joint + b.apart) / 2)

    # how far the output moves, on the clock t/N
    away = _up(b.joint_above.max(b.joint_below)), _up(b.four_above.max(b.four_below))
    moves_joint = 2 + b.theta * (2 * away[0] + 2 * away[1] + up_joint.max(down_joint))
    moves_four = 1 + b.theta * (away[0] + 2 * away[1] + up_four.max(down_four))
    turning = (most_three * (moves_joint + b.apart) / 2 + most_four * moves_four) / 2
    whole = 1 + b.theta * (sum(away) + rare * (b.gamma_1 + most_four * on_first))  # sum of errors

    # errors: at the item asked for, at the answer, and in the past
    goal = _up(most_joint * (asked + on_item) + b.apart * (asked + on_item)) / 2
    goal += most_four * most * on_label * share
    answer = most_three * (each + on_label)  # N times the output's share of the answer
    at_item = (
        (asked + on_item) * (moves_joint + b.apart)
        + (most_joint + b.apart) * (most * asked * b.alpha_1 + on_item * sum(moved))
    ) / 4 + most * on_label * share * (moves_four + most_four * (sum(moved) + varied)) / 2
    past = b.theta * rare * (1 + most * answer) + most * whole + most**3 * at_item
    past_most = 1 + s.mixed * sum(away) + most * (3 * b.gamma_1 + most_four * on_first + answer)
    on_row = rare * (most_three * (each + 1 / norm) + most_four * most * _up(p.passed[0]) / norm)
    on_row += most_four * (1 + 2 * rare) / norm + rare * most**2 * most_three * _up(row)
    per_past = 1 / (2 - 2 * most)

    # scores
    small_push = most * (most_three * answer + most_four * per_past * past_most)
    small_push += most**2 * most_four * share * 2 * b.gamma_1
    pushed_item = 2 * on_item * (
        most_four * per_past * past + most * (most_three * most * at_item + turning)
    )
    pushed_label = 2 * on_label * (
        (most_three + small_push) * b.theta * rare + most * turning
    )  # over N
    pushed_first = 2 * on_first * (most_three * on_row * b.theta + most * turning)
    idle = asked * (1 + most) * (
        2 * most**2 * b.beta_7 * pushed_item + 2 * most * b.beta_8 * b.beta_2
        + b.beta_10 * pushed_label
    ) + most**2 * of_first * asked * pushed_first  # fmt: skip
    turned = most * _up(abs((1 / p.norm - p.each)[1])) * whole
    turned += most**2 * (1 + on_item + most * near * each) * at_item
    turned += _up(label) / norm * b.theta * rare * (1 + most * answer)
    turned += most**2 * _up(row) / norm * b.theta * on_row

    # alpha_3 and beta_2, by sigma
    ends = arb_series([e]) / (2 - 2 * series + series * e)
    by_beta = 4 * (1 + series * label) / (p.norm * (2 - 2 * series + series * e))
    strength = (
        2 * (1 + most * _up(abs(by_beta[1]))),
        2 * (1 + most * _up(abs((by_beta * (1 - series * ends))[1]))),
    )
    shape = 4 / (p.norm * p.norm)
    area = arb(WAIT[1]) + 2 * b.theta * b.four_below
    offset = strength[0] * most**2 * grown / 4 * turning
    late = strength[0] * most * grown / 4 * arb(WAIT[0]) + offset
    three = (s.mixed * b.joint_below + b.apart) / 2
    small = strength[1] * most_four * (most**3 * s.log * at_item + most * s.log * per_past * past)
    small += 8 * arb(KAPPA) * most**2 * most_three * most_four * _up(row) / norm**2 * b.theta
    small += strength[1] * score * (small_push * b.theta + most**2 * s.log * turning)
    late += 2 * most**3 * b.beta_8 * ahead
    loss = small + strength[1] * b.theta * (score * three + most_three * late)
    if not three + small_push < 1:
        raise ArithmeticError("gamma_3 may not rise")
    least = _down(push[0]) * _down(shape[0])
    sigma = (level + grown * loss / 4 / s.log) / least + grown / 4 * area * s.mixed
    wait = _up(slow_time(level, slack, s)[0])
    after = Box(
        theta=wait + s.mixed * (area + b.theta * rare * most_four**2 * _up(abs(shape[1])))
        + loss / s.log / _down(push[0]),
        low=grown * loss / 4 / s.log,
        alpha_1=2 * most_three * asked * (most * at_item + (moves_joint + b.apart) / 4) + idle,
        beta_1=pushed_item,
        beta_2=strength[0] * (most_three + small_push) * sigma / s.log + offset,
        beta_7=near * each * pushed_item,
        beta_8=each * pushed_first + most * near * each * b.beta_2,
        beta_10=near * each * pushed_label,
        beta_12=each * pushed_first,
        gamma_1=goal,
        apart=2 * turned,
        joint_above=above[0], joint_below=below[0], four_above=above[1], four_below=below[1],
    )  # fmt: skip
    reached = Reached(
        push, grown, slack, (shape[0], _up(abs(shape[1]))), most_joint, most_four, area, three,
        _up(small), _up(loss), tuple(map(_up, strength)), _up(score), _up(offset), _up(late),
        _up(sigma), _up(small_push), b.theta, most_three,
    )  # fmt: skip
    return Box(*(math.nextafter(float(_up(part)), math.inf) for part in after)), reached


def close(least: int, top: float = 0.5) -> tuple[Box, Reached, Scales]:
    """A box that holds the flow for every N >= `least` until alpha_3 is `top`.

    Args:
        least: N0, >= 21.
        top: threshold of alpha_3, > 0.

    Returns:
        Bounds that follow from larger bounds, what else follows from these, and the scales.

    Raises:
        ArithmeticError: where no such bounds are found.
    """
    s, box = scales(least), Box(*[START] * len(Box._fields))
    for _ in range(TURNS):
        after, reached = follow(box, top, s)
        if all(new < old for new, old in zip(after, box, strict=True)):
            return after, reached, s
        if not all(map(math.isfinite, after)):
            break
        box = Box(*(max(old, GROWTH * new) for old, new in zip(box, after, strict=True)))
    raise ArithmeticError(f"no box is found for N0 = {least} and alpha_3 up to {top}")


def _up(value: arb) -> arb:
    return arb(value.upper())


def _down(value: arb) -> arb:
    return arb(value.lower())


def _both(value: arb) -> arb:
    """All between minus a bound and the bound."""
    return (-value).union(value)


def _between(low: arb, high: arb) -> arb:
    return low.union(high)
