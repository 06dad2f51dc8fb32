"""Which data? Gaussian, orthonormal and token item-label pairs (§3.2, Assumption 7, App. E)."""

from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

Query = Literal["uniform", "last"]


class Batch(NamedTuple):
    """Sequences of §3.2: N item-label pairs, then one query item; `query` counts pairs from 0."""

    inputs: Float[Tensor, "batch length width"]  # length 2N + 1, width 2D
    target: Float[Tensor, "batch dim"]
    query: Int[Tensor, " batch"]


class TokenBatch(NamedTuple):
    """Sequences of App. E: 2N distinct tokens in pairs, then one of the items again."""

    tokens: Int[Tensor, "batch length"]
    positions: Int[Tensor, "batch length"]
    target: Int[Tensor, " batch"]


def swap_halves(vectors: Float[Tensor, "*any dim"]) -> Float[Tensor, "*any dim"]:
    """Multiply row vectors by M of Eq. 2, which swaps the two halves of a vector."""
    return vectors.roll(vectors.shape[-1] // 2, dims=-1)


def gaussian_pairs(
    batch_size: int,
    n_pairs: int,
    dim: int,
    *,
    generator: torch.Generator,
    query: Query = "uniform",
    copies: int = 1,
    dtype: torch.dtype = torch.float64,
) -> Batch:
    """Items, labels, positions with independent N(0, 1) entries (Eq. 5); ValueError for odd D.

    With `copies` the context has N / copies distinct pairs, all in turn and then again.
    """
    _check(batch_size, n_pairs, dim, copies)
    items, labels, positions = torch.randn(
        3, batch_size, n_pairs, dim, generator=generator, device=generator.device, dtype=dtype
    )
    distinct = n_pairs // copies
    return _assemble(items[:, :distinct], labels[:, :distinct], positions, query, generator)


def orthonormal_pairs(
    batch_size: int,
    n_pairs: int,
    dim: int,
    *,
    generator: torch.Generator,
    query: Query = "last",
    copies: int = 1,
    dtype: torch.dtype = torch.float64,
) -> Batch:
    """Items and labels orthonormal, and so are the p_i with the Mp_j (Assumption 7).

    `copies` as for Gaussian pairs. Raises ValueError for an odd D or D < 2N.
    """
    _check(batch_size, n_pairs, dim, copies)
    if dim < 2 * n_pairs:
        raise ValueError(f"orthonormal pairs need D >= 2N, got D = {dim} and N = {n_pairs}")
    distinct = n_pairs // copies
    values = _orthonormal_rows(batch_size, 2 * distinct, dim, generator, dtype)
    # M has eigenvalues +1 and -1, each on D/2 dimensions. With orthogonal parts of squared norm 1/2
    # in both eigenspaces, p_i.p_j = 1/2 + 1/2 and p_i.Mp_j = 1/2 - 1/2 for i = j, and 0 otherwise.
    even = _orthonormal_rows(batch_size, n_pairs, dim // 2, generator, dtype)
    odd = _orthonormal_rows(batch_size, n_pairs, dim // 2, generator, dtype)
    positions = torch.cat([even + odd, even - odd], dim=-1) / 2
    return _assemble(values[:, :distinct], values[:, distinct:], positions, query, generator)


def token_pairs(
    batch_size: int,
    n_pairs: int,
    vocabulary: int,
    block_size: int,
    *,
    generator: torch.Generator,
) -> TokenBatch:
    """2N distinct tokens in pairs and a query item, at a random place in the block (App. E).

    Raises ValueError if the vocabulary or the block is too small.
    """
    length = 2 * n_pairs + 1
    if vocabulary < 2 * n_pairs:
        raise ValueError(f"{n_pairs} pairs need {2 * n_pairs} distinct tokens, got {vocabulary}")
    if block_size < length:
        raise ValueError(f"{n_pairs} pairs need a block of {length} positions, got {block_size}")
    device = generator.device
    order = torch.rand(batch_size, vocabulary, generator=generator, device=device).argsort(dim=1)
    pairs = order[:, : 2 * n_pairs]
    chosen = _query_index(batch_size, n_pairs, "uniform", generator)[:, None]
    offset = torch.randint(
        block_size - length + 1, (batch_size, 1), generator=generator, device=device
    )
    return TokenBatch(
        tokens=torch.cat([pairs, pairs.gather(1, 2 * chosen)], dim=1),
        positions=offset + torch.arange(length, device=device),
        target=pairs.gather(1, 2 * chosen + 1).squeeze(1),
    )


def _check(batch_size: int, n_pairs: int, dim: int, copies: int) -> None:
    if batch_size < 1 or n_pairs < 1:
        raise ValueError(f"need at least one sequence and one pair, got {batch_size} and {n_pairs}")
    if copies < 1 or n_pairs % copies:
        raise ValueError(f"{n_pairs} pairs cannot be {copies} copies of the same")
    if dim < 2 or dim % 2:
        raise ValueError(f"the dimension D must be even and positive (Eq. 2), got {dim}")


def _query_index(
    batch_size: int, n_pairs: int, query: Query, generator: torch.Generator
) -> Int[Tensor, " batch"]:
    if query == "uniform":
        return torch.randint(n_pairs, (batch_size,), generator=generator, device=generator.device)
    if query == "last":
        return torch.full((batch_size,), n_pairs - 1, device=generator.device)
    raise ValueError(f"query must be one of {get_args(Query)}, got {query!r}")


def _orthonormal_rows(
    batch_size: int, count: int, dim: int, generator: torch.Generator, dtype: torch.dtype
) -> Float[Tensor, "batch count dim"]:
    columns = torch.randn(
        batch_size, dim, count, generator=generator, device=generator.device, dtype=dtype
    )
    q, r = torch.linalg.qr(columns)
    # LAPACK fixes the signs of r's diagonal; q is isotropic when they are positive instead.
    return (q * r.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]).mT


def _assemble(
    items: Float[Tensor, "batch distinct dim"],
    labels: Float[Tensor, "batch distinct dim"],
    positions: Float[Tensor, "batch pairs dim"],
    query: Query,
    generator: torch.Generator,
) -> Batch:
    """Lay the pairs out as Eqs. 3 and 4 say; the query carries no positional embedding."""
    batch_size, n_pairs, dim = positions.shape
    distinct = items.shape[1]
    chosen = _query_index(batch_size, distinct, query, generator)
    sequences = torch.arange(batch_size, device=items.device)
    inputs = items.new_empty(batch_size, 2 * n_pairs + 1, 2 * dim)
    inputs[:, 0:-1:2, :dim] = items.repeat(1, n_pairs // distinct, 1)
    inputs[:, 0:-1:2, dim:] = positions
    inputs[:, 1:-1:2, :dim] = labels.repeat(1, n_pairs // distinct, 1)
    inputs[:, 1:-1:2, dim:] = swap_halves(positions)
    inputs[:, -1, :dim] = items[sequences, chosen]
    inputs[:, -1, dim:] = 0
    return Batch(inputs, labels[sequences, chosen], chosen)
