"""The order and the law of the full model when any pair may be asked for, with errors."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import arb
from jaxtyping import Float

from emergence.presets import preset

from ..box import both, upper
from .bounds import rounded_up
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
        (_down(early), rounded_up(cells[-1].end.time)),
        (min(map(_down, rest)), max(map(rounded_up, rest))),
        max(rounded_up(cell.alpha) for cell in cells),
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


def _down(value: arb) -> float:
    return math.nextafter(float(value.lower()), -math.inf)


@dataclass(frozen=True)
class Range:
    """Every N from `least` to `largest`, or all from `least` on, until a score is one half."""

    name: str
    least: int
    largest: int | None


def laws(some: Range) -> Float[np.ndarray, "6"]:
    """The numbers of `law` for a range; a run of a sweep."""
    found = law(some.least, some.largest, name=some.name)
    return np.array([*found.time, *found.rest, found.alpha, found.gamma])


def as_law(some: Range, numbers: Float[np.ndarray, "6"]) -> Law:
    """What `laws` returned, with its names."""
    early, late, low, high, alpha, gamma = numbers.tolist()
    largest = math.inf if some.largest is None else some.largest
    return Law(some.least, largest, (early, late), (low, high), alpha, gamma)


def covers(found: Sequence[Law], first: int) -> bool:
    """Whether every N from `first` on is in one of these ranges."""
    reached = float(first)
    for some in sorted(found):
        if some.least <= reached:
            reached = max(reached, some.largest)
    return reached == math.inf


def rest_from(found: Sequence[Law], first: int) -> tuple[float, float]:
    """Bounds of `Law.rest` for every N >= `first`.

    Raises ValueError where the ranges leave some N out.
    """
    after = [some for some in found if some.least >= first]
    if not covers(after, first):
        raise ValueError(f"the ranges do not cover every N from {first} on")
    return min(some.rest[0] for some in after), max(some.rest[1] for some in after)


@dataclass(frozen=True)
class Proof:
    """Which N are proved in one range: each goes from one of these to the next, the last on."""

    beta: tuple[int, ...]
    alpha: tuple[int, ...]
    beta_from: tuple[int, int]  # N from which the law of T_beta is stated
    alpha_from: tuple[int, int]
    integrated: tuple[int, ...]  # N whose flow is integrated beside the bounds

    @property
    def ranges(self) -> tuple[Range, ...]:
        found = []
        for name, ends in (("beta", self.beta), ("alpha", self.alpha)):
            found += [Range(name, *pair) for pair in itertools.pairwise(ends)]
            found.append(Range(name, ends[-1], None))
        return tuple(found)


PRESET = preset(
    paper=Proof(
        (
            *(450, 460, 480, 500, 540, 600, 700, 800, 1_000, 1_300, 2_000, 4_000),
            *(10_000, 10**6),
        ),
        (7_000, 8_000, 10_000, 14_000, 20_000, 40_000, 10**5, 10**6, 10**8, 10**12),
        beta_from=(1_000, 10_000),
        alpha_from=(7_000, 100_000),
        integrated=(450, 1_500),
    ),
    smoke=Proof((10_000,), (10**6,), (10_000, 10_000), (10**6, 10**6), integrated=(64,)),
)
