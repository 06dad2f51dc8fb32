"""The reduced model at the rates of Gaussian data, where parameters move at unlike speeds."""

import numpy as np
from jaxtyping import Float

from .flow import Rates, Trajectory


def gaussian_rates(dim: float, learning_rate: float = 1.0) -> Rates:
    """One step of §4 on Gaussian data as a move of (D alpha_3, D beta_2, gamma_3).

    Items, labels and positions have squared norm D, hence the first two are what orthonormal
    inputs would see. The loss is the mean over D dimensions, the coordinate of a matrix with
    squared norm D another 1/D, and the chain rule gives back D^2 for the first two.
    """
    return Rates(learning_rate * dim, learning_rate * dim, learning_rate / dim)


def crossover_time(n_pairs: float, dim: float, area: float) -> float:
    """The t of u - 1 + e^-u = 2 N area / D^2, u = t / (N D): N^(3/2) below N = D^2, N^2 above."""
    ratio = 2 * n_pairs * area / dim**2
    u = np.sqrt(2 * ratio) if ratio < 1 else 1 + ratio
    for _ in range(60):  # Newton's steps on a convex function, from the right of its root or near
        u -= (u - 1 + np.exp(-u) - ratio) / -np.expm1(-u)
    return float(u * n_pairs * dim)


def first_steps(run: Trajectory, level: float = 0.5) -> Float[np.ndarray, " 4"]:
    """The first updates after which alpha, beta, gamma and the loss have passed the level."""
    curves = np.stack([run.alpha, run.beta, run.gamma, -run.loss])
    levels = np.array([level, level, level, -level])[:, None]
    reached = curves >= levels
    return np.where(reached.any(axis=1), reached.argmax(axis=1), np.inf)
