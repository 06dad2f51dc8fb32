"""The transformer: softmax attention and an MLP on frozen random embeddings, exact and cheap.

There are no positions and only the end token asks, so a token's score and value depend on which
token it is and not on where it stands. With C the counts of the tokens, E the embeddings and
w = exp(E K Q' e_end / sqrt(d_h)), head h retrieves (C (w V)) / (C w), two thin matrix products.
All arrays have a leading axis of independent runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from .task import Facts

FLOOR = 60.0  # exp(-60) and its inverse are far from the ends of single precision


@dataclass(frozen=True)
class Shape:
    """Model dimension d, H heads of dimension d_h, MLP width m."""

    dim: int
    heads: int
    head_dim: int
    width: int

    @property
    def attention_parameters(self) -> int:
        """Queries, keys, values and outputs: 4 H d d_h."""
        return 4 * self.heads * self.head_dim * self.dim

    @property
    def mlp_parameters(self) -> int:
        """2 m d, biases not counted, as in the source."""
        return 2 * self.width * self.dim

    @property
    def parameters(self) -> int:
        """Both together."""
        return self.attention_parameters + self.mlp_parameters


class Frozen(NamedTuple):
    """Embeddings of tokens and of answers, which are not trained."""

    e: Float[Tensor, "runs vocabulary d"]
    u: Float[Tensor, "runs outputs d"]


class Parameters(NamedTuple):
    """What is trained: heads side by side in the last axis of q, k, v; the MLP with a bias."""

    q: Float[Tensor, "runs d heads*d_h"]
    k: Float[Tensor, "runs d heads*d_h"]
    v: Float[Tensor, "runs d heads*d_h"]
    o: Float[Tensor, "runs heads*d_h d"]
    a: Float[Tensor, "runs d m"]
    b: Float[Tensor, "runs 1 m"]
    w: Float[Tensor, "runs m d"]


def initial(
    shape: Shape,
    facts: Facts,
    streams: Sequence[torch.Generator],
    dtype: torch.dtype = torch.float32,
) -> tuple[Frozen, Parameters]:
    """The source's initial values, one run a stream."""
    kind: dict[str, Any] = {"device": streams[0].device, "dtype": dtype}

    def normal(rows: int, columns: int, fan: int) -> Tensor:
        parts = [torch.randn(rows, columns, generator=s, **kind) for s in streams]
        return torch.stack(parts) / fan**0.5

    d, inner, m = shape.dim, shape.heads * shape.head_dim, shape.width
    frozen = Frozen(normal(facts.vocabulary, d, d), normal(facts.outputs, d, d))
    queries, keys, values = (normal(d, inner, shape.head_dim) for _ in range(3))
    bias = torch.zeros(len(streams), 1, m, **kind)
    parameters = Parameters(
        queries, keys, values, normal(inner, d, d), normal(d, m, d), bias, normal(m, d, m)
    )
    return frozen, parameters


def written_at_end(
    shape: Shape, frozen: Frozen, p: Parameters, counts: Float[Tensor, "runs batch vocabulary"]
) -> Float[Tensor, "runs batch d"]:
    """What the layer writes at the end token; its products with the u are the logits.

    A score of more than `FLOOR` below the greatest of all tokens counts as that much below, which
    matters only in a sequence that has no other tokens.
    """
    runs, vocabulary, _ = frozen.e.shape
    per_head = (runs, vocabulary, shape.heads, shape.head_dim)
    asks = frozen.e[:, -1:] @ p.q
    scores = ((frozen.e @ p.k) * asks).view(per_head).sum(3) / shape.head_dim**0.5
    weights = (scores - scores.detach().amax(1, keepdim=True)).clamp(min=-FLOOR).exp()
    values = (frozen.e @ p.v).view(per_head) * weights[..., None]
    sums = (counts @ values.flatten(2)).unflatten(2, per_head[2:])
    heads = sums / (counts @ weights)[..., None]
    x = heads.flatten(2) @ p.o
    return x + torch.relu(x @ p.a + p.b) @ p.w
