"""The full model's flow for one N at a time, in validated steps through emergence and collapse."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from emergence.proofs.intervals import Bounds
from emergence.proofs.tubes import TimeBounds, time_bounds
from emergence.tasks import Query

TOGETHER = 16  # N in one run


@dataclass(frozen=True)
class Range:
    """Every N from `least` to `largest`, one after the other, and how it is followed."""

    least: int
    largest: int
    query: Query
    until: str
    tolerance: float
    farthest: float
    growth: float = 1.5


def all_bounds(some: Range) -> Float[np.ndarray, "pairs 4 2"]:
    """The numbers of `time_bounds` for each N of a range; a run of a sweep."""
    pairs = range(some.least, some.largest + 1)
    return np.array([_tried(n_pairs, some) for n_pairs in pairs])


def _tried(n_pairs: int, some: Range) -> TimeBounds:
    """The bounds at one N, in a second try with a tenth of the tolerance."""
    try:
        return _followed(n_pairs, some)
    except ArithmeticError:
        return _followed(n_pairs, replace(some, tolerance=some.tolerance / 10))


def _followed(n_pairs: int, some: Range) -> TimeBounds:
    names = "query", "until", "tolerance", "farthest", "growth"
    return time_bounds(n_pairs, **{name: getattr(some, name) for name in names})


def as_bounds(numbers: Float[np.ndarray, "pairs 4 2"]) -> list[TimeBounds]:
    """What `all_bounds` returned, with its names."""
    return [TimeBounds(*map(Bounds._make, row)) for row in numbers.tolist()]


def uniform_ranges(first: int, many: int) -> list[Range]:
    """Every N from the first to the last before `many`, followed under uniform queries."""
    ranges = []
    for n in range(first, many, TOGETHER):
        largest = min(n + TOGETHER, many) - 1
        tolerance = 1e-6 if n == first else 2e-5  # with few pairs the flow is quick
        ranges.append(Range(n, largest, "uniform", "beta", tolerance, 0.1, growth=4.0))
    return ranges
