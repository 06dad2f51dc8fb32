"""Emergence times in validated steps of a gradient flow, one number of pairs at a time."""

import math
from typing import NamedTuple

import numpy as np

from emergence.tasks import Query
from emergence.theory import Model

from ..intervals import Bounds
from ._balls import Ball
from ._every import LimitTimes, limit_times
from ._steps import COORDINATES, CoordinateFlow, validated_steps

__all__ = ["LimitTimes", "TimeBounds", "limit_times", "time_bounds"]

HEAD = {"alpha": "alpha_3", "beta": "beta_2", "gamma": "gamma_3"}
PLACES = [COORDINATES.index(name) for name in HEAD.values()]
LEVEL = 0.5
PARTS = 1024  # of a step, a power of two


class TimeBounds(NamedTuple):
    """Bounds on emergence times; both ends are infinite where no step got there (this book).

    Attributes:
        alpha: the time at which alpha_3 is one half.
        beta: that of beta_2.
        gamma: that of gamma_3.
        loss: that of the loss.
    """

    alpha: Bounds
    beta: Bounds
    gamma: Bounds
    loss: Bounds


def time_bounds(
    n_pairs: int,
    *,
    query: Query = "last",
    model: Model = "full",
    until: str = "loss",
    tolerance: float = 1e-9,
    farthest: float = 0.05,
    growth: float = 1.5,
) -> TimeBounds:
    """Bounds on the emergence times of `theory.emergence_times` at threshold 1/2 (this book).

    Args:
        n_pairs, query, model: as `theory.emergence_times` takes them.
        until: `alpha`, `beta`, `gamma` or `loss`; the flow ends when it is past 1/2 for certain.
        tolerance: the defect that a step may have.
        farthest: how far a coordinate may move in half a step, about.
        growth: how many times longer a step may be than the one before it, > 1.

    Returns:
        Bounds on the times at which these three parameters and the loss are one half.

    Raises:
        ArithmeticError: where no step is validated.
    """
    moves = np.isin(np.arange(12), PLACES) if model == "reduced" else np.ones(12)
    flow = CoordinateFlow(n_pairs, query, moves.astype(float))
    early: dict[str, float] = {}
    late: dict[str, float] = {}
    edges = np.linspace(-1, 1, PARTS + 1)
    parts = Ball((edges[:-1] + edges[1:])[:, None] / 2, np.full((PARTS, 1), 1 / PARTS))
    for step in validated_steps(flow, tolerance=tolerance, farthest=farthest, growth=growth):
        there = step.where(parts)
        scores = there.part((slice(None), PLACES))
        passed = dict(
            zip(HEAD, zip(scores.high.T >= LEVEL, scores.low.T > LEVEL, strict=True), strict=True)
        )
        # the loss falls: where it is above one half at the end, it is so all the way
        if not np.all(flow.loss(there.part(slice(-1, None))).low > LEVEL):
            loss = flow.loss(there)
            passed["loss"] = loss.low <= LEVEL, loss.high < LEVEL
        times = step.piece.start + step.piece.half * (1 + edges)
        for name, (may, must) in passed.items():
            for found, where in ((early, may), (late, must)):
                if where.any():  # the beginning of the first part in which it holds
                    found.setdefault(name, float(times[int(where.argmax())]))
        if until in late:
            break
    names = TimeBounds._fields
    return TimeBounds(*(Bounds(early.get(n, math.inf), late.get(n, math.inf)) for n in names))
