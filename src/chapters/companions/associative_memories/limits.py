"""The number of pairs that should fit, from the geometry of cones and without training.

W stores all pairs if the N x N matrix of logits U W E' lies in the cone C in which the diagonal
entry is the greatest of its row. These matrices form a subspace of dimension d^2. A *random*
subspace of that dimension meets C if d^2 exceeds the statistical dimension of the polar cone
(Amelunxen and others, 2014), which is N times that of one row. This subspace is not random: the
prediction is a heuristic.
"""

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.stats import norm

from emergence.running.memo import kept

from .lemma import step_recall


def row_dimensions(
    n: int, samples: int, rng: np.random.Generator, most: int = 128
) -> Float[np.ndarray, " samples"]:
    """Squared distances of Gaussian rows g from {x: x_1 >= x_j}; their mean is delta_N.

    The nearest point lifts g_1 to a level t and lowers every greater entry to it. Only the `most`
    greatest of the other entries are drawn, by Renyi's spacings; the level is far above the rest.
    """
    m = float(n - 1)
    k = int(min(m, most))
    gaps = rng.exponential(size=(samples, k)) / (m - np.arange(k))
    rest = norm.isf(-np.expm1(-np.cumsum(gaps, axis=1)))  # greatest first
    first = rng.standard_normal((samples, 1))
    means = (first + np.cumsum(rest, axis=1)) / np.arange(2, k + 2)  # of g_1 and the j greatest
    level = np.maximum(means.max(axis=1, keepdims=True), first)
    return (level - first)[:, 0] ** 2 + (np.clip(rest - level, 0, None) ** 2).sum(axis=1)


def row_dimension(n: int, samples: int, seed: int) -> float:
    """delta_N, about 2 ln N for very many pairs."""
    return float(row_dimensions(n, samples, np.random.default_rng(seed)).mean())


def expected_pairs(dim: int, samples: int, seed: int) -> float:
    """The N of N delta_N = d^2, by iteration: delta_N grows so slowly that it contracts.

    Raises ArithmeticError where the last iteration still moves N by a tenth: too few dimensions, or
    too few samples for the steps to be above their noise.
    """
    n = before = dim**2 / 4
    for _ in range(6):
        n, before = dim**2 / row_dimension(max(2, round(n)), samples, seed), n
    if abs(n - before) > 0.1 * n:
        raise ArithmeticError(f"the pairs at d = {dim} still move from {before:.4g} to {n:.4g}")
    return n


@kept
def hebbian_pairs(dim: int, recall: float) -> float:
    """The N of which the Hebbian sum recalls this share, to be expected from overlaps."""
    ends = np.log(2), 2 * np.log(dim)
    return float(np.exp(brentq(lambda x: step_recall(float(np.exp(x)), dim) - recall, *ends)))


def guide(parameters: float) -> float:
    """The N of N ln N = parameters."""
    return float(brentq(lambda n: n * np.log(n) - parameters, 1.0, parameters + 3.0))
