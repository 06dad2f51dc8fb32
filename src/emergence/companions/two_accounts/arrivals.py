"""Arrivals: the steps at which a part of the head is there by each probe, and how they agree."""

from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy import stats

from emergence.analysis.curves import settled

from .curves import Curves

Moment = Literal["begun", "half", "half of final"]
Probe = Literal["recall", "recall_few", "coefficient"]
DEVIATIONS = 3.0  # a part has begun when chance does not explain what is seen of it


def arrivals(
    curves: Curves, probe: Probe, moment: Moment, *, few: int
) -> Float[np.ndarray, "3 seeds"]:
    """The step from which on each part is there for good; infinity if never.

    Begun is three standard deviations above chance: of recall, of as many blind guesses; of the
    coefficient, of a direction of white noise. Half is a recall of 1/2, and for the coefficient
    Definition 1: a mean score of 1/2, which for orthonormal vectors is the coefficient itself.
    Half of final, for the coefficient alone, is half of its value at the end of training.
    """
    found, levels = curves.of(probe), [0.5] * 3
    if probe == "coefficient":
        if moment == "begun":
            found, levels = curves.of("contrast"), [DEVIATIONS] * 3
        elif moment == "half":
            found = curves.of("strength")
        else:
            found = found / found[..., -1:]
    elif moment == "begun":
        levels = [beyond_chance(m, few if probe == "recall_few" else m) for m in curves.sizes]
    elif moment != "half":
        raise ValueError(f"a recall has no moment {moment!r}: its final value is known, it is 1")
    return np.stack(
        [settled(curves.steps, part, level) for part, level in zip(found, levels, strict=True)]
    )


def beyond_chance(size: int, candidates: int) -> float:
    """A recall that M guesses among so many candidates do not reach."""
    chance = 1 / min(size, candidates)
    return chance + DEVIATIONS * (chance * (1 - chance) / size) ** 0.5


def agreement(one: Float[np.ndarray, "3 seeds"], other: Float[np.ndarray, "3 seeds"]) -> float:
    """Spearman's rank correlation of arrivals over all parts and seeds; 0 where all are equal."""
    if min(len(np.unique(times)) for times in (one, other)) == 1:
        return 0.0
    return float(stats.spearmanr(one.ravel(), other.ravel()).statistic)


def translation_error(curves: Curves) -> float:
    """Mean distance of recall from the recall that coefficient and remainder predict."""
    return float(np.abs(curves.of("recall") - curves.of("predicted")).mean())


def translation_bias(curves: Curves) -> float:
    """Mean excess of the predicted recall where either is neither below 0.05 nor above 0.95."""
    found, predicted = curves.of("recall"), curves.of("predicted")
    open_yet = [(values > 0.05) & (values < 0.95) for values in (found, predicted)]
    undecided = open_yet[0] | open_yet[1]
    return float((predicted - found)[undecided].mean()) if undecided.any() else 0.0
