"""The order and the law of the full model when any pair may be asked for, with errors."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from flint import arb

from emergence.proofs.intervals import outward
from emergence.running.memo import kept

from ..box import both, upper
from .slow import Stretch, close


class RangeLaw(NamedTuple):
    """What holds for every N of a range until beta_2 or alpha_3 is one half; l is log N."""

    least: int  # the least N
    largest: float  # the largest N, infinity where there is none
    time: tuple[float, float]  # bounds of T l/N^2 for that score
    rest: tuple[float, float]  # bounds of l (T l/N^2 - 2J), with 2J for many pairs
    alpha: float  # an upper bound of alpha_3 until then
    gamma: float  # a lower bound of gamma_3 at a time before

    @property
    def ordered(self) -> bool:
        """Whether T_gamma < T_beta < T_alpha is proved, if the score is beta_2."""
        return self.alpha < 0.5 < self.gamma


@kept
def law(least: int, largest: int | None = None, *, name: str) -> RangeLaw:
    """Bounds on T_beta or T_alpha when any pair may be asked for, for every N of a range.

    Without a largest N they hold for all from the least on. Raises ArithmeticError where no box
    holds the flow, ValueError for N < 100 or a name other than `beta` and `alpha`.
    """
    box, cells, s = close(least, largest, name)
    scores = [c.alpha if name == "alpha" else c.beta + both(c.errors.beta) for c in cells]
    # one of these has the time
    last = [cell for cell, score in zip(cells, scores, strict=True) if not score < 0.5]
    begin, goal = last[0].begin, arb(0.5 if name == "beta" else 1)
    rest = [_beyond(cell, goal, name, s.log) for cell in last]
    early = arb(begin.time.lower())
    # sqrt 2 - 2 is the slower rate of the output
    waiting = (-(2 - arb(2).sqrt()) * early / upper(s.mixed)).exp()
    gamma = last[0].c - (waiting + s.mixed * arb(box.joint_below)) / 2
    return RangeLaw(
        least,
        math.inf if largest is None else largest,
        (outward(early).low, outward(cells[-1].end.time).high),
        (min(outward(part).low for part in rest), max(outward(part).high for part in rest)),
        max(outward(cell.alpha).high for cell in cells),
        outward(gamma).low,
    )


def _beyond(cell: Stretch, goal: arb, name: str, log: arb) -> arb:
    """l (t l/N^2 - 2J(goal)) when the score is one half in this cell."""
    if name == "beta":
        short = both(log * cell.errors.beta)  # l times what beta_2 less its errors is beyond 1/2
    else:
        ahead = cell.begin.alpha.union(cell.end.alpha) + both(log * cell.errors.alpha)
        short = -2 * ahead / (cell.beta + 1)
    level = goal.union(cell.beta) ** 2 / 2
    slope = 2 * (-level).exp() / (arb("0.25") + level).sqrt()
    return cell.begin.rest.union(cell.end.rest) + slope * short


def covers(found: Sequence[RangeLaw], first: int) -> bool:
    """Whether every N from `first` on is in one of these ranges."""
    reached = float(first)
    for some in sorted(found):
        if some.least <= reached:
            reached = max(reached, some.largest)
    return reached == math.inf


def rest_from(found: Sequence[RangeLaw], first: int) -> tuple[float, float]:
    """Bounds of `Law.rest` for every N >= `first`.

    Raises ValueError where the ranges leave some N out.
    """
    after = [some for some in found if some.least >= first]
    if not covers(after, first):
        raise ValueError(f"the ranges do not cover every N from {first} on")
    return min(some.rest[0] for some in after), max(some.rest[1] for some in after)
