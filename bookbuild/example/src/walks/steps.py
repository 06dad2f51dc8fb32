"""Walks of independent steps, and how far they lead."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Walks:
    """Several walks on a line.

    Attributes:
        n_steps: steps of each walk, each to the left or to the right; 1 or more.
        n_walks: number of walks; 1 or more.
        seed: of the generator that draws the steps.
    """

    n_steps: int
    n_walks: int = 20_000
    seed: int = 0


def ends(walks: Walks) -> np.ndarray:
    """Return where walks end, in steps from the start."""
    generator = np.random.default_rng(walks.seed)
    return generator.choice([-1, 1], (walks.n_walks, walks.n_steps)).sum(axis=1)


def mean_squared_distance(walks: Walks) -> float:
    """Return the mean squared distance from the start, in squared steps.

    Args:
        walks: how many walks there are, and how long they are.
    """
    return float((ends(walks) ** 2).mean())
