"""When the full model's parameters emerge and its loss collapses, between certain bounds."""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.presets import preset
from emergence.tasks import Query

from .landscape import COORDINATES, loss
from .steps import Step, follow

NAMES = {"gamma": "gamma_3", "beta": "beta_2", "alpha": "alpha_3"}
PLACES = {name: COORDINATES.index(full) for name, full in NAMES.items()}
LEVEL = 0.5


class Bounds(NamedTuple):
    """Bounds on the times at which these are one half: the earliest and the latest.

    Both are infinite where the flow was not followed as far.
    """

    gamma: tuple[float, float]
    beta: tuple[float, float]
    alpha: tuple[float, float]
    loss: tuple[float, float]

    def ordered(self, *names: str) -> bool:
        """Whether these emerge one after the other, for certain."""
        found = [getattr(self, name) for name in names]
        return all(one[1] < two[0] for one, two in itertools.pairwise(found))


def bounds(n_pairs: int, query: Query, *, until: str, tolerance: float, farthest: float) -> Bounds:
    """Bounds on the times of emergence, by validated steps of the flow from zero.

    Args:
        n_pairs: pairs N in the context, >= 1.
        query: which pair the query asks for.
        until: `alpha`, `beta`, `gamma` or `loss`: the flow is followed until this is past one half
            for certain.
        tolerance: the defect that a step may have.
        farthest: how far a coordinate may move in half a step, about.

    Returns:
        Bounds on the four times. Those of what comes later may be infinite.

    Raises:
        ArithmeticError: where no step is validated.
    """
    early: dict[str, float] = {}
    late: dict[str, float] = {}
    for step in follow(n_pairs, query, tolerance=tolerance, farthest=farthest):
        for name, (may, must) in _reached(step, n_pairs, query).items():
            if may:
                early.setdefault(name, step.start)
            if must:
                late.setdefault(name, step.end)
        if until in late:
            break
    return Bounds(*(
        (early.get(name, math.inf), late.get(name, math.inf)) for name in Bounds._fields
    ))  # fmt: skip


def _reached(step: Step, n_pairs: int, query: Query) -> dict[str, tuple[bool, bool]]:
    """For each, whether it may be past one half during a step, and whether it is after it."""
    during, after = step.during(), step.after()
    held = loss(after, n_pairs, query)  # the flow descends: it is above this before
    found = {"loss": (not held.low[0] > LEVEL, bool(held.high[0] < LEVEL))}
    for name, place in PLACES.items():
        found[name] = (not during.high[place] < LEVEL, bool(after.low[place] > LEVEL))
    return found


@dataclass(frozen=True)
class Range:
    """Every N from `least` to `largest`, one after the other, and how it is followed."""

    least: int
    largest: int
    query: Query
    until: str
    tolerance: float
    farthest: float


def all_bounds(some: Range) -> Float[np.ndarray, "pairs 8"]:
    """The numbers of `bounds` for each N of a range, a row each; a run of a sweep."""
    return np.array([np.ravel(_tried(n, some)) for n in range(some.least, some.largest + 1)])


def _tried(n_pairs: int, some: Range) -> Bounds:
    """The bounds at one N, in a second try with a tenth of the tolerance."""

    def within(tolerance: float) -> Bounds:
        return bounds(
            n_pairs, some.query, until=some.until, tolerance=tolerance, farthest=some.farthest
        )

    try:
        return within(some.tolerance)
    except ArithmeticError:
        return within(some.tolerance / 10)


def as_bounds(numbers: Float[np.ndarray, "pairs 8"]) -> list[Bounds]:
    """What `all_bounds` returned, with its names."""
    return [Bounds(*map(tuple, row.reshape(4, 2).tolist())) for row in numbers]


@dataclass(frozen=True)
class Proof:
    """Which N are followed how: uniform queries until beta emerges, the last until the collapse."""

    first: int  # N of the first uniform query
    many: int  # and the N below which each is followed
    collapse: tuple[int, ...]
    together: int = 16  # N in one run

    @property
    def uniform(self) -> tuple[Range, ...]:
        found = []
        for n in range(self.first, self.many, self.together):
            largest = min(n + self.together, self.many) - 1
            tolerance = 1e-6 if n == self.first else 2e-5  # with few pairs the flow is quick
            found.append(Range(n, largest, "uniform", "beta", tolerance, 0.1))
        return tuple(found)

    @property
    def last(self) -> tuple[Range, ...]:
        return tuple(Range(n, n, "last", "loss", 1e-11, 0.05) for n in self.collapse)


PRESET = preset(
    paper=Proof(first=2, many=450, collapse=(10, 16, 24, 32, 48, 64)),
    smoke=Proof(first=2, many=4, collapse=(10,)),
)
