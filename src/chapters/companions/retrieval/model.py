"""A small pre-LN transformer without mask or positions, many runs at once.

Facts enter as e_key + e_value with tables of their own; a query is a fact whose key is missing. All
tokens attend to all facts, and none to a query, as if the question came last; so one context serves
several questions. Layer norms have no gains: the linear maps that follow absorb them. The last
layer is computed at the queries alone, because nothing else reaches the answers. All tensors carry
a leading axis of runs, each with its own weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding, layer_norm

from .task import Batch


@dataclass(frozen=True)
class Architecture:
    """Sizes of the network; the source's abstract gives none."""

    n_layers: int = 3
    n_heads: int = 2
    dim: int = 64
    hidden: int = 128  # of the feed-forward layer, 2d
    vocabulary: int = 32

    def __post_init__(self) -> None:
        if min(self.n_layers, self.n_heads) < 1:
            raise ValueError(f"layers and heads must be positive, got {self}")
        if self.dim % self.n_heads:
            raise ValueError(f"{self.n_heads} heads do not divide the width {self.dim}")


class Layer(NamedTuple):
    """One layer; `attend` holds the query, key and value maps side by side."""

    attend: Float[Tensor, "runs dim 3*dim"]
    merge: Float[Tensor, "runs dim dim"]
    up: Float[Tensor, "runs dim hidden"]
    up_bias: Float[Tensor, "runs 1 hidden"]
    down: Float[Tensor, "runs hidden dim"]
    down_bias: Float[Tensor, "runs 1 dim"]


class Parameters(NamedTuple):
    """Embeddings of symbols as keys and as values, the layers, the read-out."""

    keys: Float[Tensor, "runs vocabulary dim"]
    values: Float[Tensor, "runs vocabulary dim"]
    layers: tuple[Layer, ...]
    readout: Float[Tensor, "runs dim vocabulary"]

    def tensors(self) -> list[Tensor]:
        """All of them, for an optimiser."""
        inner = [tensor for layer in self.layers for tensor in layer]
        return [self.keys, self.values, *inner, self.readout]


class Answer(NamedTuple):
    """Logits at the queries, and each layer's attention to facts, by facts and then queries.

    The last layer has rows of queries only.
    """

    logits: Float[Tensor, "runs batch chains vocabulary"]
    attention: tuple[Float[Tensor, "runs batch heads rows facts"], ...]


def initial(architecture: Architecture, streams: Sequence[torch.Generator]) -> Parameters:
    """Fresh weights, one run a stream: embeddings N(0, 1), linear maps N(0, 1 / inputs)."""
    d, h, vocabulary = architecture.dim, architecture.hidden, architecture.vocabulary

    def linear(rows: int, columns: int, scale: float | None = None) -> Tensor:
        drawn = [torch.randn(rows, columns, generator=s, device=s.device) for s in streams]
        return (torch.stack(drawn) * (rows**-0.5 if scale is None else scale)).requires_grad_()

    def bias(columns: int) -> Tensor:
        return torch.zeros(len(streams), 1, columns, device=streams[0].device, requires_grad=True)

    keys, values = linear(vocabulary, d, 1.0), linear(vocabulary, d, 1.0)
    layers = tuple(
        Layer(linear(d, 3 * d), linear(d, d), linear(d, h), bias(h), linear(h, d), bias(d))
        for _ in range(architecture.n_layers)
    )
    return Parameters(keys, values, layers, linear(d, vocabulary))


class Cut(NamedTuple):
    """A look that is taken away: attention of these rows of a layer, uniform over all facts."""

    layer: int  # 1 .. L
    rows: Literal["facts", "queries"]


def forward(parameters: Parameters, batch: Batch, n_heads: int, cut: Cut | None = None) -> Answer:
    """Run each network on its own batch, with one look taken away where `cut` names it."""
    n_facts = batch.keys.shape[-1]
    stream = _looked_up(parameters.values, torch.cat([batch.values, batch.query], dim=-1))
    stream[:, :, :n_facts] += _looked_up(parameters.keys, batch.keys)
    length, maps = stream.shape[2], []
    for number, layer in enumerate(parameters.layers, start=1):
        rows = length - n_facts if number == len(parameters.layers) else length
        here = cut if cut is not None and cut.layer == number else None
        heard, weights = _attend(layer, _normalised(stream), n_heads, n_facts, rows, here)
        stream = _added(stream[:, :, -rows:], heard, layer.merge)
        hidden = _normalised(stream).flatten(1, 2) @ layer.up + layer.up_bias
        stream = _added(stream, hidden.relu(), layer.down) + layer.down_bias[:, None]
        maps.append(weights)
    logits = _normalised(stream).flatten(1, 2) @ parameters.readout
    return Answer(logits.view(*batch.query.shape, -1), tuple(maps))


def _looked_up(
    table: Float[Tensor, "runs vocabulary dim"], symbols: Int[Tensor, "runs batch length"]
) -> Float[Tensor, "runs batch length dim"]:
    first = torch.arange(len(table), device=table.device)[:, None, None] * table.shape[1]
    return embedding(symbols + first, table.flatten(0, 1))


def _normalised(stream: Float[Tensor, "*any dim"]) -> Float[Tensor, "*any dim"]:
    return layer_norm(stream, stream.shape[-1:])


def _added(
    stream: Float[Tensor, "runs batch length dim"],
    inner: Float[Tensor, "runs tokens inner"],
    weight: Float[Tensor, "runs inner dim"],
) -> Float[Tensor, "runs batch length dim"]:
    return torch.baddbmm(stream.flatten(1, 2), inner, weight).view_as(stream)


def _attend(
    layer: Layer,
    tokens: Float[Tensor, "runs batch length dim"],
    n_heads: int,
    n_facts: int,
    rows: int,
    cut: Cut | None,
) -> tuple[Float[Tensor, "runs heard dim"], Float[Tensor, "runs batch heads rows facts"]]:
    """What the last `rows` tokens hear of the facts, heads side by side, with which weights."""
    n_runs, n_batch, _, dim = tokens.shape

    def heads(some: Tensor, part: slice) -> Tensor:
        sent = some.flatten(1, 2) @ layer.attend[:, :, part]
        return sent.view(n_runs * n_batch, some.shape[2], n_heads, -1).transpose(1, 2)

    facts = tokens[:, :, :n_facts]
    query = heads(tokens[:, :, -rows:], slice(dim)) * (dim // n_heads) ** -0.5
    key, value = heads(facts, slice(dim, 2 * dim)), heads(facts, slice(2 * dim, 3 * dim))
    weights = (query @ key.mT).softmax(dim=-1)
    if cut is not None:
        weights = _levelled(weights, cut, tokens.shape[2] - n_facts)
    heard = (weights @ value).transpose(1, 2).reshape(n_runs, n_batch * rows, dim)
    return heard, weights.view(n_runs, n_batch, n_heads, rows, n_facts)


def _levelled(
    weights: Float[Tensor, "all heads rows facts"], cut: Cut, n_queries: int
) -> Float[Tensor, "all heads rows facts"]:
    """Attention that is uniform in the rows that are cut."""
    weights = weights.clone()
    split = weights.shape[2] - n_queries
    rows = slice(split, None) if cut.rows == "queries" else slice(split)
    weights[:, :, rows] = 1 / weights.shape[-1]
    return weights
