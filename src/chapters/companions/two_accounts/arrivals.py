"""Arrivals: the steps at which a part of the head is there by each probe, and how they agree."""

from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy import stats

from emergence.analysis import settled

from .curves import Curves

Moment = Literal["begun", "half"]
Probe = Literal["recall", "recall_few", "coefficient"]
DEVIATIONS = 3.0  # a part has begun when chance does not explain what is seen of it


def arrivals(
    curves: Curves, probe: Probe, moment: Moment, *, few: int
) -> Float[np.ndarray, "3 seeds"]:
    """The step from which on each part is there for good; infinity if never.

    Begun is three standard deviations above chance: of recall, of as many blind guesses; of the
    coefficient, of a direction of white noise. Half is a recall of 1/2, and for the coefficient
    Definition 1: a mean score of 1/2, which for orthonormal vectors is the coefficient itself.
    """
    found, levels = curves.of(probe), [0.5] * 3
    if (probe, moment) == ("coefficient", "begun"):
        found, levels = curves.of("contrast"), [DEVIATIONS] * 3
    elif probe == "coefficient":
        found = curves.of("strength")
    elif moment == "begun":
        levels = [beyond_chance(m, few if probe == "recall_few" else m) for m in curves.sizes]
    pairs = zip(found, levels, strict=True)
    return np.stack([settled(curves.steps, part, level) for part, level in pairs])


def beyond_chance(size: int, candidates: int) -> float:
    """A recall that M guesses among so many candidates do not reach."""
    chance = 1 / min(size, candidates)
    return chance + DEVIATIONS * (chance * (1 - chance) / size) ** 0.5


def agreement_within(
    one: Float[np.ndarray, "3 seeds"], other: Float[np.ndarray, "3 seeds"]
) -> float:
    """Rank correlation of arrivals among the seeds of a part, pooled over parts.

    Ranks are centred within each part, so that an order of parts alone gives 0; so do arrivals
    that are all equal within each part.
    """
    first, second = (
        stats.rankdata(times, axis=1) - (times.shape[1] + 1) / 2 for times in (one, other)
    )
    size = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / size if size else 0.0


def translation_error(curves: Curves) -> float:
    """Mean distance of recall from the recall that coefficient and remainder predict."""
    return float(np.abs(curves.of("recall") - curves.of("predicted")).mean())


def translation_bias(curves: Curves) -> float:
    """Mean excess of the predicted recall where either is neither below 0.05 nor above 0.95."""
    found, predicted = curves.of("recall"), curves.of("predicted")
    open_yet = [(values > 0.05) & (values < 0.95) for values in (found, predicted)]
    undecided = open_yet[0] | open_yet[1]
    return float((predicted - found)[undecided].mean()) if undecided.any() else 0.0
