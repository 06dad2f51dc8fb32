"""Gaussian, orthonormal and token item-label pairs (§3.2, Assumption 7, App. E)."""

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

Query = Literal["uniform", "last"]
Streams = torch.Generator | Sequence[torch.Generator]  # several: one per run, on one device


class Batch(NamedTuple):
    """Sequences of N item-label pairs and a query item, with the label to predict (§3.2).

    Attributes:
        inputs: 2N + 1 rows of width 2D, content and position side by side (Eqs. 3, 4).
        target: the label of the queried item.
        query: the pair that the query asks for, counted from 0.
    """

    inputs: Float[Tensor, "*runs batch length width"]
    target: Float[Tensor, "*runs batch dim"]
    query: Int[Tensor, "*runs batch"]


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
    """
    return vectors.roll(vectors.shape[-1] // 2, dims=-1)


def gaussian_pairs(
    batch_size: int,
    n_pairs: int,
    dim: int,
    *,
    generator: Streams,
    query: Query = "uniform",
    copies: int = 1,
    dtype: torch.dtype = torch.float64,
) -> Batch:
    """Sequences whose items, labels and positions have independent N(0, 1) entries (Eq. 5).

    Args:
        batch_size: number of sequences, >= 1.
        n_pairs: pairs N in a sequence, >= 1.
        dim: dimension D of an item, label or position, even and >= 2.
        generator: source of the random numbers, on the device of the batch; several make one each.
        query: which pair the query asks for: `uniform`, any pair, or `last` (App. B).
        copies: how often each distinct pair occurs, a divisor of N; all pairs come in turn (§7.2).
        dtype: floating-point type of inputs and target.

    Returns:
        A fresh batch, inputs of shape (batch_size, 2N + 1, 2D), or several with runs first.

    Raises:
        ValueError: if a number is out of its range or the query rule is unknown.
    """
    _check(batch_size, n_pairs, dim, copies)
    streams = [generator] if isinstance(generator, torch.Generator) else generator
    device, distinct = streams[0].device, n_pairs // copies
    draws = torch.empty(len(streams), 3, batch_size, n_pairs, dim, device=device, dtype=dtype)
    chosen = draws.new_empty(len(streams), batch_size, dtype=torch.long)
    for draw, which, stream in zip(draws, chosen, streams, strict=True):
        draw.normal_(generator=stream)
        _choose(which, distinct, query, stream)
    items, labels = draws[:, :2, :, :distinct].unbind(dim=1)
    batch = _assemble(items, labels, draws[:, 2], chosen)
    return batch if streams is generator else Batch(*(part[0] for part in batch))


def orthonormal_pairs(
    batch_size: int,
    n_pairs: int,
    dim: int,
    *,
    generator: Streams,
    query: Query = "last",
    copies: int = 1,
    dtype: torch.dtype = torch.float64,
) -> Batch:
    """Sequences with orthonormal items and labels, and orthonormal p_i and Mp_j (Assumption 7).

    Args:
        batch_size, n_pairs, generator, copies, dtype: as `gaussian_pairs` takes them.
        dim: dimension D of an item, label or position, even and >= 2N.
        query: which pair the query asks for: `last` (App. B) or `uniform`, any pair.

    Returns:
        A fresh batch, isotropic, of shape (batch_size, 2N + 1, 2D), or several with runs first.

    Raises:
        ValueError: if a number is out of its range or the query rule is unknown.
    """
    _check(batch_size, n_pairs, dim, copies)
    if dim < 2 * n_pairs:
        raise ValueError(f"orthonormal pairs need D >= 2N, got D = {dim} and N = {n_pairs}")
    if not isinstance(generator, torch.Generator):
        sample = partial(orthonormal_pairs, batch_size, n_pairs, dim, query=query, copies=copies)
        each = [sample(generator=stream, dtype=dtype) for stream in generator]
        return Batch(*map(torch.stack, zip(*each, strict=True)))
    distinct = n_pairs // copies
    values = _orthonormal_rows(batch_size, 2 * distinct, dim, generator, dtype)
    # M has eigenvalues +1 and -1, each on D/2 dimensions. With orthogonal parts of squared norm 1/2
    # in both eigenspaces, p_i.p_j = 1/2 + 1/2 and p_i.Mp_j = 1/2 - 1/2 for i = j, and 0 otherwise.
    even = _orthonormal_rows(batch_size, n_pairs, dim // 2, generator, dtype)
    odd = _orthonormal_rows(batch_size, n_pairs, dim // 2, generator, dtype)
    positions = torch.cat([even + odd, even - odd], dim=-1) / 2
    chosen = _choose(values.new_empty(batch_size, dtype=torch.long), distinct, query, generator)
    return _assemble(values[:, :distinct], values[:, distinct:], positions, chosen)


def token_pairs(
    batch_size: int, n_pairs: int, vocabulary: int, block_size: int, *, generator: torch.Generator
) -> TokenBatch:
    """Sequences of 2N distinct tokens in pairs and a query, at a random place (App. E).

    Args:
        batch_size, n_pairs: as `gaussian_pairs` takes them.
        vocabulary: number of tokens N_E, >= 2N.
        block_size: number of positions N_P, >= 2N + 1.
        generator: source of the random numbers; its device is that of the batch.

    Returns:
        A fresh batch; the query may ask for any pair, and each sequence begins at its own place.

    Raises:
        ValueError: if there is no sequence or no pair, or the vocabulary or the block is too small.
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
    chosen = torch.randint(n_pairs, (batch_size, 1), generator=generator, device=device)
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


def _choose(
    chosen: Int[Tensor, " batch"], n_pairs: int, query: Query, generator: torch.Generator
) -> Int[Tensor, " batch"]:
    """Fill in which pairs the queries ask for."""
    if query == "uniform":
        return chosen.random_(0, n_pairs, generator=generator)
    if query == "last":
        return chosen.fill_(n_pairs - 1)
    raise ValueError(f"query must be one of {get_args(Query)}, got {query!r}")


def _assemble(
    items: Float[Tensor, "*runs batch distinct dim"],
    labels: Float[Tensor, "*runs batch distinct dim"],
    positions: Float[Tensor, "*runs batch pairs dim"],
    chosen: Int[Tensor, "*runs batch"],
) -> Batch:
    """Lay the pairs out as Eqs. 3 and 4 say; the query carries no positional embedding."""
    *lead, n_pairs, dim = positions.shape
    places = chosen[..., None, None].expand(*lead, 1, dim)
    item, target = (part.gather(-2, places).squeeze(-2) for part in (items, labels))
    if (copies := n_pairs // items.shape[-2]) > 1:
        items, labels = (torch.cat([part] * copies, dim=-2) for part in (items, labels))
    inputs = items.new_empty(*lead, 2 * n_pairs + 1, 2 * dim)
    inputs[..., 0:-1:2, :dim] = items
    inputs[..., 0:-1:2, dim:] = positions
    inputs[..., 1:-1:2, :dim] = labels
    inputs[..., 1:-1:2, dim:] = swap_halves(positions)
    inputs[..., -1, :dim] = item
    inputs[..., -1, dim:] = 0
    return Batch(inputs, target, chosen)


def _orthonormal_rows(
    batch_size: int, count: int, dim: int, generator: torch.Generator, dtype: torch.dtype
) -> Float[Tensor, "batch count dim"]:
    """Orthonormal rows, isotropically drawn (Assumption 7); count <= dim."""
    columns = torch.randn(
        batch_size, dim, count, generator=generator, device=generator.device, dtype=dtype
    )
    if dim >= 2 * count:  # well conditioned: Cholesky's QR is as exact, and quicker
        rows = columns.mT
        for _ in range(2):  # the second time takes away the first one's rounding
            root = torch.linalg.cholesky_ex(rows @ rows.mT).L  # without a look at its success
            rows = torch.linalg.solve_triangular(root, rows, upper=False)
        return rows
    q, r = torch.linalg.qr(columns)
    # LAPACK fixes the signs of r's diagonal; q is isotropic when they are positive instead.
    return (q * r.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]).mT
