"""Weights over the prefixes of a context, and few prefixes that stand for the sum over all."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from .._reduced import check_pairs

Supervision = Literal["last", "every"]
Weighting = Float[np.ndarray, " pairs"]
EXACT = 64  # shorter prefixes are summed one by one
NODES = 22  # of each octave of longer ones


def weighting(n_pairs: int, supervision: Supervision | Sequence[float] | Weighting) -> Weighting:
    """The weight of each prefix of n = 1 .. N pairs in the loss (this book).

    Args:
        n_pairs: pairs N in the whole context, >= 1.
        supervision: as `theory.emergence_times` takes it.

    Returns:
        A weight for each n, with a sum of 1.

    Raises:
        ValueError: if N < 1, the supervision is unknown, or the weights are invalid.
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
        return np.append(np.zeros(n_pairs - 1), 1.0)
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


def compressed(
    weights: Weighting,
) -> tuple[Float[np.ndarray, " nodes"], Int[np.ndarray, " nodes"]]:
    """Weights of a few prefixes that give the weighted loss of all prefixes (this book).

    Args:
        weights: the weight of each prefix n = 1 .. N in the loss.

    Returns:
        The weights, some of them negative where the given ones jump, and the numbers of pairs.
    """
    # The loss of a prefix of n pairs is analytic in n, and it is not smooth only at n of order
    # zero. So in each octave of n a polynomial through 22 of the losses gives all of them, with a
    # relative error of 1e-11 or less. Its sum against any weights gives weights of these 22.
    used, sizes = prefixes(weights)
    few, weights_of = [used[sizes <= EXACT]], [sizes[sizes <= EXACT]]
    low = EXACT
    while low < sizes[-1]:
        high = min(2 * low, int(sizes[-1]))
        inside = (sizes > low) & (sizes <= high)
        given = _octave(used[inside], sizes[inside])
        few.append(given[0])
        weights_of.append(given[1])
        low = high
    return np.concatenate(few), np.concatenate(weights_of)


def _octave(
    used: Float[np.ndarray, " prefixes"], sizes: Int[np.ndarray, " prefixes"]
) -> tuple[Float[np.ndarray, " nodes"], Int[np.ndarray, " nodes"]]:
    """Nodes between the least and the greatest size, and weights that integrate polynomials."""
    if len(sizes) <= NODES:
        return used, sizes
    middle, half = (sizes[-1] + sizes[0]) / 2, (sizes[-1] - sizes[0]) / 2
    angles = np.pi * np.arange(NODES) / (NODES - 1)
    chosen = np.unique(np.rint(middle - half * np.cos(angles)).astype(sizes.dtype))
    degree = len(chosen) - 1
    moments = used @ np.polynomial.chebyshev.chebvander((sizes - middle) / half, degree)
    basis = np.polynomial.chebyshev.chebvander((chosen - middle) / half, degree)
    return np.linalg.solve(basis.T, moments), chosen
