"""The 19 pseudo-parameters of Theorem 1, embedded in the weights and projected from them."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.running.graphs import constant

from .models import Weights
from .tasks import swap_halves

# (block row, block column, multiplies M) of alpha_1..3, beta_1..12 and gamma_1..4 in Eqs. 6-8;
# the last of the first line is alpha_3: position of the label against position of its item
ALPHA_BLOCKS = ((0, 0, False), (1, 1, False), (1, 1, True))
BETA_BLOCKS = (
    (0, 0, False), (0, 2, False),
    (1, 1, False), (1, 1, True), (1, 3, False), (1, 3, True),
    (2, 0, False), (2, 2, False),
    (3, 1, False), (3, 1, True), (3, 3, False), (3, 3, True),
)  # fmt: skip
GAMMA_BLOCKS = ((0, 0, False), (2, 0, False), (4, 0, False), (6, 0, False))
_LAYOUT = ((ALPHA_BLOCKS, 2, 2), (BETA_BLOCKS, 4, 4), (GAMMA_BLOCKS, 8, 1))

#: The 19 pseudo-parameters in order, from `alpha_1` to `gamma_4` (Theorem 1).
NAMES = tuple(
    f"{letter}_{i}"
    for letter, n in (("alpha", 3), ("beta", 12), ("gamma", 4))
    for i in range(1, n + 1)
)
#: The three that make the induction head (§5).
INDUCTION_HEAD = ("alpha_3", "beta_2", "gamma_3")
HEAD = [NAMES.index(name) for name in INDUCTION_HEAD]  # its places among the 19


class PseudoParameters(NamedTuple):
    """The coordinates in the 19-dimensional subspace (Theorem 1), of one network or several runs.

    Attributes:
        alpha: alpha_1 to alpha_3, of layer 1 (Eq. 6).
        beta: beta_1 to beta_12, of layer 2 (Eq. 7).
        gamma: gamma_1 to gamma_4, of the output (Eq. 8).
    """

    alpha: Float[Tensor, "*runs 3"]
    beta: Float[Tensor, "*runs 12"]
    gamma: Float[Tensor, "*runs 4"]

    def stacked(self) -> Float[Tensor, "*runs 19"]:
        """The 19 values side by side, in the order of `subspace.NAMES`."""
        return torch.cat(list(self), dim=-1)

    @classmethod
    def unstack(cls, values: Float[Tensor, "*runs 19"]) -> "PseudoParameters":
        """The pseudo-parameters of 19 values in that order, the inverse of `stacked`."""
        return cls(*values.split([3, 12, 4], dim=-1))


def embed(pseudo: PseudoParameters, dim: int) -> Weights:
    """The weights with these pseudo-parameters (Eqs. 6-8).

    Args:
        pseudo: the 19 coordinates, of one network or of several runs.
        dim: dimension D of an item, label or position, even and >= 2.

    Returns:
        Weights whose blocks are multiples of the identity or of M; differentiable.

    Raises:
        ValueError: if the dimension is out of its range.
    """
    if dim < 2 or dim % 2:
        raise ValueError(f"the dimension D must be even and positive (Eq. 2), got {dim}")
    return Weights(
        *(_embed_blocks(v, *layout, dim) for v, layout in zip(pseudo, _LAYOUT, strict=True))
    )


def project(weights: Weights) -> tuple[PseudoParameters, Float[Tensor, "*runs"]]:
    """The pseudo-parameters whose weights are nearest to given ones (Theorem 1).

    Args:
        weights: any weights of Eq. 1, of one network or of several runs.

    Returns:
        The pseudo-parameters, and the Frobenius norm of the rest of the weights.

    Raises:
        ValueError: if D is odd.
    """
    dim = weights.w3.shape[-1]
    pseudo = PseudoParameters(
        *(_project_blocks(w, *layout, dim) for w, layout in zip(weights, _LAYOUT, strict=True))
    )
    outside = [w - inside for w, inside in zip(weights, embed(pseudo, dim), strict=True)]
    squares = (part.square().sum(dim=(-2, -1)) for part in outside)
    return pseudo, sum(squares, weights.w3.new_zeros(())).sqrt()


def _embed_blocks(
    values: Float[Tensor, "*runs n"],
    blocks: tuple[tuple[int, int, bool], ...],
    rows: int,
    columns: int,
    dim: int,
) -> Float[Tensor, "*runs height width"]:
    row, column, swapped = (
        constant(tuple(map(int, index)), values.device) for index in zip(*blocks, strict=True)
    )
    coefficients = values.new_zeros(*values.shape[:-1], 2, rows, columns)
    coefficients[..., swapped, row, column] = values
    identity = torch.eye(dim, dtype=values.dtype, device=values.device)
    units = torch.stack([identity, swap_halves(identity)])
    tiles = torch.einsum("...src,sij->...ricj", coefficients, units)
    return tiles.reshape(*values.shape[:-1], rows * dim, columns * dim)


def _project_blocks(
    weight: Float[Tensor, "*runs height width"],
    blocks: tuple[tuple[int, int, bool], ...],
    rows: int,
    columns: int,
    dim: int,
) -> Float[Tensor, "*runs n"]:
    tiles = weight.unflatten(-1, (columns, dim)).unflatten(-3, (rows, dim))

    def mean_on_unit(row: int, column: int, swapped: bool) -> Tensor:
        tile = tiles[..., row, :, column, :]
        tile = swap_halves(tile) if swapped else tile
        return tile.diagonal(dim1=-2, dim2=-1).mean(dim=-1)

    return torch.stack([mean_on_unit(*block) for block in blocks], dim=-1)
