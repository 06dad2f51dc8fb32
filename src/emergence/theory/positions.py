"""A loss at many positions: means over prefixes (chapter A loss at every position)."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from emergence.models import Mask
from emergence.tasks import Query

from . import _loss, _reduced
from ._flow import Landscape
from ._loss import Model
from ._reduced import check_pairs

__all__ = ["compressed", "landscape", "weighting"]

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


def landscape(
    weights: Weighting, query: Query = "last", *, model: Model = "reduced", mask: Mask = "strict"
) -> Landscape:
    """The weighted mean of the losses of all prefixes on orthonormal inputs (this book).

    Args:
        weights: the weight of each prefix n = 1 .. N in the loss, >= 0 with a sum of 1.
        query, model, mask: as `theory.emergence_times` takes them, for each prefix.

    Returns:
        The loss and its gradient, at a cost of order N for the last pair and N log N for any pair.

    Raises:
        ValueError: if the query rule, the model or the mask is unknown.
    """
    known = mask in get_args(Mask), model in get_args(Model), query in get_args(Query)
    if not all(known):
        raise ValueError(
            f"no loss for the mask {mask!r}, the model {model!r} and the query rule {query!r}"
        )
    rule = mask, model, query
    # one by one where a sum over the context serves all prefixes
    used, sizes = (prefixes if rule == ("strict", "full", "last") else compressed)(weights)
    if rule == ("strict", "reduced", "last"):  # the closed form of App. B.3, which is fastest
        return _reduced.landscape_of_prefixes(used, sizes, len(weights))
    blocks = _loss.questions(used, sizes, query, model, mask)
    return _loss.landscape_of_questions(blocks, len(weights))
