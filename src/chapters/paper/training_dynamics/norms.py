"""Norms of weights inside and outside the subspace of Theorem 1."""

from jaxtyping import Float
from torch import Tensor

from emergence.models import Weights
from emergence.subspace import embed, project


def subspace_norms(weights: Weights) -> tuple[Float[Tensor, "*runs"], Float[Tensor, "*runs"]]:
    """Frobenius norms of weights inside and outside the 19-dimensional subspace (Theorem 1).

    Args:
        weights: of one network or of several runs.

    Returns:
        Both norms.

    Raises:
        ValueError: for weights of an odd D.

    Example:
        >>> inside, outside = subspace_norms(analysis.head_weights(torch.ones(3), 4))
        >>> round(float(inside) ** 2, 6), round(float(outside), 6)  # 3 D
        (12.0, 0.0)
    """
    pseudo, outside = project(weights)
    dim = weights.w3.shape[-1]
    inside = outside.new_zeros(())
    for part in embed(pseudo, dim):
        inside = inside + part.square().sum(dim=(-2, -1))
    return inside.sqrt(), outside
