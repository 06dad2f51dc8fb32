"""Weights over the prefixes of a context, which say how often each position is queried."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from .._reduced import check_pairs

Supervision = Literal["last", "every"]
Weighting = Float[np.ndarray, " pairs"]
BLOCK = 64  # prefixes at once, so that a block's matrices fit the processor's cache


def weighting(n_pairs: int, supervision: Supervision | Sequence[float] | Weighting) -> Weighting:
    """The weight of each prefix of n = 1 .. N pairs in the loss (this book).

    Args:
        n_pairs: pairs N in the whole context, >= 1.
        supervision: `last`, only the whole context, as in App. B; `every`, the mean over all
            prefixes; or the weights themselves, >= 0 with a sum of 1.

    Returns:
        A weight for each n, with a sum of 1.

    Raises:
        ValueError: if N < 1, the supervision is unknown, or the weights are invalid.

    Example:
        >>> positions.weighting(4, "every").tolist()
        [0.25, 0.25, 0.25, 0.25]
        >>> positions.weighting(2, [2 / 3, 1 / 3]).round(2).tolist()
        [0.67, 0.33]
    """
    check_pairs(n_pairs)
    if isinstance(supervision, str):
        if supervision not in get_args(Supervision):
            raise ValueError(
                f"supervision must be one of {get_args(Supervision)} or weights, "
                f"got {supervision!r}"
            )
        if supervision == "every":
            return np.full(n_pairs, 1 / n_pairs)
        return np.eye(n_pairs)[-1]
    weights = np.asarray(supervision, dtype=float)
    if weights.shape != (n_pairs,):
        raise ValueError(f"need a weight for each of {n_pairs} prefixes, got {weights.shape}")
    if not (weights.min() >= 0 and abs(weights.sum() - 1) < 1e-9):
        raise ValueError("weights must not be negative and have a sum of 1")
    return weights


def prefixes(
    weights: Weighting,
) -> tuple[Float[np.ndarray, " prefixes"], Int[np.ndarray, " prefixes"]]:
    """The weights that are not zero, and the number of pairs in each of these prefixes."""
    used = np.flatnonzero(weights)
    return weights[used], used + 1
