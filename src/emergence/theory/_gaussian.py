"""The rates of Gaussian data, which differ between parameters, and steps at these rates (§4)."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.running.memo import kept
from emergence.tasks import Query

from ._flow import Rates, Trajectory, descent_in
from ._population import Model, landscape_of


class PredictedSteps(NamedTuple):
    """Numbers of updates of a training on Gaussian data (§4); infinity if never reached.

    Attributes:
        alpha: updates until D alpha_3 first is at least 1/2.
        beta: updates until D beta_2 first is.
        gamma: updates until gamma_3 first is.
        loss: updates until the loss, a mean over dimensions, first is at most 1/2.
    """

    alpha: float
    beta: float
    gamma: float
    loss: float


def gaussian_rates(dim: float, learning_rate: float = 1.0) -> Rates:
    """The rates at which one step of §4 on Gaussian data moves (D alpha_3, D beta_2, gamma_3).

    Args:
        dim, learning_rate: dimension D and learning rate of the network that is trained, > 0.

    Returns:
        The rate of each parameter per step.
    """
    # Items, labels and positions have squared norm D, hence the first two are what orthonormal
    # inputs would see. The loss is the mean over D dimensions, the coordinate of a matrix with
    # squared norm D another 1/D, and the chain rule gives back D^2 for the first two.
    return Rates(learning_rate * dim, learning_rate * dim, learning_rate / dim)


def crossover_time(n_pairs: float, dim: float, area: float) -> float:
    """The step of emergence on Gaussian data (chapter Real transformers).

    Args:
        n_pairs, dim: pairs N in the context and dimension D of an item, label or position, > 0.
        area: the integral of e^(-u^2/2) up to the threshold, > 0.

    Returns:
        The steps u N D at learning rate 1, where u solves u - 1 + e^-u = 2 N area/D^2.
    """
    ratio = 2 * n_pairs * area / dim**2
    u = np.sqrt(2 * ratio) if ratio < 1 else 1 + ratio
    for _ in range(60):  # Newton's steps on a convex function, from the right of its root or near
        u -= (u - 1 + np.exp(-u) - ratio) / -np.expm1(-u)
    return float(u * n_pairs * dim)


def first_steps(run: Trajectory, level: float = 0.5) -> Float[np.ndarray, " 4"]:
    """The first updates after which alpha, beta, gamma and the loss have passed a level.

    Args:
        run: a path whose times count updates, as from `theory.descent_in` (§4).
        level: the level that the parameters must reach and to which the loss must fall.

    Returns:
        Numbers of updates for alpha, beta, gamma and the loss; infinity if never passed.
    """
    curves = np.stack([run.alpha, run.beta, run.gamma, -run.loss])
    levels = np.array([level, level, level, -level])[:, None]
    reached = curves >= levels
    return np.where(reached.any(axis=1), reached.argmax(axis=1), np.inf)


@kept
def predicted_steps(
    n_pairs: int,
    dim: int,
    *,
    learning_rate: float = 1.0,
    query: Query = "uniform",
    model: Model = "full",
    limit: int = 10_000,
) -> PredictedSteps:
    """The steps of descent on the population loss at the rates of Gaussian data (§4).

    Args:
        n_pairs, query, model: as `emergence_times` takes them.
        dim: dimension D of an item, label or position, > 0.
        learning_rate: that of the training, > 0, for a loss that is a mean over dimensions.
        limit: the number of updates after which nothing counts as reached.

    Returns:
        The number of updates before each threshold is passed; infinity if it never is.

    Raises:
        ValueError: if N < 1, or the query rule or the model is unknown.
    """
    # Inputs with independent N(0, 1) entries are treated as orthogonal vectors of squared norm D,
    # so overlaps, of relative size 1/sqrt(D), are neglected.
    landscape = landscape_of(n_pairs, query, model=model)
    rates = gaussian_rates(float(dim), learning_rate)
    steps = min(64, limit)
    while True:
        steps_to = first_steps(descent_in(landscape, steps, rates=rates))
        if steps == limit or np.isfinite(steps_to).all():
            return PredictedSteps(*steps_to.tolist())
        steps = min(2 * steps, limit)
