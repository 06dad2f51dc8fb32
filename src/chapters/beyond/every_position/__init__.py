"""A loss at every position: the sizes of the flows, and the names of the mixtures."""

import numpy as np
from jaxtyping import Float

from emergence.tasks import Query

Weights = Float[np.ndarray, " pairs"]
RULES: dict[Query, str] = {"last": "last pair", "uniform": "any pair"}


def inverse_power(n_pairs: int, power: float) -> Weights:
    """Weights of the prefixes in proportion to n^-power, with a sum of 1."""
    weights = np.arange(1, n_pairs + 1.0) ** -power
    return weights / weights.sum()


def late(n_pairs: int, skipped: int) -> Weights:
    """Equal weights of all prefixes but the shortest."""
    weights = (np.arange(n_pairs) >= skipped).astype(float)
    return weights / weights.sum()
