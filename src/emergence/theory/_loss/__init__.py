"""The population loss of the disentangled transformer on orthonormal inputs, and its gradient."""

from collections.abc import Sequence

import numpy as np

from .._flow import Landscape
from ._backward import _gradient
from ._forward import Model, Questions, Row, _excess, questions

__all__ = ["Model", "landscape_of_chances", "landscape_of_questions", "questions"]

# Inside the subspace of Theorem 1 the loss depends only on inner products of the inputs. On
# orthonormal inputs (Assumption 7) it therefore depends on nothing random.


def landscape_of_chances(chances: Row) -> Landscape:
    """The full model's loss if the query asks for pair q with chance `chances[q]` (this book).

    Args:
        chances: the probability of each of the N pairs, >= 0 with a sum of 1.

    Returns:
        The loss of the 19 pseudo-parameters and its gradient, each at a cost of order N.
    """
    pairs = np.arange(len(chances))
    asked = Questions.of((True, False, True), chances, len(chances), pairs, pairs)
    return landscape_of_questions([asked], len(chances))


def landscape_of_questions(blocks: list[Questions], n_pairs: int) -> Landscape:
    """The weighted sum of the losses of all questions."""
    full, weight = blocks[0].full, float(sum(np.sum(asked.weight) for asked in blocks))

    def loss(*parameters: float) -> float:
        point = _point(parameters, full)
        return weight + sum(_excess(point, asked) for asked in blocks)

    def gradient(*parameters: float) -> tuple[float, ...]:
        point = _point(parameters, full)
        slopes = [_gradient(point, asked) for asked in blocks]
        return slopes[0] if len(slopes) == 1 else tuple(map(sum, zip(*slopes, strict=True)))

    if full:
        return Landscape(loss, gradient, n_pairs, groups=(3, 12, 4), head=(2, 4, 17))
    return Landscape(loss, gradient, n_pairs)


def _point(parameters: Sequence[float], full: bool) -> Sequence[float]:
    """All 19 parameters, from three if not all are free. Raises ValueError if there are others."""
    if not full:
        alpha, beta, gamma = parameters
        return [0.0, 0.0, alpha, 0.0, beta, *[0.0] * 12, gamma, 0.0]
    if len(parameters) != 19:
        raise ValueError(f"there are 19 pseudo-parameters (Theorem 1), got {len(parameters)}")
    return parameters
