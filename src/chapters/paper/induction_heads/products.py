"""The transformer of §2 in its own directions (Fig. 2): its three matrices during training.

How strongly one band dominates a matrix, among entries that a sequence can reach.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor
from torch.nn.functional import one_hot

from emergence import tasks
from emergence.fast import key_query_products
from emergence.models import AttentionOnlyTransformer, Mask, allowed_positions, attention
from emergence.running.devices import generator
from emergence.tasks import TokenBatch
from emergence.training import TokenTraining, query_logits, train_tokens


class Products(NamedTuple):
    """The complete behaviour of the transformer of §2 in its own directions (Fig. 2).

    With E, P the embeddings and E', P' what the first head writes for them, rows are queries and
    columns keys. `output` has a row a token and columns E, P, E', P' and what the second head
    writes for these four.
    """

    layer1: Float[np.ndarray, "n n"]
    layer2: Float[np.ndarray, "2*n 2*n"]
    output: Float[np.ndarray, "vocabulary 4*n"]


def matrix_blocks(
    matrix: Shaped[np.ndarray, "rows columns"], size: int
) -> Shaped[np.ndarray, "block_rows block_columns size size"]:
    """The square blocks of a matrix, a view; ValueError if its sides are no multiples of `size`."""
    rows, columns = matrix.shape
    if rows % size or columns % size:
        raise ValueError(f"a {rows} x {columns} matrix has no blocks of size {size}")
    return matrix.reshape(rows // size, size, columns // size, size).swapaxes(1, 2)


@torch.no_grad()
def products_of(model: AttentionOnlyTransformer) -> Products:
    """Key-query products and output matrix in the interpretable basis of §2.2."""

    def written(layer: int, basis: Tensor) -> Tensor:
        return model.W_O[layer] @ (model.W_V[layer] @ basis)

    embeddings = torch.cat([model.W_E, model.W_pos], dim=1)
    after_one = torch.cat([embeddings, written(0, embeddings)], dim=1)
    after_two = torch.cat([after_one, written(1, after_one)], dim=1)
    layers = (
        key_query_products(model, basis, i) for i, basis in enumerate((embeddings, after_one))
    )
    parts = (*layers, model.W_U @ after_two)
    return Products(*(part.double().cpu().numpy() for part in parts))


def in_basis(
    description: Products, batch: TokenBatch
) -> tuple[Float[Tensor, "batch length n"], list[Float[Tensor, "rows columns"]]]:
    """Each token as its coefficients in the basis of §2.2, and the three matrices as tensors."""
    matrices = [torch.from_numpy(part).to(batch.tokens.device) for part in description]
    layer1, _, output = matrices
    tokens = one_hot(batch.tokens, len(output))
    positions = one_hot(batch.positions, len(layer1) - len(output))
    return torch.cat([tokens, positions], dim=-1).to(output.dtype), matrices


Pattern = Float[Tensor, "batch length length"]


def described(
    description: Products, batch: TokenBatch, mask: Mask
) -> tuple[Pattern, Pattern, Float[Tensor, "batch vocabulary"]]:
    """Attention of both layers and the query's logits, from the three matrices alone (§2.2).

    Raises ValueError for an unknown mask.
    """
    stream, (layer1, layer2, output) = in_basis(description, batch)
    allowed = allowed_positions(batch.tokens.shape[1], mask, stream.device)
    patterns = []
    for scores in (layer1, layer2):
        patterns.append(attention(stream @ scores @ stream.mT, allowed))
        stream = torch.cat([stream, patterns[-1] @ stream], dim=-1)
    return patterns[0], patterns[1], stream[:, -1] @ output.T


class Attended(NamedTuple):
    """Mean shares of attention, each in [0, 1]."""

    previous: float  # in layer 1, of a label of the context to the item before it
    label: float  # in layer 2, of the query to the label asked for


def attended(description: Products, batch: TokenBatch, mask: Mask) -> Attended:
    """How far the two layers attend to what the induction head should (§2.3)."""
    first, second, _ = described(description, batch, mask)
    labels = torch.arange(1, first.shape[1], 2)
    positions = (batch.tokens[:, :-1] == batch.tokens[:, -1:]).int().argmax(dim=1) + 1
    return Attended(
        float(first[:, labels, labels - 1].mean()),
        float(second[torch.arange(len(second)), -1, positions].mean()),
    )


TEST_SEED = 10_000  # of sequences that no training sees
TEST_SEQUENCES = 32
MOMENTS = 5  # at which the matrices are kept, besides the start
DIRECTIONS = 512  # in which the residual stream is looked at


@dataclass(frozen=True)
class TransformerRun:
    """A training of §2 from one seed."""

    settings: TokenTraining
    seed: int
    device: str = "cpu"


@dataclass(frozen=True)
class Pictures:
    """Keeps the three matrices of Figure 2 every so many steps."""

    every: int

    def __call__(self, model: AttentionOnlyTransformer) -> tuple[np.ndarray, ...]:
        return tuple(products_of(model))


def describe_run(run: TransformerRun) -> dict[str, Any]:
    """Train, and keep the measures of §2 instead of the weights; a run of a sweep.

    Returns:
        `loss` and `accuracy` at each step; `moments`, numbers of updates from 0 to the last, and
        `layer1`, `layer2` and `output`, the three matrices of Figure 2 at each of these; `error`,
        the largest difference on new sequences between the dense network's logits and those of the
        three matrices; `singular`, the `singular_values` of the residual stream on these sequences.
        A run that diverges has a loss of infinity, and no more.
    """
    settings = run.settings
    pictures = Pictures(max(1, settings.steps // MOMENTS))
    try:
        with rounding_to_zero():
            record = train_tokens(
                settings,
                run.seed,
                device=torch.device(run.device),
                read=pictures,
                label=f"transformer, seed {run.seed}",
            )
    except ArithmeticError:
        return {"loss": np.full(settings.steps, np.inf)}
    model = record.model.double()
    few = tasks.TokenBatch(
        *(part.to(run.device) for part in unseen(settings, TEST_SEQUENCES, run.seed))
    )
    exact = query_logits(model, few, settings.mask, "dense").detach()
    *_, known = described(products_of(model), few, settings.mask)
    matrices = zip(*record.readings.values(), strict=True)
    return {
        "loss": record.loss.numpy(),
        "accuracy": record.accuracy.numpy(),
        "moments": np.array(list(record.readings)),
        **dict(zip(Products._fields, map(np.stack, matrices), strict=True)),
        "error": float((known - exact).abs().max()),
        "singular": singular_values(model, few, settings.mask),
    }


@contextmanager
def rounding_to_zero() -> Iterator[None]:
    """Have this thread round denormal numbers, those below 1e-38, to zero.

    Attention that has saturated passes gradients back that are as small. They decide nothing, and
    products of them take several times as long; where training is unstable, last bits differ. A
    processor without that option goes on as it is.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def unseen(settings: TokenTraining, count: int, seed: int) -> tasks.TokenBatch:
    """Sequences that no training sees."""
    return tasks.token_pairs(
        count,
        settings.n_pairs,
        settings.vocabulary,
        settings.block_size,
        generator=generator(TEST_SEED + seed, torch.device("cpu")),
    )


@torch.no_grad()
def singular_values(
    model: AttentionOnlyTransformer, batch: tasks.TokenBatch, mask: Mask
) -> Float[np.ndarray, " values"]:
    """Singular values of the residual stream at every token, before, between and after the layers.

    In decreasing order, along as many random directions as a wide stream has to spare: that leaves
    a rank below their number as it is (§2.2).
    """
    stream = model.residual_stream(batch.tokens, batch.positions, mask=mask)
    vectors = torch.cat([part.flatten(0, 1) for part in stream])
    dim = vectors.shape[1]
    if dim > DIRECTIONS:
        directions = torch.randn(dim, DIRECTIONS, generator=generator(0, torch.device("cpu")))
        vectors = vectors @ directions.to(vectors) / dim**0.5
    return torch.linalg.svdvals(vectors).cpu().numpy()


class Band(NamedTuple):
    """A diagonal (offset 0) or sub-diagonal (-1) of one block of a matrix, by row and column."""

    row: int
    column: int
    offset: int


# §2.3: layer 1 attends to the position before, layer 2 to the token that layer 1 has retrieved,
# the output says the token that layer 2 has retrieved.
HEAD_BANDS = {"layer1": Band(1, 1, -1), "layer2": Band(0, 2, 0), "output": Band(0, 4, 0)}


class Dominance(NamedTuple):
    """How far a band dominates its matrix, entries that no sequence reaches left out.

    `lead` compares with every diagonal of at least half as many entries as the band. An entry
    `decides` if it is the largest of those it competes with in its block: the keys of a query in an
    attention layer, the tokens of a column in the output.
    """

    lead: float  # mean of the band over the root mean square of the next diagonal of any block
    decides: float  # the part of the band's entries that decide
    brightest: float  # the part of the matrix's largest entries, as many as the band's, on the band
    band_share: float  # the band's part of the squared norm of its block
    block_share: float  # the block's part of the squared norm of the matrix


def answering_entries(vocabulary: int, block_size: int, length: int, mask: Mask) -> Products:
    """Which entries of the three matrices of Figure 2 take part in the answer to some query.

    A sequence is a run of `length` positions, placed anywhere in the block, and its last token asks
    (App. E). So positions further apart than a sequence never meet, later ones are masked, one with
    a single key has no choice, and the query is never at one of the first positions. The block has
    at least `length` = 2N + 1 positions, N >= 2. Raises ValueError for an unknown mask.
    """
    sees = allowed_positions(length, mask, torch.device("cpu")).numpy()
    any_token = np.ones(vocabulary, dtype=bool)
    n = vocabulary + block_size
    layer1, layer2 = (np.zeros((k * n, k * n), dtype=bool) for k in (1, 2))
    output = np.zeros((vocabulary, 4 * n), dtype=bool)

    def at(places: np.ndarray) -> np.ndarray:
        """The directions of all tokens and of these positions."""
        return np.concatenate([any_token, np.isin(np.arange(block_size), places)])

    for start in range(block_size - length + 1):
        places = start + np.arange(length)
        for i, keys in enumerate(sees):
            if keys.sum() > 1:
                layer1 |= np.outer(at(places[i]), at(places[keys]))
        keys = sees[-1]
        behind_keys = places[sees[keys].any(axis=0)]  # where layer 1 may have looked from a key
        query = np.concatenate([at(places[-1]), at(places[keys])])
        read_rows = np.concatenate([at(places[keys]), at(behind_keys)])
        layer2 |= np.outer(query, read_rows)
        output |= np.concatenate([query, read_rows])
    return Products(layer1, layer2, output)


def dominance_of(
    matrix: Float[np.ndarray, "rows columns"],
    band: Band,
    reach: Bool[np.ndarray, "rows columns"],
    size: int,
    *,
    columns: bool = False,
) -> Dominance:
    """How far a band dominates a matrix of `Products` with square blocks of this size.

    Only entries within `reach` count; ValueError if none of the band does. Entries compete within a
    row, or within a column where `columns` is true, as tokens do in the output.
    """
    tiles, counted = matrix_blocks(matrix, size), matrix_blocks(reach, size)
    on_band = np.zeros_like(reach)
    matrix_blocks(on_band, size)[band.row, band.column] = np.eye(size, k=band.offset, dtype=bool)
    on_band &= reach
    n_band = int(on_band.sum())
    if not n_band:
        raise ValueError(f"no entry of {band} counts")

    strength = {
        Band(i, j, k): np.sqrt((np.diagonal(tiles[i, j], k)[diagonal] ** 2).mean())
        for i, j in np.ndindex(*tiles.shape[:2])
        for k in range(1 - size, size)
        if Band(i, j, k) != band
        and (diagonal := np.diagonal(counted[i, j], k)).sum() >= max(1, n_band / 2)
    }
    mine, next_one = matrix[on_band].mean(), max(strength.values())

    inside = counted[band.row, band.column]
    block = np.where(inside, tiles[band.row, band.column], -np.inf)
    wanted = matrix_blocks(on_band, size)[band.row, band.column]
    first = block == block.max(axis=0 if columns else 1, keepdims=True)
    sizes = np.where(reach, np.abs(matrix), -np.inf)
    limit = np.sort(sizes, axis=None)[-n_band]
    squares = np.where(reach, matrix, 0.0) ** 2
    block_squares = matrix_blocks(squares, size)[band.row, band.column].sum()
    return Dominance(
        lead=float(mine / next_one) if next_one else np.inf,
        decides=float(first[wanted].mean()),
        brightest=float((sizes[on_band] >= limit).mean()),
        band_share=float(squares[on_band].sum() / block_squares),
        block_share=float(block_squares / squares.sum()),
    )
