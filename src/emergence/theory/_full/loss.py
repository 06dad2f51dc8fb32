"""The population loss of all nineteen pseudo-parameters on orthonormal inputs, and its gradient.

Inside the subspace of Theorem 1 the loss depends only on inner products of the inputs. On
orthonormal inputs (Assumption 7) it therefore depends on nothing random.
"""

from collections.abc import Sequence
from typing import get_args

import numpy as np
from jaxtyping import Float

from emergence.tasks import Query

from .._flow import Landscape, Point
from .._reduced import check_pairs
from .sums import Row, backward, forward


def full_loss(parameters: Point, n_pairs: int, *, query: Query = "last") -> float:
    """The population loss of the 19 pseudo-parameters on orthonormal inputs (Theorem 1).

    Args:
        parameters: the 19 values in the order of `subspace.NAMES`.
        n_pairs: pairs N in the context, >= 1; the cost is of order N.
        query: which pair the query asks for: `last` (App. B) or `uniform`, any pair.

    Returns:
        The mean over queries of the squared norm of the error, 1 at zero.

    Raises:
        ValueError: if N < 1, there are not 19 parameters or the query rule is unknown.

    Example:
        >>> head = [0.0, 0.0, 20.0, 0.0, 40.0, *[0.0] * 10, 0.0, 0.0, 1.0, 0.0]
        >>> theory.full_loss(head, 4, query="uniform") < 1e-6
        True
    """
    return landscape(n_pairs, query).loss(*parameters)


def full_gradient(
    parameters: Point, n_pairs: int, *, query: Query = "last"
) -> Float[np.ndarray, "19"]:
    """The gradient of `theory.full_loss` (Theorem 1).

    Args:
        parameters: the 19 values in the order of `subspace.NAMES`.
        n_pairs: pairs N in the context, >= 1; the cost is of order N.
        query: which pair the query asks for: `last` (App. B) or `uniform`, any pair.

    Returns:
        The 19 derivatives in the order of `subspace.NAMES`.

    Raises:
        ValueError: if N < 1, there are not 19 parameters or the query rule is unknown.

    Example:
        >>> theory.full_gradient([0.0] * 19, 4)[-4:].round(6).tolist()  # by gamma_1 to gamma_4
        [0.0, -0.25, -0.25, 0.0]
    """
    return np.array(landscape(n_pairs, query).gradient(*parameters))


def landscape(n_pairs: int, query: Query = "last") -> Landscape:
    """The loss of the full model. Raises ValueError if N < 1 or the query rule is unknown."""
    check_pairs(n_pairs)
    if query not in get_args(Query):
        raise ValueError(f"query must be one of {get_args(Query)}, got {query!r}")
    chances = np.full(n_pairs, 1 / n_pairs) if query == "uniform" else np.eye(n_pairs)[-1]
    return landscape_of_chances(chances)


def landscape_of_chances(chances: Row) -> Landscape:
    """The full model's loss if the query asks for pair q with chance `chances[q]` (this book).

    Args:
        chances: the probability of each of the N pairs, >= 0 with a sum of 1.

    Returns:
        The loss of the 19 pseudo-parameters and its gradient, each at a cost of order N.

    Example:
        >>> first = theory.landscape_of_chances(np.array([1.0, 0.0, 0.0, 0.0]))
        >>> first.loss(*[0.0] * 19), len(first.gradient(*[0.0] * 19))
        (1.0, 19)
    """

    def loss(*parameters: float) -> float:
        return forward(_point(parameters), chances).loss

    def gradient(*parameters: float) -> tuple[float, ...]:
        return backward(_point(parameters), forward(_point(parameters), chances), chances)

    return Landscape(loss, gradient, len(chances), groups=(3, 12, 4), head=(2, 4, 17))


def _point(parameters: Sequence[float]) -> Sequence[float]:
    if len(parameters) != 19:
        raise ValueError(f"there are 19 pseudo-parameters (Theorem 1), got {len(parameters)}")
    return parameters
