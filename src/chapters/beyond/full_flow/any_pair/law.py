"""The order and the law of the full model when any pair may be asked for, with errors."""

import math
from typing import NamedTuple

from flint import arb

from ..box import both, upper
from .slow import Stretch, close


class Law(NamedTuple):
    """What holds for every N of a range until beta_2 or alpha_3 is one half; l is log N.

    Attributes:
        least: the least N.
        largest: the largest N, infinity where there is none.
        time: bounds of T l/N^2 for that score.
        rest: bounds of l (T l/N^2 - 2J), with 2J for many pairs.
        alpha: an upper bound of alpha_3 until then.
        gamma: a lower bound of gamma_3 at a time before.
    """

    least: int
    largest: float
    time: tuple[float, float]
    rest: tuple[float, float]
    alpha: float
    gamma: float

    @property
    def ordered(self) -> bool:
        """Whether T_gamma < T_beta < T_alpha is proved, if the score is beta_2."""
        return self.alpha < 0.5 < self.gamma


def law(least: int, largest: int | None = None, *, name: str) -> Law:
    """Bounds on T_beta or T_alpha when any pair may be asked for, for every N of a range.

    Args:
        least: the least N, >= 100.
        largest: the largest N, or None for all from `least` on.
        name: `beta` or `alpha`.

    Raises:
        ArithmeticError: where no box holds the flow.
        ValueError: for fewer pairs or another name.
    """
    box, cells, s = close(least, largest, name)
    last = [cell for cell in cells if _reaches(cell, name)]  # one of these has the time
    begin, goal = last[0].begin, arb(0.5 if name == "beta" else 1)
    rest = [_beyond(cell, goal, name, s.log) for cell in last]
    early = arb(begin.time.lower())
    # sqrt 2 - 2 is the slower rate of the output
    waiting = (-(2 - arb(2).sqrt()) * early / upper(s.mixed)).exp()
    gamma = last[0].c - (waiting + s.mixed * arb(box.joint_below)) / 2
    return Law(
        least,
        math.inf if largest is None else largest,
        (_down(early), _up(cells[-1].end.time)),
        (min(map(_down, rest)), max(map(_up, rest))),
        max(_up(cell.alpha) for cell in cells),
        _down(gamma),
    )


def _reaches(cell: Stretch, name: str) -> bool:
    """Whether the score may be one half in a cell."""
    score = cell.alpha if name == "alpha" else cell.beta + both(cell.errors.beta)
    return not score < 0.5


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


def _up(value: arb) -> float:
    return math.nextafter(float(value.upper()), math.inf)


def _down(value: arb) -> float:
    return math.nextafter(float(value.lower()), -math.inf)
