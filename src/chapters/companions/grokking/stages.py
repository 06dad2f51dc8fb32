"""When a network groks, and what a curve is worth while it does: the readings of the chapter."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

KNOWN, CHANCE = 0.85, 0.15  # accuracies on held-out pairs: six of seven, one of seven


class LearningStage(NamedTuple):
    """The logs between which a network comes to know the held-out pairs, both ends included."""

    first: int  # the last log at chance
    last: int  # the first log at which they are known; both are -1 where this never happens

    @property
    def happens(self) -> bool:
        """Whether the network groks at all."""
        return self.last >= 0


def grokking_stage(accuracy: Float[np.ndarray, " times"]) -> LearningStage:
    """From the last log at chance to the first at which the held-out pairs are known.

    By accuracy, because the test loss of a run that ends early has not fallen completely.
    """
    learned = np.flatnonzero(accuracy >= KNOWN)
    if not learned.size:
        return LearningStage(-1, -1)
    before = np.flatnonzero(accuracy[: learned[0]] <= CHANCE)
    return LearningStage(int(before[-1]) if before.size else 0, int(learned[0]))


def during(
    values: Float[np.ndarray, " times"], steps: Int[np.ndarray, " times"], stage: LearningStage
) -> float:
    """The mean of a curve over the stage, weighted by time; NaN where there is no stage."""
    if not stage.happens:
        return float("nan")
    inside = slice(stage.first, stage.last + 1)
    weights = np.gradient(steps.astype(float))[inside]
    return float(np.average(values[inside], weights=weights))


def shortfall(values: Float[np.ndarray, " times"], stage: LearningStage) -> float:
    """How far the greatest value within the stage is below the greatest of all."""
    if not stage.happens:
        return float("nan")
    return float(np.nanmax(values) - np.nanmax(values[stage.first : stage.last + 1]))
