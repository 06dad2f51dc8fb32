"""Which network? The disentangled transformer (Eq. 1) and the attention-only one (§2.1)."""

from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

Mask = Literal["strict", "causal"]
Windows = tuple[int | None, int | None]  # how many positions back a row of layer 1 and 2 sees


class Weights(NamedTuple):
    """The 28 D^2 weights of Eq. 1; leading dimensions, if any, count independent runs."""

    w1: Float[Tensor, "*runs 2*dim 2*dim"]
    w2: Float[Tensor, "*runs 4*dim 4*dim"]
    w3: Float[Tensor, "*runs 8*dim dim"]


def allowed_positions(
    length: int, mask: Mask, device: torch.device, window: int | None = None
) -> Bool[Tensor, "length length"]:
    """Who may look at whom: `strict` excludes the position itself (App. B.2).

    A window limits how many positions back a row sees; ValueError for one of none.
    """
    if mask not in get_args(Mask):
        raise ValueError(f"mask must be one of {get_args(Mask)}, got {mask!r}")
    if window is not None and window < 1:
        raise ValueError(f"a window shows at least one position, got {window}")
    ones = torch.ones(length, length, dtype=torch.bool, device=device)
    allowed = ones.tril(-1 if mask == "strict" else 0)
    return allowed if window is None else allowed.triu(-window)


def attention(
    scores: Float[Tensor, "*any queries keys"], allowed: Bool[Tensor, "queries keys"]
) -> Float[Tensor, "*any queries keys"]:
    """Softmax over the allowed keys; a query that may look at nothing retrieves the zero vector."""
    lowest = torch.finfo(scores.dtype).min  # finite, so that an empty row gives no NaN
    return scores.masked_fill(~allowed, lowest).softmax(dim=-1) * allowed


def disentangled_output(
    weights: Weights,
    inputs: Float[Tensor, "*runs batch length width"],
    *,
    mask: Mask = "strict",
    windows: Windows = (None, None),
) -> Float[Tensor, "*runs batch dim"]:
    """The prediction at the query item, computed as Eq. 1 is written."""
    x = inputs
    first, second = (allowed_positions(x.shape[-2], mask, x.device, w) for w in windows)
    h1 = torch.cat([x, attention(apply(x, weights.w1) @ x.mT, first) @ x], dim=-1)
    h2 = torch.cat([h1, attention(apply(h1, weights.w2) @ h1.mT, second) @ h1], dim=-1)
    return apply(h2, weights.w3)[..., -1, :]


def apply(
    rows: Float[Tensor, "*runs batch length n"], weight: Float[Tensor, "*runs n m"]
) -> Float[Tensor, "*runs batch length m"]:
    """Multiply every row by its run's matrix: one large product a run."""
    return (rows.flatten(-3, -2) @ weight).unflatten(-2, rows.shape[-3:-1])


class AttentionOnlyTransformer(nn.Module):
    """Two attention layers of one head each and an output layer, without MLP, norm or bias (§2.1).

    W_E and W_pos are the paper's E and P, W_U its W_o; W_Q, W_K, W_V, W_O have a matrix a layer.
    Linear maps start at PyTorch's default, U(-1/sqrt(D), 1/sqrt(D)); token and positional
    embeddings at N(0, embedding_scale^2). The paper gives neither.
    """

    def __init__(
        self,
        dim: int,
        vocabulary: int,
        block_size: int,
        *,
        embedding_scale: float,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        make = {"generator": generator, "device": generator.device}
        self.W_E = nn.Parameter(embedding_scale * torch.randn(dim, vocabulary, **make))
        self.W_pos = nn.Parameter(embedding_scale * torch.randn(dim, block_size, **make))
        bound = dim**-0.5

        def linear(rows: int) -> nn.Parameter:
            return nn.Parameter((2 * torch.rand(rows, dim, **make) - 1) * bound)

        self.W_Q, self.W_K, self.W_V, self.W_O = (
            nn.ParameterList(linear(dim) for _ in range(2)) for _ in range(4)
        )
        self.W_U = linear(vocabulary)

    def forward(
        self,
        tokens: Int[Tensor, "batch length"],
        positions: Int[Tensor, "batch length"],
        *,
        mask: Mask = "causal",
    ) -> Float[Tensor, "batch length vocabulary"]:
        """Next-token logits at every position, computed token by token."""
        allowed = allowed_positions(tokens.shape[1], mask, tokens.device)
        stream = self.W_E.T[tokens] + self.W_pos.T[positions]
        for w_q, w_k, w_v, w_o in zip(self.W_Q, self.W_K, self.W_V, self.W_O, strict=True):
            scores = (stream @ w_q.T) @ (stream @ w_k.T).mT * w_q.shape[0] ** -0.5
            stream = stream + attention(scores, allowed) @ stream @ w_v.T @ w_o.T
        return stream @ self.W_U.T
