"""The attention-only transformer of §2, computed in the span of its embeddings."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.models import AttentionOnlyTransformer, Mask, allowed_positions, attention

ROW_BLOCKS = 4  # of a large matrix that meets a few columns


def attention_only_logits(
    model: AttentionOnlyTransformer,
    tokens: Int[Tensor, "batch length"],
    positions: Int[Tensor, "batch length"],
    *,
    mask: Mask = "causal",
    rows: slice = slice(None),
) -> Float[Tensor, "batch rows vocabulary"]:
    """The logits of `AttentionOnlyTransformer` at some positions, from its own subspace (§2.2).

    Args:
        model: the network of §2.1, on the device of the tokens.
        tokens, positions, mask: as its `forward` takes them.
        rows: the positions at which logits are returned, a slice of 0 to `length` - 1.

    Returns:
        The network's logits up to rounding, differentiable any number of times in the weights.

    Raises:
        ValueError: if the mask is unknown.
    """
    # The residual stream never leaves the span of the embeddings and of what the heads make of
    # them. Every matrix is applied to those basis columns once instead of to each token, and a
    # token is the vector of its coefficients; gradients of the full matrices follow by autograd.
    embeddings = torch.cat([model.W_E, model.W_pos], dim=1)
    n_tokens = model.W_E.shape[1]
    x = embeddings.new_zeros(*tokens.shape, embeddings.shape[1])
    x.scatter_(-1, tokens[..., None], 1.0)
    x.scatter_(-1, n_tokens + positions[..., None], 1.0)

    allowed = allowed_positions(tokens.shape[1], mask, tokens.device)
    pattern = attention(x @ key_query_products(model, embeddings, 0) @ x.mT, allowed)
    written = _times_few(model.W_O[0], _times_few(model.W_V[0], embeddings))
    basis = torch.cat([embeddings, written], dim=1)

    # Layer 2 is needed at the wanted rows only. Its keys are [X | TX], with T the pattern of
    # layer 1, which only multiplies vectors over positions, as in `disentangled_output`.
    wanted = torch.cat([x[:, rows], pattern[:, rows] @ x], dim=-1)
    to_x, to_tx = (wanted @ key_query_products(model, basis, 1)).chunk(2, dim=-1)
    scores = to_x @ x.mT + to_tx @ x.mT @ pattern.mT
    w = attention(scores, allowed[rows])
    retrieved = torch.cat([w @ x, w @ pattern @ x], dim=-1)

    # Multiplied from the left, the last three matrices meet as many rows as there are tokens.
    read = model.W_U @ model.W_O[1] @ model.W_V[1]
    return wanted @ (model.W_U @ basis).T + retrieved @ (read @ basis).T


def key_query_products(
    model: AttentionOnlyTransformer, basis: Float[Tensor, "dim columns"], layer: int
) -> Float[Tensor, "columns columns"]:
    """The attention scores of a layer between vectors of the residual stream (§2.2).

    Args:
        model: the network of §2.1.
        basis: vectors of the residual stream, one a column.
        layer: 0 or 1.

    Returns:
        Entry (i, j) is the score of query i with key j, divided by sqrt(D) if the network does so.

    Raises:
        IndexError: if the network does not have this layer.
    """
    query, key = model.W_Q[layer], model.W_K[layer]
    return _times_few(query, basis).T @ _times_few(key, basis) * model.score_scale


def _times_few(
    matrix: Float[Tensor, "dim dim"], columns: Float[Tensor, "dim few"]
) -> Float[Tensor, "dim few"]:
    """A large square matrix times a few columns, in the layouts that BLAS multiplies fastest."""
    # blocks of rows forward, and a product from the left in the gradient of the columns
    return _TimesFew.apply(matrix, columns)


class _TimesFew(torch.autograd.Function):
    @staticmethod
    def forward(ctx, matrix, columns):
        ctx.save_for_backward(matrix, columns)
        n_blocks = math.gcd(len(matrix), ROW_BLOCKS)
        blocks = matrix.unflatten(0, (n_blocks, -1))
        return torch.bmm(blocks, columns.expand(n_blocks, -1, -1)).flatten(0, 1)

    @staticmethod
    def backward(ctx, d_product):
        matrix, columns = ctx.saved_tensors
        return d_product @ columns.T, (d_product.T @ matrix).T
