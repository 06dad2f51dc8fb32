"""Steps to the left and to the right."""

import numpy as np


def mean_squared_distance(n_steps: int, n_walks: int, seed: int) -> float:
    """Return the mean squared distance from the start, over many walks of n_steps steps."""
    steps = np.random.default_rng(seed).choice([-1, 1], size=(n_walks, n_steps))
    return float((steps.sum(axis=1) ** 2).mean())
