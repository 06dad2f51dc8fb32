"""The full model's flow held in a box until alpha_3 emerges, for every N from some N0 on.

The query asks for the last pair. With x = 1/N and l = log N every coordinate has its own scale, and
a `Box` has bounds on them in these scales. `consequences` derives bounds from bounds: if all
derived bounds are smaller, then no coordinate can be the first to leave the box. Numbers are balls
of Arb around x in [0, 1/N0], 1/l in [0, 1/l0] and xl in [0, l0/N0]: one evaluation speaks for all
N >= N0. What vanishes with x is x times a derivative over the ball (`arb_series`).
"""

import math

from flint import arb, arb_series

from emergence.proofs.intervals import outward

from ..box import WAIT, Box, Carried, Scales, lower, scales, slow_time, upper
from ..reduced import KAPPA
from .attentions import Attentions, attention_bounds
from .outputs import Outputs, output_bounds
from .pushes import Pushes, push_bounds

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
