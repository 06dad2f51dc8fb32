"""The networks of `models`, computed exactly at a fraction of the cost (chapter Cost)."""

import math
from collections.abc import Sequence
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from emergence.models import (
    AttentionOnlyTransformer,
    Mask,
    Weights,
    Windows,
    allowed_positions,
    apply,
    attention,
)
from emergence.running.graphs import constant
from emergence.tasks import swap_halves

__all__ = [
    "attention_only_logits",
    "disentangled_gradient",
    "disentangled_output",
    "induction_head_output",
    "key_query_products",
]


def disentangled_output(
    weights: Weights,
    inputs: Float[Tensor, "*runs batch length width"],
    *,
    mask: Mask = "strict",
    windows: Windows = (None, None),
) -> Float[Tensor, "*runs batch dim"]:
    """The prediction of Eq. 1 from the query's row of layer 2 alone, at a fraction of the cost.

    Args:
        weights, inputs, mask, windows: as `models.disentangled_output` takes them.

    Returns:
        The same prediction up to rounding, differentiable once, with respect to the weights.

    Raises:
        ValueError: if the inputs require a gradient, the mask is unknown or a window is empty.
    """
    if inputs.requires_grad:
        raise ValueError(
            "the fast method has no gradient for inputs; use models.disentangled_output"
        )
    return _DisentangledOutput.apply(*weights, inputs, mask, windows)


def disentangled_gradient(
    weights: Weights,
    inputs: Float[Tensor, "*runs batch length width"],
    target: Float[Tensor, "*runs batch dim"],
    *,
    mask: Mask = "strict",
    windows: Windows = (None, None),
) -> tuple[Float[Tensor, "*runs"], Weights]:
    """The mean squared error of `disentangled_output` and its gradient, without autograd (§4).

    Args:
        weights, inputs, mask, windows: as `models.disentangled_output` takes them.
        target: the labels that the queries ask for.

    Returns:
        The mean over batch and dimensions for each run, and its gradient in the bits of autograd.

    Raises:
        ValueError: if the mask is unknown or a window is empty.
    """
    with torch.no_grad():
        output, saved = _forward(*weights, inputs, mask, windows)
        error = output - target
        loss = error.square().mean(dim=(-2, -1))
        count = error.shape[-2] * error.shape[-1]
        return loss, Weights(*_backward(saved, (error * 2.0).mul_(1 / count), mask))


class _DisentangledOutput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w1, w2, w3, x, mask, windows):
        output, saved = _forward(w1, w2, w3, x, mask, windows)
        ctx.save_for_backward(*saved)
        ctx.mask = mask
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, d_output):
        return *_backward(ctx.saved_tensors, d_output, ctx.mask), None, None, None


def _forward(
    w1: Tensor, w2: Tensor, w3: Tensor, x: Tensor, mask: Mask, windows: Windows
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The prediction, and what the gradient needs."""
    # With T the attention of layer 1, the keys of layer 2 are [X | TX] (chapter Cost). The query's
    # vector [u | v] meets them as Xu + T(Xv) and retrieves [wX | (wT)X], so that T only multiplies
    # single vectors. Its gradient is a sum of two outer products, which the softmax turns into
    # three. Vectors over positions are rows: T multiplies those faster. Under the strict mask
    # nobody attends to the query, so its column is left out, and an even number is left.
    seen = _seen(x, mask)
    columns = seen.mT.contiguous()
    pattern = _pattern(apply(x, w1) @ columns, mask, windows[0])
    query = torch.cat([x[..., -1:, :], pattern[..., -1:, :] @ seen], dim=-1)
    xu, xv = (_halves(apply(query, w2)) @ columns).split(1, dim=-2)
    through_pattern = xv @ _seen(pattern, mask).mT
    scores = xu + through_pattern
    if windows[1] is None:
        w = scores.softmax(dim=-1)  # the query sees all that is left
    else:
        allowed = allowed_positions(x.shape[-2], mask, x.device, windows[1])
        w = attention(scores, allowed[-1:, : through_pattern.shape[-1]])
    stream = torch.cat([query, _both(w, _seen(pattern, mask), seen)], dim=-1)
    output = apply(stream, w3).squeeze(-2)
    return output, (w2, w3, x, columns, pattern, query, xv, through_pattern, w, stream)


def _backward(
    kept: Sequence[Tensor], d_output: Float[Tensor, "*runs batch dim"], mask: Mask
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient of the three matrices."""
    w2, w3, x, columns, pattern, query, xv, through_pattern, w, stream = kept
    width = x.shape[-1]
    seen, keys = _seen(x, mask), _seen(pattern, mask)
    d_output = d_output.unsqueeze(-2)
    d_query, d_retrieved = apply(d_output, w3.mT).split(2 * width, dim=-1)
    d_w, d_wt = (_halves(d_retrieved) @ columns).split(1, dim=-2)
    through = d_wt @ keys.mT
    d_w = d_w + through
    d_scores = w * (d_w - (w * d_w).sum(dim=-1, keepdim=True))
    d_looking_for = _both(d_scores, keys, seen)
    d_query = d_query + apply(d_looking_for, w2.mT)

    # dT = w (x) d_wt + d_scores (x) xv, and the softmax subtracts its mean under each row of T
    mean = w * through + d_scores * through_pattern
    left = torch.cat([w, d_scores, mean], dim=-2)
    right = torch.cat([d_wt, xv, constant(-1.0, x.device, x.dtype).expand_as(xv)], dim=-2)
    if unseen := x.shape[-2] - seen.shape[-2]:
        zeros = constant(0.0, x.device, x.dtype).expand(*left.shape[:-1], unseen)
        left = torch.cat([left, zeros], dim=-1)
    d_pattern = left.mT @ right
    d_last = d_query[..., width:] @ columns
    last = pattern[..., -1:, :]
    d_pattern[..., -1:, :] += d_last - (last * d_last).sum(dim=-1, keepdim=True)
    d_pattern *= pattern
    return _outer(x, d_pattern @ seen), _outer(query, d_looking_for), _outer(stream, d_output)


def _seen(positions: Float[Tensor, "*any length n"], mask: Mask) -> Float[Tensor, "*any seen n"]:
    """The positions that some position may look at."""
    return positions[..., :-1, :] if mask == "strict" else positions


def _pattern(
    scores: Float[Tensor, "*any length seen"], mask: Mask, window: int | None = None
) -> Float[Tensor, "*any length seen"]:
    """`models.attention` of a whole layer; overwrites the scores."""
    scores += _hidden(scores.shape[-2:], mask, window, scores.device, scores.dtype)
    pattern = scores.softmax(dim=-1)
    if mask == "strict":
        pattern[..., 0, :] = 0  # nothing to look at
    return pattern


@cache
def _hidden(
    shape: torch.Size, mask: Mask, window: int | None, device: torch.device, dtype: torch.dtype
) -> Float[Tensor, "length seen"]:
    """What hides positions from one another when it is added to scores."""
    allowed = allowed_positions(shape[0], mask, device, window)[:, : shape[1]]
    zeros = torch.zeros(shape, device=device, dtype=dtype)
    return zeros.masked_fill_(~allowed, torch.finfo(dtype).min)


def _halves(rows: Float[Tensor, "*any 1 n"]) -> Float[Tensor, "*any 2 n/2"]:
    """The two halves of a row, one above the other."""
    return rows.unflatten(-1, (2, -1)).squeeze(-3)


def _both(
    row: Float[Tensor, "*any 1 seen"],
    pattern: Float[Tensor, "*any seen seen"],
    x: Float[Tensor, "*any seen width"],
) -> Float[Tensor, "*any 1 2*width"]:
    """What a row over positions retrieves from [X | TX]."""
    return (torch.cat([row, row @ pattern], dim=-2) @ x).flatten(-2).unsqueeze(-2)


def _outer(
    left: Float[Tensor, "*runs batch length n"], right: Float[Tensor, "*runs batch length m"]
) -> Float[Tensor, "*runs n m"]:
    """The gradient of a matrix that `apply` multiplied with `left`."""
    return left.flatten(-3, -2).mT @ right.flatten(-3, -2)


def induction_head_output(
    pseudo: Float[Tensor, "*runs 3"],
    inputs: Float[Tensor, "*runs batch length width"],
    *,
    mask: Mask = "strict",
) -> Float[Tensor, "*runs batch dim"]:
    """The prediction of Eq. 1 where only alpha_3, beta_2 and gamma_3 are not zero (§6).

    Args:
        pseudo: alpha_3, beta_2 and gamma_3, of one network or of several runs.
        inputs, mask: as `models.disentangled_output` takes them.

    Returns:
        The prediction at the query item, differentiable once, with respect to the three.

    Raises:
        ValueError: if the inputs require a gradient or the mask is unknown.
    """
    # Positions alone steer layer 1, contents alone layer 2 and the output: no weight is formed.
    if inputs.requires_grad:
        raise ValueError(
            "the fast method has no gradient for inputs; use models.disentangled_output"
        )
    alpha, beta, gamma = pseudo[..., None, None, None, :].unbind(dim=-1)
    content, position = _seen(inputs, mask).chunk(2, dim=-1)
    places = position @ swap_halves(position).mT.contiguous()
    pattern = _pattern(alpha.detach() * places, mask)
    similarity = inputs[..., -1:, : content.shape[-1]] @ content.mT
    attended = similarity @ pattern.mT
    # The derivative by alpha is a covariance under T, so that autograd needs no square array.
    weighted = places * pattern
    slope = similarity @ weighted.mT - attended * weighted.sum(dim=-1)[..., None, :]
    attended = attended + slope * (alpha - alpha.detach())
    w = (beta * attended).softmax(dim=-1)  # the query sees all that is left
    return (gamma * (w @ content)).squeeze(-2)


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
