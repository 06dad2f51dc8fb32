"""The laws that compete for the transformer's wait, each a shape known up to one factor."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from jaxtyping import Float

from emergence import theory
from emergence.experiments.first_passage import knows_labels_only
from emergence.theory import cross_entropy, limits

Shape = Float[np.ndarray, " sizes"]


def shapes(sizes: Sequence[int], words: Sequence[int], dim: int) -> dict[str, Shape | None]:
    """The time to emergence by each law, up to one factor, for numbers of pairs N >= 2.

    `words` is the vocabulary at each size, and one of the laws knows the width D. The power with a
    free exponent has no shape, hence None.
    """
    n = np.asarray(sizes, dtype=float)
    return {
        "N^2": n**2,
        "N^2/log N": n**2 / np.log(n),
        "three scalars": np.array([_collapse(k, "reduced") for k in sizes]),
        "nineteen": np.array([_collapse(k, "full") for k in sizes]),
        "three-halves": np.array([theory.crossover_time(k, dim, limits.gauss(1.0)) for k in n]),
        "cross-entropy": np.array(
            [under_cross_entropy(k, v) for k, v in zip(sizes, words, strict=True)]
        ),
        "1/sqrt(N)": n**-0.5,
        "free power": None,
    }


@cache
def _collapse(n_pairs: int, model: theory.Model) -> float:
    """The flow time at which the loss of a flow with uniform queries has halved."""
    return theory.emergence_times(n_pairs, query="uniform", model=model).collapse


@cache
def under_cross_entropy(n_pairs: int, vocabulary: int) -> float:
    """The flow time of the three scalars with cross-entropy and uniform queries to half of ln N."""
    landscape = cross_entropy.landscape(n_pairs, vocabulary, "uniform", say_items=True)
    level = knows_labels_only(n_pairs) / 2
    return theory.times_in(landscape, end=1e6, low_loss=level).collapse
