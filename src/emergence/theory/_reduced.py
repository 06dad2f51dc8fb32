"""The reduced model of §6 and App. B with a query for the last pair: loss and gradient."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Real

from ._flow import Landscape

# alpha, beta, gamma stand for alpha_3, beta_2, gamma_3; inputs are orthonormal, the mask is strict,
# and the loss is the squared norm summed over dimensions. The number of pairs enters through two
# counts of rivals: the last label chooses its item among 2N - 2 other positions in layer 1, the
# query chooses that label among 2N - 1 other positions in layer 2.

# A number or an array of numbers; those of one call broadcast.
Values = float | int | Real[np.ndarray, "..."]
Row = Float[np.ndarray, " prefixes"]
Sizes = Int[np.ndarray, " prefixes"]


def signal(alpha: Values, beta: Values, n_pairs: Values) -> Values:
    """The unnormalised attention s of the query to the target label, e^(beta g) (App. B.3).

    Args:
        alpha, beta: alpha_3 and beta_2, any; floats or arrays that broadcast.
        n_pairs: pairs N in the context, >= 1.

    Returns:
        The attention s, which is 1 where nothing is learned; all other positions have 1.
    """
    return np.exp(beta * retrieval(alpha, n_pairs))


def retrieval(alpha: Values, n_pairs: Values) -> Values:
    """The attention g of the last label to its item, e^alpha/(e^alpha + 2N - 2) (App. B.3).

    Args:
        alpha, n_pairs: as `signal` takes them.
    """
    return 1 / (1 + (2 * n_pairs - 2) * np.exp(-np.asarray(alpha, dtype=float)))


def reduced_loss(alpha: Values, beta: Values, gamma: Values, n_pairs: Values) -> Values:
    """The population loss on orthonormal inputs, with a query for the last pair (App. B.3).

    Args:
        alpha, beta, n_pairs: as `signal` takes them.
        gamma: gamma_3, any.

    Returns:
        The squared norm of the error, summed over dimensions, 1 at zero; a float for floats.

    Raises:
        ValueError: if N < 1.
    """
    alpha, beta, gamma = _arrays(alpha, beta, gamma, n_pairs)
    return unwrapped(_loss(alpha, beta, gamma, n_pairs, np.exp))


def reduced_gradient(
    alpha: Values, beta: Values, gamma: Values, n_pairs: Values
) -> tuple[Values, Values, Values]:
    """The gradient of `theory.reduced_loss` (App. B.4).

    Args:
        alpha, beta, gamma, n_pairs: as `reduced_loss` takes them.

    Raises:
        ValueError: if N < 1.
    """
    alpha, beta, gamma = _arrays(alpha, beta, gamma, n_pairs)
    d_alpha, d_beta, d_gamma = _gradient(alpha, beta, gamma, n_pairs, np.exp)
    return unwrapped(d_alpha), unwrapped(d_beta), unwrapped(d_gamma)


def landscape(n_pairs: int) -> Landscape:
    """The loss of the reduced model with a query for the last pair. Raises ValueError if N < 1."""
    check_pairs(n_pairs)
    return Landscape(
        lambda alpha, beta, gamma: _loss(alpha, beta, gamma, n_pairs, math.exp),
        lambda alpha, beta, gamma: _gradient(alpha, beta, gamma, n_pairs, math.exp),
        n_pairs,
    )


def landscape_of_prefixes(weights: Row, sizes: Sizes, n_pairs: int) -> Landscape:
    """The weighted mean of this loss over prefixes of so many pairs."""

    def loss(alpha: float, beta: float, gamma: float) -> float:
        return float(weights @ _loss(alpha, beta, gamma, sizes, np.exp))

    def gradient(alpha: float, beta: float, gamma: float) -> tuple[float, ...]:
        slopes = _gradient(alpha, beta, gamma, sizes, np.exp)
        return tuple(float(weights @ slope) for slope in slopes)

    return Landscape(loss, gradient, n_pairs)


def _loss(alpha: Any, beta: Any, gamma: Any, n_pairs: Any, exp: Callable) -> Any:
    # math.exp where floats come in: NumPy's is slow on a single number
    _, target, others = _attention(alpha, beta, n_pairs, exp)
    return gamma**2 * (target**2 + (2 * n_pairs - 1) * others**2) - 2 * gamma * target + 1


def _gradient(
    alpha: Any, beta: Any, gamma: Any, n_pairs: Any, exp: Callable
) -> tuple[Any, Any, Any]:
    share, target, others = _attention(alpha, beta, n_pairs, exp)
    rivals = 2 * n_pairs - 1
    # dL/dlog(s): with r = s + F and F rivals, s dL/ds = 2F (gamma^2 (s - 1)/r - gamma) s/r^2
    push = 2 * rivals * target * others * (gamma**2 * (target - others) - gamma)
    d_gamma = 2 * gamma * (target**2 + rivals * others**2) - 2 * target
    return push * beta * share * (1 - share), push * share, d_gamma


def _attention(alpha: Any, beta: Any, n_pairs: Any, exp: Callable) -> tuple[Any, Any, Any]:
    """Layer 1's attention of the last label to its item; layer 2's to the target, to each rival."""
    share = 1 / (1 + (2 * n_pairs - 2) * exp(-alpha))
    exponent, rivals = beta * share, 2 * n_pairs - 1
    return share, 1 / (1 + rivals * exp(-exponent)), 1 / (exp(exponent) + rivals)


def check_pairs(n_pairs: Values) -> None:
    """Raise ValueError if there is less than one pair."""
    if np.any(np.asarray(n_pairs) < 1):
        raise ValueError(f"need at least one pair, got N = {n_pairs}")


def _arrays(alpha: Values, beta: Values, gamma: Values, n_pairs: Values) -> Iterator[np.ndarray]:
    check_pairs(n_pairs)
    return (np.asarray(value, dtype=float) for value in (alpha, beta, gamma))


def unwrapped(value: Any) -> Values:
    """A float for a scalar; otherwise the array itself."""
    return float(value) if np.ndim(value) == 0 else value
