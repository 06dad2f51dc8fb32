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
    s, box = scales(least), Box(*[START] * len(Box._fields))
    for _ in range(TURNS):
        after, reached = consequences(box, top, s)
        if all(new < old for new, old in zip(after, box, strict=True)):
            return after, reached, s
        if not all(map(math.isfinite, after)):
            break
        box = Box(*(max(old, GROWTH * new) for old, new in zip(box, after, strict=True)))
    raise ArithmeticError(f"no box is found for N0 = {least} and alpha_3 up to {top}")


def consequences(box: Box, top: float, s: Scales) -> tuple[Box, Carried]:
    """What follows from the bounds of a box up to alpha_3 = `top`, for every N of `s`."""
    b = Box(*map(arb, box))
    paid = attention_bounds(b, arb(top), s)
    output = output_bounds(b, s, paid)
    return _slow(b, arb(top), s, paid, output, push_bounds(b, s, paid, output))


def _slow(
    b: Box, level: arb, s: Scales, a: Attentions, o: Outputs, c: Pushes
) -> tuple[Box, Carried]:
    """alpha_3 and beta_2 along sigma, the integral of e^alpha_3 dt/4N^2, and all bounds."""
    rare, most = s.rare, s.most
    ends = arb_series([a.e]) / (2 - 2 * a.series + a.series * a.e)
    by_beta = 4 * (1 + a.series * a.label) / (a.p.norm * (2 - 2 * a.series + a.series * a.e))
    strength = (
        2 * (1 + most * upper(abs(by_beta[1]))),
        2 * (1 + most * upper(abs((by_beta * (1 - a.series * ends))[1]))),
    )
    shape = 4 / (a.p.norm * a.p.norm)
    area = arb(WAIT[1]) + 2 * b.theta * b.four_below
    offset = strength[0] * most**2 * a.grown / 4 * o.turning
    late = strength[0] * most * a.grown / 4 * arb(WAIT[0]) + offset
    three = (s.mixed * b.joint_below + b.apart) / 2
    errors = most**3 * s.log * c.at_item + most * s.log * c.per_past * c.past
    small = strength[1] * o.most_four * errors
    first = 8 * arb(KAPPA) * most**2 * o.most_three * o.most_four * upper(a.row)
    small += first / a.norm**2 * b.theta
    small += strength[1] * a.score * (c.small_push * b.theta + most**2 * s.log * o.turning)
    late += 2 * most**3 * b.beta_8 * a.ahead
    loss = small + strength[1] * b.theta * (a.score * three + o.most_three * late)
    if not three + c.small_push < 1:
        raise ArithmeticError("gamma_3 may not rise")
    least = lower(a.push[0]) * lower(shape[0])
    sigma = (level + a.grown * loss / 4 / s.log) / least + a.grown / 4 * area * s.mixed
    wait = upper(slow_time(level, a.slack, s)[0])
    after = Box(
        theta=wait
        + s.mixed * (area + b.theta * rare * o.most_four**2 * upper(abs(shape[1])))
        + loss / s.log / lower(a.push[0]),
        low=a.grown * loss / 4 / s.log,
        alpha_1=2 * o.most_three * a.asked * (most * c.at_item + (o.moves_joint + b.apart) / 4)
        + c.idle,
        beta_1=c.pushed_item,
        beta_2=strength[0] * (o.most_three + c.small_push) * sigma / s.log + offset,
        beta_7=a.near * a.each * c.pushed_item,
        beta_8=a.each * c.pushed_first + most * a.near * a.each * b.beta_2,
        beta_10=a.near * a.each * c.pushed_label,
        beta_12=a.each * c.pushed_first,
        gamma_1=c.goal,
        apart=2 * c.turned,
        joint_above=o.above[0],
        joint_below=o.below[0],
        four_above=o.above[1],
        four_below=o.below[1],
    )
    reached = Carried(
        push=a.push,
        grown=a.grown,
        slack=a.slack,
        norm=(shape[0], upper(abs(shape[1]))),
        four=o.most_four,
        area=area,
        three=three,
        small=upper(small),
        loss=upper(loss),
        strength=(upper(strength[0]), upper(strength[1])),
        score=upper(a.score),
        offset=upper(offset),
        late=upper(late),
        sigma=upper(sigma),
        answered=upper(c.small_push),
        theta=b.theta,
        joint_three=o.most_three,
    )
    return Box(*(outward(part).high for part in after)), reached
