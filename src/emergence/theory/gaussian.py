"""The reduced model at the rates of Gaussian data, where parameters move at unlike speeds."""

import numpy as np
from jaxtyping import Float

from .flow import Rates, Trajectory


def gaussian_rates(dim: float, learning_rate: float = 1.0) -> Rates:
    """The rates at which one step of §4 on Gaussian data moves (D alpha_3, D beta_2, gamma_3).

    Args:
        dim: dimension D of an item, label or position, > 0.
        learning_rate: of the network's training, > 0.

    Returns:
        The rate of each parameter a step.

    Example:
        >>> theory.gaussian_rates(4.0)
        Rates(alpha=4.0, beta=4.0, gamma=0.25)
    """
    # Items, labels and positions have squared norm D, hence the first two are what orthonormal
    # inputs would see. The loss is the mean over D dimensions, the coordinate of a matrix with
    # squared norm D another 1/D, and the chain rule gives back D^2 for the first two.
    return Rates(learning_rate * dim, learning_rate * dim, learning_rate / dim)


def crossover_time(n_pairs: float, dim: float, area: float) -> float:
    """The step t of u - 1 + e^-u = 2 N area/D^2 with u = t/(N D) (chapter Real transformers).

    Args:
        n_pairs: pairs N in the context, > 0.
        dim: dimension D of an item, label or position, > 0.
        area: the integral of e^(-u^2/2) up to the threshold, > 0.

    Returns:
        The time in steps at learning rate 1, of order N^(3/2) below N = D^2, and N^2 above.

    Example:
        >>> round(theory.crossover_time(64.0, 64.0, 1.0) / 64**1.5, 2)  # near 2 for small N/D^2
        2.09
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
        level: what the parameters must reach and the loss fall to.

    Returns:
        Numbers of updates for alpha, beta, gamma and the loss; infinity for never.

    Example:
        >>> path = theory.descent_in(theory.landscape_of(4), 3)
        >>> theory.first_steps(path).tolist()
        [inf, inf, 3.0, inf]
    """
    curves = np.stack([run.alpha, run.beta, run.gamma, -run.loss])
    levels = np.array([level, level, level, -level])[:, None]
    reached = curves >= levels
    return np.where(reached.any(axis=1), reached.argmax(axis=1), np.inf)
