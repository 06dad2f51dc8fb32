"""Theorem 1 block by block: what lies outside its structure, compared with rotated copies.

If items and labels are rotated by an orthogonal E, and positions by an orthogonal F that commutes
with M, isotropic data keep their distribution, and the weights trained from zero rotate with them.
So a rotated copy of a run is as likely as the run itself, and such copies are an exact null
distribution for whatever lies outside the structure, which is what all rotations leave fixed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import Weights
from emergence.running.memo import kept
from emergence.subspace import embed, project
from emergence.tasks import swap_halves

#: What is read in each block of the mean over runs: its mean along I, M and the diagonals beside I
#: and over all entries. Then what can only be too large: the root mean square over runs of the
#: means along I and M, which sees what differs in sign, and the size of the mean over runs.
READINGS = (
    *("I", "M", "sub-diagonal", "super-diagonal", "mean"),
    *("I in single runs", "M in single runs", "size"),
)
SIGNED = 5  # how many of them may have either sign
#: The 28 blocks: matrix, block row and block column, counted from 1; odd ones are contents.
BLOCKS = tuple(
    (matrix, row, column)
    for matrix, rows, columns in ((1, 2, 2), (2, 4, 4), (3, 8, 1))
    for row in range(1, rows + 1)
    for column in range(1, columns + 1)
)
#: The places where Theorem 1 has zeros: a block, counted from 0, and 0 for I or 1 for M.
FORBIDDEN = tuple(
    (block, reading)
    for block in range(28)
    for reading in (0, 1)
    if (BLOCKS[block][1] + BLOCKS[block][2]) % 2 or (reading == 1 and BLOCKS[block][1] % 2)
)
CPU = torch.device("cpu")
CHUNK = 50  # turns at once: some twenty megabytes at D = 16


class Structure(NamedTuple):
    """What trained weights hold outside the structure of Theorem 1, by block (App. A).

    Attributes:
        found: the deviations; zero where any value is allowed.
        scale: their standard deviations for rotated runs; zero where any value is allowed.
        size: how far the largest deviation stands out, in standard deviations.
        worst: the name of the largest deviation.
        limit: what the largest deviation of rotated runs exceeds with probability `level`.
        smallest: a multiple of I or M in all runs that stands out beyond the limit with probability
            0.95, even in the noisiest block.
        chance: how often rotated runs deviate as much as the runs themselves.
    """

    found: Float[np.ndarray, "28 8"]
    scale: Float[np.ndarray, "28 8"]
    size: float
    worst: str
    limit: float
    smallest: float
    chance: float

    @property
    def excess(self) -> float:
        """The largest deviation over its limit; above 1 the structure is violated."""
        return self.size / self.limit


@kept
def structure(
    weights: Weights,
    *,
    generator: torch.Generator,
    turns: int = 1999,
    level: float = 0.005,
    device: torch.device = CPU,
) -> Structure:
    """Compare every block of trained weights with randomly rotated copies (Theorem 1, App. A).

    The limit holds for the greatest of all readings of a figure, whatever their correlations.

    Args:
        weights: the weights of several runs, trained from zero on isotropic data.
        generator: source of the random rotations, on a processor.
        turns: number of rotated copies, >= 4/level.
        level: probability of a false alarm, between 0 and 1; with ten figures, 0.005 keeps that of
            one in all below 0.05.
        device: where the copies are rotated.

    Raises:
        ValueError: if there are too few rotated copies to determine the limit.
    """
    if turns * level < 4:
        raise ValueError(f"a level of {level} needs {4 / level:.0f} turns, got {turns}")
    dim = weights.w3.shape[-1]
    inside = embed(project(weights)[0], dim)
    parts = [_tiles(whole - part, dim) for whole, part in zip(weights, inside, strict=True)]
    rest = torch.cat(parts, dim=-3)
    readings = _readings(rest)[0]
    copies = turned(rest.to(device), turns, generator)
    null = torch.cat([_readings(part) for part in copies]).cpu()
    centre, scale = null.mean(dim=0), null.std(dim=0)
    centre[:, :SIGNED] = 0  # by symmetry
    # What the theorem allows has been taken away up to rounding, and one run keeps its size.
    free = scale > 1e-4 * rest.square().mean().sqrt()
    scale = torch.where(free, scale, 0.0)
    most = _sizes(null - centre, scale).amax(dim=(-2, -1))
    sizes = _sizes(readings - centre, scale)
    limit = float(most.quantile(1 - level))
    block, reading = divmod(int(sizes.argmax()), len(READINGS))
    matrix, row, column = BLOCKS[block]
    return Structure(
        torch.where(free, readings, 0.0).numpy(),
        scale.numpy(),
        float(sizes.max()),
        f"{READINGS[reading]} of block ({row}, {column}) of W{matrix}",
        limit,
        float(scale[:, :2].max()) * (limit + 1.645),
        float((1 + (most >= sizes.max()).sum()) / (1 + turns)),
    )


def turned(
    blocks: Float[Tensor, "runs 28 D D"], turns: int, generator: torch.Generator
) -> list[Float[Tensor, "turns runs 28 D D"]]:
    """The blocks of runs that are rotated at random, each run by its own rotations."""
    runs, dim = len(blocks), blocks.shape[-1]
    rows, columns = (torch.tensor([place[k] for place in BLOCKS]) for k in (1, 2))
    chunks = []
    for start in range(0, turns, CHUNK):
        shape = (min(CHUNK, turns - start), runs)
        by = torch.stack(
            [_orthogonal(shape, dim, generator), _commuting(shape, dim, generator)], dim=2
        ).to(blocks)
        left, right = by[:, :, (rows - 1) % 2], by[:, :, (columns - 1) % 2]
        chunks.append(left @ blocks @ right.mT)
    return chunks


def _readings(blocks: Float[Tensor, "*any runs 28 D D"]) -> Float[Tensor, "any 28 8"]:
    """The eight readings of every block, all in units of a weight."""
    along = [blocks.diagonal(offset, -2, -1).mean(dim=-1) for offset in (0, -1, 1)]
    along.insert(1, swap_halves(blocks).diagonal(0, -2, -1).mean(dim=-1))
    means = [distances.mean(dim=-2) for distances in along]
    single = [distances.square().mean(dim=-2).sqrt() for distances in along[:2]]
    mean = blocks.mean(dim=-4)
    overall, size = mean.mean(dim=(-2, -1)), mean.square().mean(dim=(-2, -1)).sqrt()
    readings = torch.stack([*means, overall, *single, size], dim=-1)
    return readings.reshape(-1, len(BLOCKS), len(READINGS))


def _sizes(
    apart: Float[Tensor, "*any 28 8"], scale: Float[Tensor, "28 8"]
) -> Float[Tensor, "*any 28 8"]:
    """How many standard deviations readings are apart, upwards where they have no sign."""
    sizes = torch.where(scale > 0, apart / scale.clamp_min(1e-30), 0.0)
    return torch.cat([sizes[..., :SIGNED].abs(), sizes[..., SIGNED:]], dim=-1)


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


def plant(weights: Weights, places: Sequence[tuple[int, int]], size: float) -> Weights:
    """Add a multiple of I or M to some blocks of weights, as a planted violation (Theorem 1).

    Args:
        weights: the weights of one or of several runs.
        places: a block, counted from 0, and 0 for I or 1 for M, as those of `analysis.FORBIDDEN`.
        size: the multiple, any.
    """
    parts = [part.clone() for part in weights]
    dim = weights.w3.shape[-1]
    identity = torch.eye(dim, dtype=parts[0].dtype)
    for block, reading in places:
        matrix, row, column = BLOCKS[block]
        rows, columns = (slice((k - 1) * dim, k * dim) for k in (row, column))
        unit = swap_halves(identity) if reading else identity
        parts[matrix - 1][..., rows, columns] += size * unit
    return Weights(*parts)
