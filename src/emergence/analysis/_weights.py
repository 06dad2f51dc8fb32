"""Measures of trained weights: blocks, the lead of the head, norms in and out of the subspace."""

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from emergence.models import Weights
from emergence.subspace import INDUCTION_HEAD, NAMES, embed, project


def blocks(
    matrix: Shaped[np.ndarray, "rows columns"], size: int
) -> Shaped[np.ndarray, "block_rows block_columns size size"]:
    """The square blocks of a matrix; ValueError if its sides are no multiples of the size."""
    rows, columns = matrix.shape
    if rows % size or columns % size:
        raise ValueError(f"a {rows} x {columns} matrix has no blocks of size {size}")
    return matrix.reshape(rows // size, size, columns // size, size).swapaxes(1, 2)  # a view


def head_lead(pseudo: Float[Tensor, "*runs 19"]) -> Float[Tensor, "*runs"]:
    """The least size among alpha_3, beta_2, gamma_3 over the greatest of the other sixteen."""
    head = torch.tensor([name in INDUCTION_HEAD for name in NAMES])
    return pseudo[..., head].abs().amin(dim=-1) / pseudo[..., ~head].abs().amax(dim=-1)


def norms(weights: Weights) -> tuple[Float[Tensor, "*runs"], Float[Tensor, "*runs"]]:
    """Frobenius norms inside and outside the 19-dimensional subspace."""
    pseudo, outside = project(weights)
    dim = weights.w3.shape[-1]
    inside = outside.new_zeros(())
    for part in embed(pseudo, dim):
        inside = inside + part.square().sum(dim=(-2, -1))
    return inside.sqrt(), outside
