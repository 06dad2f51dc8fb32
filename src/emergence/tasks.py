"""Gaussian, orthonormal and token item-label pairs (§3.2, Assumption 7, App. E)."""

from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

Query = Literal["uniform", "last"]


class Batch(NamedTuple):
    """Sequences of N item-label pairs and a query item, with the label to predict (§3.2).

    Attributes:
        inputs: 2N + 1 rows of width 2D, content and position side by side (Eqs. 3, 4).
        target: the label of the queried item.
        query: the pair that the query asks for, counted from 0.
    """

    inputs: Float[Tensor, "batch length width"]
    target: Float[Tensor, "batch dim"]
    query: Int[Tensor, " batch"]


class TokenBatch(NamedTuple):
    """Sequences of 2N distinct tokens in pairs, followed by one of the items again (App. E).

    Attributes:
        tokens: 2N + 1 tokens, from 0 to `vocabulary` - 1.
        positions: the place of each token in the block, from 0 to `block_size` - 1.
        target: the label of the queried item, a token.
    """

    tokens: Int[Tensor, "batch length"]
    positions: Int[Tensor, "batch length"]
    target: Int[Tensor, " batch"]


def swap_halves(vectors: Float[Tensor, "*any dim"]) -> Float[Tensor, "*any dim"]:
    """Row vectors times M, which swaps the two halves of a vector (Eq. 2).

    Args:
        vectors: rows of even width D; an odd width raises no error.

    Returns:
        The rows with their halves swapped.

    Example:
        >>> tasks.swap_halves(torch.tensor([1.0, 2.0, 3.0, 4.0])).tolist()
        [3.0, 4.0, 1.0, 2.0]
    """
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
    """Sequences whose items, labels and positions have independent N(0, 1) entries (Eq. 5).

    Args:
        batch_size: number of sequences, >= 1.
        n_pairs: pairs N in a sequence, >= 1.
        dim: dimension D of an item, label or position, even and >= 2.
        generator: source of the random numbers; its device is that of the batch.
        query: which pair the query asks for: `uniform`, any pair, or `last` (App. B).
        copies: how often each distinct pair occurs, a divisor of N; all pairs come in turn (§7.2).
        dtype: floating-point type of inputs and target.

    Returns:
        A fresh batch, inputs of shape (batch_size, 2N + 1, 2D).

    Raises:
        ValueError: if a number is out of its range or the query rule is unknown.

    Example:
        >>> batch = tasks.gaussian_pairs(5, 3, 4, generator=torch.Generator().manual_seed(0))
        >>> tuple(batch.inputs.shape), tuple(batch.target.shape)
        ((5, 7, 8), (5, 4))
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
    """Sequences with orthonormal items and labels, and orthonormal p_i and Mp_j (Assumption 7).

    Args:
        batch_size: number of sequences, >= 1.
        n_pairs: pairs N in a sequence, >= 1.
        dim: dimension D of an item, label or position, even and >= 2N.
        generator: source of the random numbers; its device is that of the batch.
        query: which pair the query asks for: `last` (App. B) or `uniform`, any pair.
        copies: how often each distinct pair occurs, a divisor of N; all pairs come in turn (§7.2).
        dtype: floating-point type of inputs and target.

    Returns:
        A fresh batch, inputs of shape (batch_size, 2N + 1, 2D), isotropically drawn.

    Raises:
        ValueError: if a number is out of its range or the query rule is unknown.

    Example:
        >>> stream = torch.Generator().manual_seed(0)
        >>> items = tasks.orthonormal_pairs(1, 3, 6, generator=stream).inputs[0, 0:6:2, :6]
        >>> torch.allclose(items @ items.T, torch.eye(3, dtype=torch.float64))
        True
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
    batch_size: int, n_pairs: int, vocabulary: int, block_size: int, *, generator: torch.Generator
) -> TokenBatch:
    """Sequences of 2N distinct tokens in pairs and a query, at a random place (App. E).

    Args:
        batch_size: number of sequences, >= 1.
        n_pairs: pairs N in a sequence, >= 1.
        vocabulary: number of tokens N_E, >= 2N.
        block_size: number of positions N_P, >= 2N + 1.
        generator: source of the random numbers; its device is that of the batch.

    Returns:
        A fresh batch; the query may ask for any pair, and each sequence begins at its own place.

    Raises:
        ValueError: if there is no sequence or no pair, or the vocabulary or the block is too small.

    Example:
        >>> stream = torch.Generator().manual_seed(0)
        >>> tokens, positions, target = tasks.token_pairs(1, 2, 8, 5, generator=stream)
        >>> at = tokens[0, :4].tolist().index(int(tokens[0, 4]))
        >>> positions.tolist(), bool(tokens[0, at + 1] == target[0])
        ([[0, 1, 2, 3, 4]], True)
    """
    _check(batch_size, n_pairs)
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


def _check(batch_size: int, n_pairs: int, dim: int = 2, copies: int = 1) -> None:
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
    if dim >= 2 * count:  # well conditioned: Cholesky's QR is as exact, and quicker
        rows = columns.mT
        for _ in range(2):  # the second time takes away the first one's rounding
            rows = torch.linalg.solve_triangular(
                torch.linalg.cholesky(rows @ rows.mT), rows, upper=False
            )
        return rows
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
