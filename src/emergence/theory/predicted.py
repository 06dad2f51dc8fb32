"""The steps at which training on Gaussian data passes its thresholds, with nothing fitted (§4)."""

from typing import NamedTuple

import numpy as np

from emergence.tasks import Query

from .emergence import Model, landscape_of
from .flow import velocity_in
from .gaussian import gaussian_rates


class Steps(NamedTuple):
    """Numbers of updates; infinity for never.

    Attributes:
        alpha: taken when D alpha_3 first is at least 1/2.
        beta: when D beta_2 is.
        gamma: when gamma_3 is.
        loss: when the loss, a mean over dimensions, first is at most 1/2.
    """

    alpha: float
    beta: float
    gamma: float
    loss: float


def predicted_steps(
    n_pairs: int,
    dim: int,
    *,
    learning_rate: float = 1.0,
    query: Query = "uniform",
    model: Model = "full",
    limit: int = 10_000,
) -> Steps:
    """The steps of descent on the population loss at the rates of Gaussian data (§4).

    Inputs with independent N(0, 1) entries are taken as orthogonal, of squared norm D: overlaps,
    of relative size 1/sqrt(D), are left out. In the units of the scores, D alpha and D beta, one
    step of rate l moves those by l D and the output by l/D times their slopes.

    Args:
        n_pairs: pairs N in the context, >= 1.
        dim: dimension D of an item, label or position, > 0.
        learning_rate: of the network's training, > 0; its loss is a mean over dimensions.
        query: which pair the query asks for, `uniform` any or `last`.
        model: `full`, all 19 pseudo-parameters, or `reduced`, the three of §6.
        limit: updates after which nothing counts as reached.

    Returns:
        The number of updates before each threshold is passed; infinity for never.

    Raises:
        ValueError: for N < 1, an unknown query rule or model.

    Example:
        >>> [int(steps) for steps in theory.predicted_steps(8, 16)]
        [33, 19, 41, 39]
    """
    landscape = landscape_of(n_pairs, query, model=model)
    velocity = velocity_in(landscape, gaussian_rates(float(dim), learning_rate))
    state = np.zeros(sum(landscape.groups))
    reached = [float("inf")] * 4
    for step in range(limit + 1):
        heights = [*state[list(landscape.head)], 1 - landscape.loss(*state)]
        for i, height in enumerate(heights):
            reached[i] = min(reached[i], step if height >= 0.5 else reached[i])
        if max(reached) < float("inf"):
            break
        state = state + velocity(0.0, state)
    return Steps(*reached)
