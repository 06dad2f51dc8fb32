"""Data whose expectation is a finite sum, and descent on it: Theorem 1 without sampling.

The dimensions of Theorem 1, counted twice: those that are fixed and those that are reached.
"""

from collections.abc import Sequence
from typing import NamedTuple

import sympy as sp
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.fast import disentangled_gradient
from emergence.models import Weights
from emergence.running import loop
from emergence.running.memo import kept, resumable
from emergence.subspace import NAMES, PseudoParameters, embed, project
from emergence.tasks import gaussian_pairs, swap_halves

from .structure import block_orthogonal, invariants, signed_permutations

Sequences = tuple[Tensor, Tensor]  # inputs and targets of every run


class Fresh(NamedTuple):
    """Fresh Gaussian sequences in every step, as `gaussian` draws them."""

    streams: tuple[torch.Generator, ...]
    batch_size: int
    n_pairs: int
    dim: int


class Group(NamedTuple):
    """Pairs (E, F) that leave no more fixed than all orthogonal and block-orthogonal ones do."""

    e: Float[Tensor, "elements dim dim"]
    f: Float[Tensor, "elements dim dim"]


class DescentPath(NamedTuple):
    """Weights inside and outside the 19 dimensions before each step and after the last."""

    outside: Float[Tensor, "times *runs"]
    pseudo: Float[Tensor, "times *runs 19"]
    loss: Float[Tensor, "steps *runs"]


def real_paulis(size: int) -> Float[Tensor, "elements size size"]:
    """The size^2 products of bit flips and signs, one of each pair +-E; size a power of two.

    The average of E A E^T over them is tr(A)/size I, and no fewer rotations can do that.
    Raises ValueError for another size.
    """
    if size < 1 or size & (size - 1):
        raise ValueError(f"these groups exist for powers of two, got {size}")
    flip = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    sign = torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64))
    single = torch.stack([torch.eye(2, dtype=torch.float64), flip, sign, flip @ sign])
    elements = torch.ones(1, 1, 1, dtype=torch.float64)
    while elements.shape[-1] < size:
        products = torch.einsum("aij,bkl->abikjl", single, elements)
        elements = products.reshape(-1, 2 * elements.shape[-1], 2 * elements.shape[-1])
    return elements


def pauli_group(dim: int) -> Group:
    """All E of `real_paulis` with all F = diag(E, E) or its swap, of both signs.

    (-E, -F) turns every gradient block as (E, F) does, so that E needs one sign only: D^4 pairs.
    """
    e, block = real_paulis(dim), real_paulis(dim // 2)
    doubled = torch.stack([torch.block_diag(generator, generator) for generator in block])
    f = torch.cat([doubled, swap_halves(doubled)])
    f = torch.cat([f, -f])
    return Group(e.repeat_interleave(len(f), dim=0), f.repeat(len(e), 1, 1))


def orbit(
    inputs: Float[Tensor, "*runs batch length width"],
    target: Float[Tensor, "*runs batch dim"],
    group: Group,
) -> tuple[Float[Tensor, "*runs turned length width"], Float[Tensor, "*runs turned dim"]]:
    """Every sequence rotated by every element: a distribution that the group leaves invariant."""
    content, position = inputs.unsqueeze(-4).chunk(2, dim=-1)
    e, f = group.e[:, None], group.f[:, None]
    turned = torch.cat([content @ e, position @ f], dim=-1)
    targets = target.unsqueeze(-3) @ group.e
    return turned.flatten(-4, -3), targets.flatten(-3, -2)


def gaussian(
    streams: Sequence[torch.Generator], batch_size: int, n_pairs: int, dim: int
) -> tuple[Float[Tensor, "runs batch length width"], Float[Tensor, "runs batch dim"]]:
    """Fresh Gaussian sequences for every run, each from its own generator."""
    batches = [gaussian_pairs(batch_size, n_pairs, dim, generator=stream) for stream in streams]
    return torch.stack([b.inputs for b in batches]), torch.stack([b.target for b in batches])


def zero_weights(runs: int, dim: int) -> Weights:
    """The start of Assumption 1."""
    return embed(PseudoParameters.unstack(torch.zeros(runs, len(NAMES), dtype=torch.float64)), dim)


def structured_weights(streams: Sequence[torch.Generator], dim: int) -> Weights:
    """Weights of Eqs. 6-8 with 19 random pseudo-parameters a run, N(0, 0.4^2)."""
    draws = [torch.randn(len(NAMES), generator=s, dtype=torch.float64) for s in streams]
    return embed(PseudoParameters.unstack(0.4 * torch.stack(draws)), dim)


def random_weights(streams: Sequence[torch.Generator], dim: int, scale: float) -> Weights:
    """Weights without structure, independent N(0, scale^2) entries."""
    shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)
    draws = ([torch.randn(*n, generator=s, dtype=torch.float64) for s in streams] for n in shapes)
    return Weights(*(scale * torch.stack(parts) for parts in draws))


@resumable
def descend_on_samples(
    start: Weights,
    data: Sequences | Fresh,
    steps: int,
    learning_rate: float,
    *,
    label: str = "descent",
) -> DescentPath:
    """Gradient descent on the same sequences in every step, or on fresh ones.

    Raises ArithmeticError when a run diverges.
    """
    weights = Weights(*(w.clone() for w in start))
    coordinates = [_coordinates(weights)]
    losses: list[Tensor] = []
    streams = data.streams if isinstance(data, Fresh) else ()
    for step in loop.steps(
        steps,
        label,
        weights=weights,
        streams=streams,
        coordinates=coordinates,
        losses=losses,
    ):
        batch = gaussian(*data) if isinstance(data, Fresh) else data
        loss, gradient = disentangled_gradient(weights, *batch)
        loop.check_finite(loss, label, step)
        for w, g in zip(weights, gradient, strict=True):
            w.sub_(learning_rate * g)
        coordinates.append(_coordinates(weights))
        losses.append(loss)
    outside, pseudo = (torch.stack(column) for column in zip(*coordinates, strict=True))
    return DescentPath(outside, pseudo, torch.stack(losses))


def give_query_position(inputs: Tensor, generator: torch.Generator) -> Tensor:
    """The same sequences with a positional embedding of its own on each query (against Eq. 4)."""
    inputs = inputs.clone()
    shape = *inputs.shape[:-2], inputs.shape[-1] // 2
    inputs[..., -1, shape[-1] :] = torch.randn(shape, generator=generator, dtype=inputs.dtype)
    return inputs


def _coordinates(weights: Weights) -> tuple[Tensor, Tensor]:
    """The norm outside the 19 dimensions, and the pseudo-parameters."""
    pseudo, outside = project(weights)
    return outside, pseudo.stacked()


# Which of E and F turns each block of rows and columns: contents by E, positions by F (A.5).
BLOCKS = (("EF", "EF"), ("EFEF", "EFEF"), ("EFEFEFEF", "E"))


@kept
def fixed_dimensions(k: int) -> tuple[int, int, int]:
    """Dimensions of W1, W2 and W3 that all turns leave fixed, for D = 2k: exact null spaces.

    A block rotated by A on the left and B on the right must satisfy A W B^T = W for all E and F.
    """
    content = signed_permutations(2 * k)
    position = block_orthogonal(signed_permutations(k))
    identity = sp.eye(2 * k)
    pairs = [(e, identity) for e in content] + [
        (identity, f) for f in position
    ]  # independent turns

    def fixed(row: str, column: str) -> int:
        turns = ((e if row == "E" else f, e if column == "E" else f) for e, f in pairs)
        return len(invariants((left, right.T) for left, right in turns))

    sizes = {row + column: fixed(row, column) for row in "EF" for column in "EF"}
    w1, w2, w3 = (sum(sizes[r + c] for r in rows for c in columns) for rows, columns in BLOCKS)
    return w1, w2, w3


@kept
def gradients(
    dim: int, points: int, group: Group, generator: torch.Generator, *, query_position: bool
) -> Float[Tensor, "points weights"]:
    """Expected gradients at random structured weights, each a row of all 28 D^2 entries.

    D is a power of two, and the orbit of `group` makes the expectation a finite sum. With
    `query_position` the query carries a position of its own, against Eq. 4.
    """
    rows = []
    for _ in range(points):
        inputs, target = gaussian([generator], 2, 2, dim)
        if query_position:
            inputs = give_query_position(inputs, generator)
        weights = structured_weights([generator], dim)
        _, gradient = disentangled_gradient(weights, *orbit(inputs, target, group))
        rows.append(torch.cat([part.flatten() for part in gradient]))
    return torch.stack(rows)


def rank(rows: Float[Tensor, "points weights"]) -> int:
    """The dimension of the span, where singular values below 1e-10 of the first count as zero."""
    singular = torch.linalg.svdvals(rows)
    return int((singular > 1e-10 * singular[0]).sum())
