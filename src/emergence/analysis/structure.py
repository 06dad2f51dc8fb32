"""Theorem 1 block by block: what lies outside its structure, against the noise of the same runs.

Training from zero on isotropic data has a symmetry that holds at every batch size. Turn all items
and labels by an orthogonal E, all positions by an orthogonal F that commutes with M: the data have
the same law, and the trained weights turn with them. So a run turned by its own E and F, drawn
evenly, is as likely as the run itself, and what stays in place under all turns is the structure of
Theorem 1. Turned runs are therefore an exact null for whatever a run holds outside it: noise has no
direction of its own, a diagonal has.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import Weights
from emergence.subspace import embed, project
from emergence.tasks import swap_halves

#: What is read in each block: the multiples of I and M, of the diagonals beside I, and of a
#: constant, and the squared norm of all.
READINGS = ("I", "M", "sub-diagonal", "super-diagonal", "mean", "norm")
#: The 28 blocks: matrix, block row and block column, counted from 1; odd ones are contents.
BLOCKS = tuple(
    (matrix, row, column)
    for matrix, rows, columns in ((1, 2, 2), (2, 4, 4), (3, 8, 1))
    for row in range(1, rows + 1)
    for column in range(1, columns + 1)
)
CHUNK = 50  # turns at once: some twenty megabytes at D = 16


class Structure(NamedTuple):
    """What several runs hold outside the structure, by block and reading (Theorem 1).

    Attributes:
        found: means over the runs, in multiples of I, M, the diagonals and a constant; the last
            column is the squared norm of the mean block. Zero where the theorem allows the reading.
        scale: standard deviations of the same readings over turned runs; zero where allowed.
        size: how far the most remarkable reading stands out, in standard deviations.
        limit: what the most remarkable reading of turned runs exceeds with chance `level`.
        smallest: the multiple of I or M in all runs that, in the worst place, would stand out
            beyond the limit with probability 0.95.
        chance: how often turned runs hold a reading as remarkable as the runs themselves.
    """

    found: Float[np.ndarray, "28 6"]
    scale: Float[np.ndarray, "28 6"]
    size: float
    limit: float
    smallest: float
    chance: float

    @property
    def excess(self) -> float:
        """The most remarkable reading over its limit: above 1 the structure is violated."""
        return self.size / self.limit

    def worst(self) -> str:
        """The most remarkable reading in words."""
        block, reading = np.unravel_index(_sizes(self.found, self.scale).argmax(), self.found.shape)
        matrix, row, column = BLOCKS[block]
        return f"{READINGS[reading]} of block ({row}, {column}) of W{matrix}"


def structure(
    weights: Weights, *, generator: torch.Generator, turns: int = 1999, level: float = 0.005
) -> Structure:
    """Compare every block of trained weights, a run a seed, with runs turned at random.

    Raises ValueError where there are too few turns to know the limit.
    """
    if turns * level < 5:
        raise ValueError(f"a level of {level} needs {5 / level:.0f} turns, got {turns}")
    rest = outside_blocks(weights)
    found = _readings(rest)
    null = torch.cat([_readings(part) for part in turned(rest, turns, generator)])
    centre, scale = null.mean(dim=0), null.std(dim=0)
    centre[:, :-1] = 0  # by symmetry; only a squared norm has a mean
    free = scale > 1e-6 * scale.max(dim=0).values  # what is left of an allowed reading is rounding
    scale = torch.where(free, scale, 0.0)
    sizes = _sizes((null - centre).numpy(), scale.numpy()).max(axis=(1, 2))
    size = float(_sizes((found[0] - centre).numpy(), scale.numpy()).max())
    limit = float(np.quantile(sizes, 1 - level))
    diagonal = scale[:, :2].max()
    return Structure(
        np.where(free, found[0], 0.0),
        scale.numpy(),
        size,
        limit,
        float(diagonal) * (limit + 1.645),
        float((1 + (sizes >= size).sum()) / (1 + turns)),
    )


def outside_blocks(weights: Weights) -> Float[Tensor, "runs 28 D D"]:
    """The blocks of weights, without what the 19 pseudo-parameters make of them."""
    dim = weights.w3.shape[-1]
    inside = embed(project(weights)[0], dim)
    return torch.cat(
        [_tiles(whole - part, dim) for whole, part in zip(weights, inside, strict=True)], dim=-3
    )


def turned(
    blocks: Float[Tensor, "runs 28 D D"], turns: int, generator: torch.Generator
) -> list[Float[Tensor, "turns runs 28 D D"]]:
    """The blocks of runs that are turned at random, each run by turns of its own."""
    runs, dim = len(blocks), blocks.shape[-1]
    rows, columns = (torch.tensor([place[k] for place in BLOCKS]) for k in (1, 2))
    chunks = []
    for start in range(0, turns, CHUNK):
        shape = (min(CHUNK, turns - start), runs)
        by = torch.stack(
            [_orthogonal(shape, dim, generator), _commuting(shape, dim, generator)], dim=2
        ).to(blocks.dtype)
        left, right = by[:, :, (rows - 1) % 2], by[:, :, (columns - 1) % 2]
        chunks.append(left @ blocks @ right.mT)
    return chunks


def _readings(blocks: Float[Tensor, "*any runs 28 D D"]) -> Float[Tensor, "any 28 6"]:
    """The six readings of every block, of the mean over runs."""
    mean = blocks.mean(dim=-4)
    dim = mean.shape[-1]
    along = [
        mean.diagonal(offset, -2, -1).mean(dim=-1) for offset in (0, -1, 1)
    ]
    swapped = swap_halves(mean).diagonal(0, -2, -1).mean(dim=-1)
    level, square = mean.mean(dim=(-2, -1)), mean.square().sum(dim=(-2, -1)) / dim
    found = torch.stack([along[0], swapped, *along[1:], level, square], dim=-1)
    return found.reshape(-1, len(BLOCKS), len(READINGS))


def _sizes(
    apart: Float[np.ndarray, "*any 28 6"], scale: Float[np.ndarray, "28 6"]
) -> Float[np.ndarray, "*any 28 6"]:
    """How many standard deviations readings are apart; a squared norm counts upwards only."""
    sizes = np.divide(apart, scale, out=np.zeros_like(apart), where=scale > 0)
    return np.concatenate([np.abs(sizes[..., :-1]), sizes[..., -1:]], axis=-1)


def _tiles(
    matrix: Float[Tensor, "runs height width"], dim: int
) -> Float[Tensor, "runs blocks D D"]:
    """The blocks of a matrix, row by row."""
    columns = matrix.shape[-1] // dim
    tiles = matrix.unflatten(-1, (columns, dim)).unflatten(-3, (-1, dim))
    return tiles.movedim(-2, -3).flatten(-4, -3)


def _orthogonal(
    shape: tuple[int, ...], dim: int, generator: torch.Generator
) -> Float[Tensor, "*shape D D"]:
    """Orthogonal matrices from the uniform (Haar) distribution."""
    normal = torch.randn(*shape, dim, dim, generator=generator, dtype=torch.float64)
    q, r = torch.linalg.qr(normal)
    return q * r.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]


def _commuting(
    shape: tuple[int, ...], dim: int, generator: torch.Generator
) -> Float[Tensor, "*shape D D"]:
    """Orthogonal matrices that commute with M: one for each of its two eigenspaces."""
    even, odd = (_orthogonal(shape, dim // 2, generator) for _ in range(2))
    near, far = (even + odd) / 2, (even - odd) / 2
    return torch.cat([torch.cat([near, far], -1), torch.cat([far, near], -1)], dim=-2)
