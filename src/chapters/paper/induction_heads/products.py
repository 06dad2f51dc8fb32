"""Key-query products and output matrix of the transformer of §2, in its own directions (Fig. 2).

What the model of Figure 2 attends to follows from these matrices alone.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.functional import one_hot

from emergence.fast import key_query_products
from emergence.models import AttentionOnlyTransformer, Mask, allowed_positions, attention
from emergence.tasks import TokenBatch


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


def logits(
    description: Products, batch: TokenBatch, mask: Mask
) -> Float[Tensor, "batch vocabulary"]:
    """The query's logits from the three matrices alone: a token is its coefficients (§2.2)."""
    stream, (layer1, layer2, output) = in_basis(description, batch)
    allowed = allowed_positions(batch.tokens.shape[1], mask, stream.device)
    for scores in (layer1, layer2):
        retrieved = attention(stream @ scores @ stream.mT, allowed) @ stream
        stream = torch.cat([stream, retrieved], dim=-1)
    return stream[:, -1] @ output.T


class Attended(NamedTuple):
    """Mean shares of attention, each in [0, 1]."""

    previous: float  # in layer 1, of a label of the context to the item before it
    label: float  # in layer 2, of the query to the label asked for


def attended(description: Products, batch: TokenBatch, mask: Mask) -> Attended:
    """How far the two layers attend to what the induction head should (§2.3).

    Raises ValueError for an unknown mask.
    """
    stream, (layer1, layer2, _) = in_basis(description, batch)
    length = stream.shape[1]
    allowed = allowed_positions(length, mask, stream.device)
    first = attention(stream @ layer1 @ stream.mT, allowed)
    stream = torch.cat([stream, first @ stream], dim=-1)
    second = attention(stream @ layer2 @ stream.mT, allowed)
    labels = torch.arange(1, length, 2)
    positions = (batch.tokens[:, :-1] == batch.tokens[:, -1:]).int().argmax(dim=1) + 1
    return Attended(
        float(first[:, labels, labels - 1].mean()),
        float(second[torch.arange(len(second)), -1, positions].mean()),
    )
