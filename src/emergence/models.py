"""The disentangled transformer (Eq. 1) and the attention-only transformer (§2.1)."""

from typing import Any, Literal, NamedTuple, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

Mask = Literal["strict", "causal"]
Maps = Literal["default", "normal", "xavier"]
Windows = tuple[int | None, int | None]  # how many positions back a row of layer 1 and 2 sees
NORMAL_SCALE = 0.02  # of GPT-2's initial weights


class Weights(NamedTuple):
    """The 28 D^2 weights of the disentangled transformer (Eq. 1), of one network or several runs.

    Attributes:
        w1: layer 1's scores between two rows of width 2D.
        w2: layer 2's scores between two rows of width 4D.
        w3: the output, from a row of width 8D.
    """

    w1: Float[Tensor, "*runs 2*dim 2*dim"]
    w2: Float[Tensor, "*runs 4*dim 4*dim"]
    w3: Float[Tensor, "*runs 8*dim dim"]


def allowed_positions(
    length: int, mask: Mask, device: torch.device, window: int | None = None
) -> Bool[Tensor, "length length"]:
    """The attention mask: which positions (columns) a position (row) may attend to (App. B.2).

    Args:
        length: number of positions.
        mask: `strict`, where a position does not attend to itself, or `causal`, where it does.
        device: where the mask lives.
        window: how many positions back a row attends, >= 1; None for all.

    Raises:
        ValueError: if the mask is unknown or a window is empty.
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
    """The softmax over the allowed keys (Eq. 1).

    Args:
        scores: the score of each query (row) with each key (column), before the mask.
        allowed: the mask, as from `models.allowed_positions`.

    Returns:
        The attention weights; a row sums to 1, or is 0 if the query may attend to nothing.
    """
    lowest = torch.finfo(scores.dtype).min  # finite, so that an empty row gives no NaN
    return scores.masked_fill(~allowed, lowest).softmax(dim=-1) * allowed


def disentangled_output(
    weights: Weights,
    inputs: Float[Tensor, "*runs batch length width"],
    *,
    mask: Mask = "strict",
    windows: Windows = (None, None),
) -> Float[Tensor, "*runs batch dim"]:
    """The prediction of the disentangled transformer, computed as Eq. 1 is written.

    Args:
        weights: the 28 D^2 weights, of one network or of several runs.
        inputs: 2N + 1 rows of width 2D (Eqs. 3, 4) for each run, of the weights' device and type.
        mask: `strict`, without the position itself (App. B.2), or `causal`, with it.
        windows: how many positions back a row of layers 1 and 2 attends, >= 1 each; None for all.

    Returns:
        The prediction at the query item, the last row; differentiable in weights and inputs.

    Raises:
        ValueError: if the mask is unknown or a window is empty.

    Example:
        >>> zero = models.Weights(torch.zeros(8, 8), torch.zeros(16, 16), torch.zeros(32, 4))
        >>> models.disentangled_output(zero, torch.ones(1, 5, 8)).tolist()
        [[0.0, 0.0, 0.0, 0.0]]
    """
    x = inputs
    first, second = (allowed_positions(x.shape[-2], mask, x.device, w) for w in windows)
    h1 = torch.cat([x, attention(apply(x, weights.w1) @ x.mT, first) @ x], dim=-1)
    h2 = torch.cat([h1, attention(apply(h1, weights.w2) @ h1.mT, second) @ h1], dim=-1)
    return apply(h2, weights.w3)[..., -1, :]


def apply(
    rows: Float[Tensor, "*runs batch length n"], weight: Float[Tensor, "*runs n m"]
) -> Float[Tensor, "*runs batch length m"]:
    """Multiply every row by the matrix of its run, in one large product per run (Eq. 1).

    Args:
        rows: sequences of rows for each run.
        weight: one matrix per run.
    """
    return (rows.flatten(-3, -2) @ weight).unflatten(-2, rows.shape[-3:-1])


class AttentionOnlyTransformer(nn.Module):
    """Two attention layers of one head each and an output layer, without MLP, norm or bias (§2.1).

    Its parameters are the token embedding W_E (dim, vocabulary) and the positional embedding W_pos
    (dim, block_size), the paper's E and P; in each layer W_Q, W_K, W_V and W_O (dim, dim); and the
    output W_U (vocabulary, dim), its W_o. The paper gives no initial values.

    Args:
        dim: width D of the residual stream, >= 1.
        vocabulary: number of tokens N_E.
        block_size: number of positions N_P.
        embedding_scale, maps, scaled: as `training.TokenTraining` takes them.
        generator: source of the random numbers; its device is that of the weights.

    Raises:
        ValueError: if the initial maps are unknown.
    """

    def __init__(
        self,
        dim: int,
        vocabulary: int,
        block_size: int,
        *,
        embedding_scale: float,
        generator: torch.Generator,
        maps: Maps = "default",
        scaled: bool = True,
    ) -> None:
        super().__init__()
        if maps not in get_args(Maps):
            raise ValueError(f"maps must be one of {get_args(Maps)}, got {maps!r}")
        self.score_scale = dim**-0.5 if scaled else 1.0
        make: dict[str, Any] = {"generator": generator, "device": generator.device}
        self.W_E = nn.Parameter(embedding_scale * torch.randn(dim, vocabulary, **make))
        self.W_pos = nn.Parameter(embedding_scale * torch.randn(dim, block_size, **make))
        bound = dim**-0.5

        def linear(rows: int) -> nn.Parameter:
            if maps == "default":
                return nn.Parameter((2 * torch.rand(rows, dim, **make) - 1) * bound)
            scale = NORMAL_SCALE if maps == "normal" else (2 / (rows + dim)) ** 0.5
            return nn.Parameter(scale * torch.randn(rows, dim, **make))

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
        """Logits of the next token at every position, computed token by token.

        Args:
            tokens: tokens, whole numbers from 0 to `vocabulary` - 1.
            positions: places in the block, from 0 to `block_size` - 1.
            mask: `causal`, where a position attends to itself, or `strict`, where it does not.

        Raises:
            ValueError: if the mask is unknown.
        """
        return self.residual_stream(tokens, positions, mask=mask)[-1] @ self.W_U.T

    def residual_stream(
        self,
        tokens: Int[Tensor, "batch length"],
        positions: Int[Tensor, "batch length"],
        *,
        mask: Mask = "causal",
    ) -> tuple[Float[Tensor, "batch length dim"], ...]:
        """The residual stream before, between and after both layers, from what `forward` takes."""
        allowed = allowed_positions(tokens.shape[1], mask, tokens.device)
        streams = [self.W_E.T[tokens] + self.W_pos.T[positions]]
        for layer in range(2):
            streams.append(self.layer(layer, streams[-1], allowed))
        return tuple(streams)

    def layer(
        self, layer: int, stream: Float[Tensor, "batch length dim"], allowed: Tensor
    ) -> Float[Tensor, "batch length dim"]:
        """The residual stream after a layer, 0 or 1, from the stream before it."""
        w_q, w_k, w_v, w_o = (maps[layer] for maps in (self.W_Q, self.W_K, self.W_V, self.W_O))
        scores = (stream @ w_q.T) @ (stream @ w_k.T).mT * self.score_scale
        return stream + attention(scores, allowed) @ stream @ w_v.T @ w_o.T
