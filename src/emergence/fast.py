"""The same networks, exactly, at a fraction of the cost."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .models import (
    AttentionOnlyTransformer,
    Mask,
    Weights,
    allowed_positions,
    apply,
    attention,
)
from .tasks import swap_halves


def disentangled_output(
    weights: Weights,
    inputs: Float[Tensor, "*runs batch length width"],
    *,
    mask: Mask = "strict",
) -> Float[Tensor, "*runs batch dim"]:
    """The prediction of Eq. 1 from the query's row of layer 2 alone.

    With T the attention of layer 1, the keys of layer 2 are [X | TX]; their product with the
    query's vector [u | v] is Xu + T(Xv), so that neither TX nor a square second layer is formed.
    """
    x = inputs
    allowed = allowed_positions(x.shape[-2], mask, x.device)
    pattern = attention(apply(x, weights.w1) @ x.mT, allowed)
    query = torch.cat([x[..., -1:, :], pattern[..., -1:, :] @ x], dim=-1)
    looking_for = apply(query, weights.w2)
    u, v = looking_for.chunk(2, dim=-1)
    scores = u @ x.mT + (v @ x.mT) @ pattern.mT
    weights_of_keys = attention(scores, allowed[-1:])
    retrieved = torch.cat([weights_of_keys @ x, weights_of_keys @ pattern @ x], dim=-1)
    return apply(torch.cat([query, retrieved], dim=-1), weights.w3).squeeze(-2)


def induction_head_output(
    pseudo: Float[Tensor, "*runs 3"],
    inputs: Float[Tensor, "*runs batch length width"],
    *,
    mask: Mask = "strict",
) -> Float[Tensor, "*runs batch dim"]:
    """The prediction of Eq. 1 where only alpha_3, beta_2 and gamma_3 are not zero (§6).

    Positions alone steer layer 1, contents alone layer 2 and the output: no weight is formed.
    """
    alpha, beta, gamma = pseudo[..., None, None, None, :].unbind(dim=-1)
    content, position = inputs.chunk(2, dim=-1)
    allowed = allowed_positions(inputs.shape[-2], mask, inputs.device)
    pattern = attention(alpha * (position @ swap_halves(position).mT), allowed)
    scores = beta * (content[..., -1:, :] @ content.mT) @ pattern.mT
    return (gamma * (attention(scores, allowed[-1:]) @ content)).squeeze(-2)


def attention_only_logits(
    model: AttentionOnlyTransformer,
    tokens: Int[Tensor, "batch length"],
    positions: Int[Tensor, "batch length"],
    *,
    mask: Mask = "causal",
    rows: slice = slice(None),
) -> Float[Tensor, "batch rows vocabulary"]:
    """The logits of `AttentionOnlyTransformer` at the positions in `rows`, in its own subspace.

    The residual stream never leaves the span of the embeddings and of what the heads make of
    them (§2.2). Every matrix is applied to those basis columns once instead of to each token, and
    a token is the vector of its coefficients; gradients of the full matrices follow by autograd.
    """
    allowed = allowed_positions(tokens.shape[1], mask, tokens.device)
    embeddings = torch.cat([model.tokens, model.positions], dim=1)
    n_tokens = model.tokens.shape[1]
    stream = embeddings.new_zeros(*tokens.shape, embeddings.shape[1])
    stream.scatter_(-1, tokens[..., None], 1.0)
    stream.scatter_(-1, n_tokens + positions[..., None], 1.0)

    scores = stream @ key_query_products(model, embeddings, 0) @ stream.mT
    stream = torch.cat([stream, attention(scores, allowed) @ stream], dim=-1)
    written = model.project[0] @ (model.value[0] @ embeddings)
    basis = torch.cat([embeddings, written], dim=1)

    # Layer 2 is needed at the wanted rows only, and its output only as logits: multiplied from
    # the left, the last three matrices are applied to as many rows as there are tokens.
    scores = stream[:, rows] @ key_query_products(model, basis, 1) @ stream.mT
    retrieved = attention(scores, allowed[rows]) @ stream
    read = model.output @ model.project[1] @ model.value[1]
    return stream[:, rows] @ (model.output @ basis).T + retrieved @ (read @ basis).T


def key_query_products(
    model: AttentionOnlyTransformer, basis: Float[Tensor, "dim columns"], layer: int
) -> Float[Tensor, "columns columns"]:
    """Scores between basis vectors: entry (i, j) is what i, the query, pays to j, the key."""
    query, key = model.query[layer], model.key[layer]
    return (query @ basis).T @ (key @ basis) * query.shape[0] ** -0.5
