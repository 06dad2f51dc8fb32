"""The minimal model in a residual stream of finite width, where writings overlap (§3.1).

A stream of width d adds up what the disentangled stream keeps side by side. Each of its 8D
coordinates is written in its own direction, a row of R, and read along that direction. So the
output depends only on the overlaps of directions, the Gram matrix R R^T. With R R^T = I the two
streams are the same.
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import Mask, Weights, allowed_positions, attention


def residual_output(
    weights: Weights,
    inputs: Float[Tensor, "batch length width"],
    gram: Float[Tensor, "directions directions"],
    *,
    mask: Mask = "strict",
) -> Float[Tensor, "batch dim"]:
    """The prediction at the query of Eq. 1 in an additive stream whose directions overlap so.

    The stream starts as X R_1. Layer 1 reads X' by R_1 and adds T X' R_2; layer 2 reads U' by R_1
    and R_2 and adds Q U' R_3; the output is read by all. Its matrices in the stream's own basis
    are R_1^T W1 R_1, R_1^T R_2 and so on.
    The overlaps `gram` are those of the directions of X (2D), of what layer 1 retrieves (2D) and of
    what layer 2 retrieves (4D).
    """
    width = inputs.shape[-1]
    allowed = allowed_positions(inputs.shape[-2], mask, inputs.device)
    first, second, third = gram[:width], gram[width : 2 * width], gram[2 * width :]
    x = inputs @ first[:, :width]
    written = inputs @ first + attention(x @ weights.w1 @ x.mT, allowed) @ x @ second
    u = written[..., : 2 * width]
    written = written + attention(u @ weights.w2 @ u.mT, allowed) @ u @ third
    return (written @ weights.w3)[..., -1, :]


def random_gram(
    width: int, residual_dim: int, generator: torch.Generator
) -> Float[Tensor, "width width"]:
    """R R^T for R with independent N(0, 1/d) entries, drawn without R by Bartlett's decomposition.

    The generator is on the CPU. Raises ValueError for a width d below the number of directions.
    """
    if residual_dim < width:
        raise ValueError(f"{width} directions need a stream of at least that, got {residual_dim}")
    root = torch.randn(width, width, generator=generator, dtype=torch.float64).tril(-1)
    dice = np.random.default_rng(int(torch.randint(2**62, (), generator=generator)))
    square = torch.from_numpy(dice.chisquare(residual_dim - np.arange(width)))
    root = root + square.sqrt().diag()
    return root @ root.mT / residual_dim


def difference(one: Float[Tensor, "..."], other: Float[Tensor, "..."]) -> float:
    """The root mean square of the difference over that of the other."""
    return math.sqrt(float((one - other).square().mean() / other.square().mean()))
