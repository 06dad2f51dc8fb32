"""The disentangled transformer of Eq. 1, computed from the query's row of layer 2 alone."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from emergence.models import Mask, Weights, Windows, allowed_positions, apply, attention
from emergence.tasks import swap_halves


def disentangled_output(
    weights: Weights,
    inputs: Float[Tensor, "*runs batch length width"],
    *,
    mask: Mask = "strict",
    windows: Windows = (None, None),
) -> Float[Tensor, "*runs batch dim"]:
    """The prediction of Eq. 1 from the query's row of layer 2 alone, at a fraction of the cost.

    Args:
        weights: the 28 D^2 weights, of one network or of several runs.
        inputs: sequences of 2N + 1 rows of width 2D (Eqs. 3, 4), of the device and type of the
            weights; each run has its own.
        mask: `strict`, where a position does not attend to itself (App. B.2), or `causal`, where it
            does.
        windows: how many positions back a row of layers 1 and 2 attends, >= 1 each; None for all.

    Returns:
        The prediction at the query item, equal to `models.disentangled_output` up to rounding.
        Differentiable once, and with respect to the weights.

    Raises:
        ValueError: if the inputs require a gradient, the mask is unknown or a window is empty.

    Example:
        >>> stream = torch.Generator().manual_seed(0)
        >>> inputs = tasks.gaussian_pairs(3, 2, 4, generator=stream).inputs
        >>> head = subspace.PseudoParameters(torch.ones(3), torch.ones(12), torch.ones(4))
        >>> weights = models.Weights(*(part.double() for part in subspace.embed(head, 4)))
        >>> dense = models.disentangled_output(weights, inputs)
        >>> torch.allclose(fast.disentangled_output(weights, inputs), dense)
        True
    """
    if inputs.requires_grad:
        raise ValueError(
            "the fast method has no gradient for inputs; use models.disentangled_output"
        )
    return _DisentangledOutput.apply(*weights, inputs, mask, windows)


class _DisentangledOutput(torch.autograd.Function):
    """With T the attention of layer 1, the keys of layer 2 are [X | TX] (chapter Cost).

    The query's vector [u | v] meets them as Xu + T(Xv) and retrieves [wX | (wT)X], so that T only
    multiplies single vectors. Its gradient is therefore a sum of two outer products, which the
    softmax turns into three. Vectors over positions are rows: T multiplies those faster.

    Under the strict mask nobody looks at the query, so its column is left out: T has one row more
    than columns, and what is left, an even number, also suits the processor.
    """

    @staticmethod
    def forward(ctx, w1, w2, w3, x, mask, windows):
        seen = _seen(x, mask)
        columns = seen.mT.contiguous()
        pattern = _pattern(apply(x, w1) @ columns, mask, windows[0])
        query = torch.cat([x[..., -1:, :], pattern[..., -1:, :] @ seen], dim=-1)
        xu, xv = (_halves(apply(query, w2)) @ columns).split(1, dim=-2)
        found = xv @ _seen(pattern, mask).mT
        allowed = allowed_positions(x.shape[-2], mask, x.device, windows[1])
        w = attention(xu + found, allowed[-1:, : found.shape[-1]])
        stream = torch.cat([query, _both(w, _seen(pattern, mask), seen)], dim=-1)
        ctx.save_for_backward(w2, w3, x, columns, pattern, query, xv, found, w, stream)
        ctx.mask = mask
        return apply(stream, w3).squeeze(-2)

    @staticmethod
    @once_differentiable
    def backward(ctx, d_output):
        w2, w3, x, columns, pattern, query, xv, found, w, stream = ctx.saved_tensors
        width = x.shape[-1]
        seen, keys = _seen(x, ctx.mask), _seen(pattern, ctx.mask)
        d_output = d_output.unsqueeze(-2)
        d_query, d_retrieved = apply(d_output, w3.mT).split(2 * width, dim=-1)
        d_w, d_wt = (_halves(d_retrieved) @ columns).split(1, dim=-2)
        through = d_wt @ keys.mT
        d_w = d_w + through
        d_scores = w * (d_w - (w * d_w).sum(dim=-1, keepdim=True))
        d_looking_for = _both(d_scores, keys, seen)
        d_query = d_query + apply(d_looking_for, w2.mT)

        # dT = w (x) d_wt + d_scores (x) xv, and the softmax subtracts its mean under each row of T
        mean = w * through + d_scores * found
        left = torch.cat([w, d_scores, -mean], dim=-2)
        right = torch.cat([d_wt, xv, torch.ones_like(xv)], dim=-2)
        left = torch.nn.functional.pad(left, (0, x.shape[-2] - seen.shape[-2]))
        d_pattern = left.mT @ right
        d_last = d_query[..., width:] @ columns
        last = pattern[..., -1:, :]
        d_pattern[..., -1:, :] += d_last - (last * d_last).sum(dim=-1, keepdim=True)
        d_pattern *= pattern
        return (
            _outer(x, d_pattern @ seen), _outer(query, d_looking_for), _outer(stream, d_output),
            None, None, None,
        )  # fmt: skip


def _seen(positions: Float[Tensor, "*any length n"], mask: Mask) -> Float[Tensor, "*any seen n"]:
    """The positions that some position may look at."""
    return positions[..., :-1, :] if mask == "strict" else positions


def _pattern(
    scores: Float[Tensor, "*any length seen"], mask: Mask, window: int | None = None
) -> Float[Tensor, "*any length seen"]:
    """`models.attention` of a whole layer; overwrites the scores."""
    length, seen = scores.shape[-2:]
    allowed = allowed_positions(length, mask, scores.device, window)[:, :seen]
    scores += torch.zeros_like(allowed, dtype=scores.dtype).masked_fill_(
        ~allowed, torch.finfo(scores.dtype).min
    )
    pattern = scores.softmax(dim=-1)
    if mask == "strict":
        pattern[..., 0, :] = 0  # nothing to look at
    return pattern


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
        inputs: sequences of 2N + 1 rows of width 2D (Eqs. 3, 4), of the device and type of the
            pseudo-parameters; each run has its own.
        mask: `strict`, where a position does not attend to itself (App. B.2), or `causal`, where it
            does.

    Returns:
        The prediction at the query item. Differentiable once, and with respect to the three.

    Raises:
        ValueError: if the inputs require a gradient or the mask is unknown.

    Example:
        >>> stream = torch.Generator().manual_seed(0)
        >>> batch = tasks.orthonormal_pairs(3, 2, 4, generator=stream)
        >>> head = torch.tensor([20.0, 40.0, 1.0], dtype=torch.float64)  # all attention in place
        >>> torch.allclose(fast.induction_head_output(head, batch.inputs), batch.target)
        True
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
    found = similarity @ pattern.mT
    # The derivative by alpha is a covariance under T, so that autograd needs no square array.
    weighted = places * pattern
    slope = similarity @ weighted.mT - found * weighted.sum(dim=-1)[..., None, :]
    found = found + slope * (alpha - alpha.detach())
    allowed = allowed_positions(inputs.shape[-2], mask, inputs.device)
    w = attention(beta * found, allowed[-1:, : found.shape[-1]])
    return (gamma * (w @ content)).squeeze(-2)
