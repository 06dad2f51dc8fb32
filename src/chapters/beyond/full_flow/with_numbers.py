"""The law of T_alpha with its error, and the order of emergence, for every N from some N0 on.

On the clock t the derivative of alpha_3 is (e^alpha/4N^2)(h^2 P z + Q), where P is the effect of
recency, h = -gamma_4, z is near 1, and Q is near 2 gamma_3 beta_2. With W(a) the time that P alone
would take,

    T = W(1/2) + integral (1 - h^2 z) dt - integral Q/P dt,

exactly. The box of `every_large` bounds both integrals.
"""

import itertools
import math
from typing import NamedTuple

from flint import arb, ctx

from emergence.proofs.intervals import Bounds, outward
from emergence.running.memo import kept

from .box import PRECISION, WAIT, Carried, Scales, excess, slow_time
from .every_large import close

CELLS = 512  # of alpha_3, for the law's correction
TIMES_FOUR = "5.85"  # at least 2 (1 + 1/sqrt 2)/(2 - sqrt 2): of the integral of 1 - h^2 late on


class LawBounds(NamedTuple):
    """What holds for every N >= `least`, with l = log N, if the last pair is asked for."""

    least: int  # N0
    # bounds of l^2 (T l/N^2 - law), the law of two terms for the time of alpha_3's top
    rest: tuple[float, float]
    time: tuple[float, float]  # bounds of T l/N^2
    gamma: float  # an upper bound of T_gamma/N
    beta: float  # an upper bound of beta_2 up to that time
    loss: float  # a lower bound of the loss up to that time

    @property
    def ordered(self) -> bool:
        """Whether T_gamma < T_alpha < T_beta is proved for every N >= `least`."""
        early = self.time[0] * self.least / math.log(self.least)
        return self.beta < 0.5 and self.gamma < early


@kept
def law_bounds(least: int, top: float = 0.5) -> LawBounds:
    """Bounds on the time at which alpha_3 is `top`, for every N >= `least`.

    Raises ArithmeticError where no box is found, ValueError for N0 < 21.
    """
    box, r, s = close(least, top)
    level = arb(top)
    slow, beyond = slow_time(level, r.slack, s)
    first, last = _gained(level, r, s)
    drift = r.theta * s.rare * r.four * r.four * r.norm[1]
    above = 2 * arb(box.four_above) + s.mixed * arb(box.four_above) ** 2
    lost_low = -r.theta * above - drift
    most_gain = (r.strength[1] * r.joint_three * r.score * r.theta + r.small) / arb(
        r.push[0].lower()
    )
    time_low = slow + s.mixed * lost_low - s.rare * most_gain
    tail = arb(TIMES_FOUR) * (-(2 - arb(2).sqrt()) * arb(time_low.lower()) * least / s.log).exp()
    cubed = arb(0).union(s.log**3 * s.most)
    lost = (arb(WAIT[1]) - tail + lost_low).union(r.area + drift)
    rest = beyond + cubed * lost - first.union(last)
    time = time_low.union(slow + s.mixed * (r.area + drift) + r.loss / s.log / r.push[0])
    return LawBounds(
        least,
        outward(rest),
        outward(time),
        _gamma(r),
        math.nextafter(box.beta_2, math.inf),
        outward((1 - r.answered) * (1 - r.answered))[0],
    )


@kept
def rest_of(pairs: tuple[int, int], alpha: tuple[float, float]) -> tuple[float, float]:
    """Bounds of l^2 (T_alpha l/N^2 - law) for all N of a range, from bounds of T_alpha/N there."""
    ctx.prec = PRECISION
    top = arb(1) / 2
    ends = [excess(top * k / CELLS) for k in range(CELLS + 1)]
    following = arb(0)
    for k, (early, late) in enumerate(itertools.pairwise(ends)):
        weight = (-top * k / CELLS).exp() - (-top * (k + 1) / CELLS).exp()
        following -= 4 * weight * early.union(late)
    rests = []
    for n_pairs in range(pairs[0], pairs[1] + 1):
        log = arb(n_pairs).log()
        law = 4 * (1 - (-top).exp()) + following / log
        rests.append(log * log * (Bounds(*alpha).ball * log / n_pairs - law))
    return min(outward(rest)[0] for rest in rests), max(outward(rest)[1] for rest in rests)


def _gained(level: arb, r: Carried, s: Scales) -> tuple[arb, arb]:
    """Bounds of the integral of Q/P over the time, times l^3/N^2."""
    low, high = arb(r.push[0].lower()), arb(r.push[1].upper())
    shape = arb(r.norm[0].lower()), arb(r.norm[0].upper())
    slope = r.strength[0] * (r.joint_three + r.answered)
    pace = low * shape[0]
    delay = r.grown * (pace * r.area * s.mixed + r.loss / s.log) / 4
    most = r.strength[1] * r.joint_three * (
        4 * slope * delay.exp() * _first_moment(pace * r.sigma) / (low * pace * pace)
        + (r.offset + r.late) * r.theta * s.log / low
    )  # fmt: skip
    most += r.small * s.log / low

    fast = high * r.four * r.four * shape[1]
    fast += r.strength[1] * r.joint_three * r.score / s.log
    extra = r.grown * r.small / 4 / s.log
    sure = (4 - r.strength[0]) * (1 - r.three - r.answered)
    settled = 1 - r.three
    least = settled * (
        4 * sure * (-extra).exp() * _first_moment(level - extra) / (fast * fast)
        - r.late * r.theta * s.log
    )
    least -= s.most**2 * s.log**2 * slope * r.grown * arb(WAIT[2]) / 4
    least -= (r.offset + r.late) * arb(WAIT[0]) * s.most * s.log**2
    least -= r.joint_three * r.late * r.theta * s.log
    least *= (4 - r.strength[1]) / high
    least -= r.small * s.log / low
    least -= r.loss * s.log * (1 / low - (4 - r.strength[1]) / (r.strength[1] * high))
    return arb(least.lower()), arb(most.upper())


def _gamma(r: Carried) -> float:
    """A bound of T_gamma/N: when its path for many pairs is past 1/2 by what it may be below."""
    root = arb(2).sqrt()
    for tenths in range(9, 60):
        t = arb(tenths) / 10
        path = 1 - (-2 * t).exp() * ((root * t).cosh() + (root * t).sinh() / root)
        if path - r.three > 0.5:
            return tenths / 10
    return math.inf


def _first_moment(end: arb) -> arb:
    """The integral of u e^-u up to `end`."""
    return 1 - (1 + end) * (-end).exp()
