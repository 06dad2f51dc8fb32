"""The retrieval problem, a small transformer for many runs at once, and layers that chains need.

A fact is a pair (key, value), read "key = value". Fact j of a chain, j = 1 .. D, has the value that
is the key of fact j - 1; the value of fact 1 is the end of the chain. Asked for the key of fact d,
one answers with the end, d hops away.

The transformer is pre-LN, without mask or positions. Facts enter as e_key + e_value with tables of
their own; a query is a fact whose key is missing. All tokens attend to all facts, and none to a
query, as if the question came last; so one context serves several questions. Layer norms have no
gains: the linear maps that follow absorb them. The last layer is computed at the queries alone,
because nothing else reaches the answers. All tensors carry a leading axis of runs.

Attention is sorted along the chain, as facts 1 .. D and then the query, which for the longest chain
comes just after fact D. A head has offset o if tokens attend to the fact o places nearer the end of
the chain. Forward merging predicts offset 2^(t - 1) for the facts of layer t. A look is the
attention of a layer's facts, or of its queries. Uniform attention passes on the mean of all facts
and nothing of the chain, so the accuracy that is left did not need the look.

A token knows a span [low, high] of its chain: fact j starts with [j - 1, j], the query for d with
[d, d]. In a layer it may look at every fact whose span meets its own and then knows the union.
Merging is `forward` if a span attends only to spans that begin where it ends, as in pointer
doubling, and `both` if it attends in both directions. The rule is ours; the source's abstract gives
the bound t >= log_3(2D).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal, NamedTuple

import numpy as np
import sympy as sp
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding, layer_norm

from emergence.analysis import first_reached
from emergence.running.graphs import constant

Stream = Float[Tensor, "runs batch length dim"]

Stages = tuple[tuple[int, ...], ...]


class Batch(NamedTuple):
    """Contexts of C chains of D facts and a question about each chain.

    `places` are those of facts 1 .. D of each chain among the facts.
    """

    keys: Int[Tensor, "*runs batch facts"]
    values: Int[Tensor, "*runs batch facts"]
    query: Int[Tensor, "*runs batch chains"]
    target: Int[Tensor, "*runs batch chains"]
    hops: Int[Tensor, "*runs batch chains"]
    places: Int[Tensor, "*runs batch chains n_hops"]


def draw_contexts(
    hops: Int[Tensor, "batch chains"], n_hops: int, vocabulary: int, generator: torch.Generator
) -> Batch:
    """A context for each row of hops that are asked for, from 1 to D; all its symbols are distinct.

    Raises ValueError if the vocabulary is too small.
    """
    batch, n_chains = hops.shape
    needed = n_chains * (n_hops + 1)
    if vocabulary < needed:
        raise ValueError(f"{n_chains} chains of {n_hops} facts need {needed} symbols")
    symbols = _permutations(batch, vocabulary, generator)[:, :needed]
    symbols = symbols.view(batch, n_chains, n_hops + 1)  # s_0, the end, to s_D of each chain
    order = _permutations(batch, n_chains * n_hops, generator)
    return Batch(
        keys=symbols[:, :, 1:].flatten(1).gather(1, order),
        values=symbols[:, :, :-1].flatten(1).gather(1, order),
        query=symbols.gather(2, hops[..., None]).squeeze(2),
        target=symbols[:, :, 0],
        hops=hops,
        places=order.argsort(dim=1).view(batch, n_chains, n_hops),
    )


def draw(
    allowed: tuple[int, ...], batch_size: int, n_chains: int, *, generator: torch.Generator
) -> Int[Tensor, "batch chains"]:
    """Hops drawn uniformly from the allowed ones."""
    device, shape = generator.device, (batch_size, n_chains)
    chosen = torch.randint(len(allowed), shape, generator=generator, device=device)
    return constant(allowed, device)[chosen]


def stacked(batches: list[Batch]) -> Batch:
    """Batches of several runs as one, with a leading axis for the run."""
    return Batch(*(torch.stack(parts) for parts in zip(*batches, strict=True)))


def _permutations(batch: int, count: int, generator: torch.Generator) -> Int[Tensor, "batch count"]:
    return torch.rand(batch, count, generator=generator, device=generator.device).argsort(dim=1)


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
) -> Stream:
    first = torch.arange(len(table), device=table.device)[:, None, None] * table.shape[1]
    return embedding(symbols + first, table.flatten(0, 1))


def _normalised(stream: Float[Tensor, "*any dim"]) -> Float[Tensor, "*any dim"]:
    return layer_norm(stream, stream.shape[-1:])


def _added(
    stream: Stream,
    inner: Float[Tensor, "runs tokens inner"],
    weight: Float[Tensor, "runs inner dim"],
) -> Stream:
    return torch.baddbmm(stream.flatten(1, 2), inner, weight).view_as(stream)


def _attend(
    layer: Layer, tokens: Stream, n_heads: int, n_facts: int, rows: int, cut: Cut | None
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
        split = rows - (tokens.shape[2] - n_facts)  # the first row of a query
        weights = weights.clone()
        level = slice(split, None) if cut.rows == "queries" else slice(split)
        weights[:, :, level] = 1 / n_facts
    heard = (weights @ value).transpose(1, 2).reshape(n_runs, n_batch * rows, dim)
    return heard, weights.view(n_runs, n_batch, n_heads, rows, n_facts)


def sorted_maps(
    attention: Sequence[Float[Tensor, "runs batch heads _ facts"]], batch: Batch
) -> Float[Tensor, "runs layers heads tokens n_hops"]:
    """Mean attention to the facts of the same chain, sorted; every query asks for D hops.

    Rows that the last layer does not compute are NaN. What is missing to 1 in a row went to other
    chains.
    """
    n_runs, n_batch, n_chains, n_hops = batch.places.shape
    if not bool((batch.hops == n_hops).all()):
        raise ValueError("attention is sorted for queries that ask for the whole chain")
    queries = torch.arange(n_chains, device=batch.places.device) + batch.keys.shape[-1]
    queries = queries.view(-1, 1).expand(n_runs, n_batch, n_chains, 1)
    tokens = torch.cat([batch.places, queries], dim=-1)
    layers = []
    for weights in attention:
        computed = weights.shape[-2] - n_chains  # facts among the rows
        rows = tokens if computed else tokens[..., -1:] - batch.keys.shape[-1]
        mean = _entries(weights, rows, batch.places).mean(dim=(1, 2))
        missing = mean.new_full((*mean.shape[:-2], n_hops + 1 - mean.shape[-2], n_hops), torch.nan)
        layers.append(torch.cat([missing, mean], dim=-2))
    return torch.stack(layers, dim=1)


def _entries(
    weights: Float[Tensor, "runs batch heads _ facts"],
    rows: Int[Tensor, "runs batch chains some"],
    columns: Int[Tensor, "runs batch chains n_hops"],
) -> Float[Tensor, "runs batch chains heads some n_hops"]:
    """The entries of each chain in these rows and columns."""
    n_chains, n_rows = rows.shape[2:]
    n_heads, n_facts = weights.shape[2], weights.shape[-1]
    wide = weights[:, :, None].expand(-1, -1, n_chains, -1, -1, -1)
    chosen = rows[:, :, :, None, :, None].expand(-1, -1, -1, n_heads, -1, n_facts)
    rows_of = columns[:, :, :, None, None, :].expand(-1, -1, -1, n_heads, n_rows, -1)
    return wide.gather(-2, chosen).gather(-1, rows_of)


def masses(
    maps: Float[np.ndarray, "*any tokens n_hops"], offsets: Sequence[int]
) -> Float[np.ndarray, "*any offsets"]:
    """Mean attention at each offset, over the rows with a fact there; negative: backwards."""
    diagonals = (np.diagonal(maps, -offset, axis1=-2, axis2=-1) for offset in offsets)
    return np.stack([np.nanmean(diagonal, axis=-1) for diagonal in diagonals], axis=-1)


def strongest(
    maps: Float[np.ndarray, "runs layers heads tokens n_hops"],
) -> tuple[Int[np.ndarray, "runs layers"], Int[np.ndarray, "runs layers"]]:
    """The head of each layer with the greatest attention at one offset, and that offset."""
    by_offset = masses(maps, range(1, maps.shape[-2]))
    head = by_offset.max(axis=-1).argmax(axis=-1)
    return head, by_offset.max(axis=-2).argmax(axis=-1) + 1


def look_names(n_layers: int) -> tuple[Cut, ...]:
    """Facts and queries of every layer, in order; of the last layer the queries alone."""
    inner = (Cut(layer, rows) for layer in range(1, n_layers) for rows in ("facts", "queries"))
    return (*inner, Cut(n_layers, "queries"))


def accuracy(given: Answer, batch: Batch) -> Float[Tensor, " runs"]:
    """The share of right answers of each run."""
    return (given.logits.argmax(dim=-1) == batch.target).float().mean(dim=(1, 2))


@torch.no_grad()
def cut_accuracies(
    parameters: Parameters, tests: Sequence[Batch], n_heads: int, measured: bool = True
) -> Float[Tensor, "runs looks n_hops"]:
    """Accuracy on each of the tests with each look taken away; no looks unless `measured`."""
    cuts = look_names(len(parameters.layers)) if measured else ()
    accuracies = torch.empty(len(parameters.readout), len(cuts), len(tests))
    for place, cut in enumerate(cuts):
        for test, batch in enumerate(tests):
            accuracies[:, place, test] = accuracy(
                forward(parameters, batch, n_heads, cut), batch
            ).cpu()
    return accuracies


def needed_since(
    moments: Int[np.ndarray, " times"],
    accuracy: Float[np.ndarray, "runs times n_hops"],
    cut: Float[np.ndarray, "runs times looks n_hops"],
    drop: float,
) -> Float[np.ndarray, "runs looks n_hops"]:
    """The first recorded step at which an answer loses `drop` of its accuracy without a look.

    Infinity where it never does: the look never mattered for so many hops.
    """
    losses = np.moveaxis(accuracy[:, :, None] - cut, 1, -1)
    flat = first_reached(moments, losses.reshape(-1, len(moments)), drop)
    return flat.reshape(losses.shape[:-1])


def by_layer(
    since: Float[np.ndarray, "runs looks n_hops"], n_layers: int
) -> Float[np.ndarray, "runs layers"]:
    """When the first look of each layer is first needed for some answer."""
    layers = np.array([look.layer for look in look_names(n_layers)])
    first = since.min(axis=2)
    return np.stack([first[:, layers == n].min(axis=1) for n in range(1, n_layers + 1)], axis=1)


Merging = Literal["both", "forward"]
Span = tuple[int, int]


def initial_knowledge(n_hops: int) -> list[Span]:
    """What the facts 1 .. D of a chain and then the query for its last key know at first."""
    return [*((j - 1, j) for j in range(1, n_hops + 1)), (n_hops, n_hops)]


def layer(known: Sequence[Span], merging: Merging) -> list[Span]:
    """What all of them know one layer later; the query is heard by none."""
    *facts, _ = known
    return [_merged(span, facts, merging) for span in known]


def _merged(span: Span, others: Sequence[Span], merging: Merging) -> Span:
    low, high = span
    if merging == "forward":  # the key of the other is the far end of this one
        met = [other for other in others if other[1] == low]
    else:  # they share at least one symbol
        met = [other for other in others if other[0] <= high and low <= other[1]]
    return min([low, *(a for a, _ in met)]), max([high, *(b for _, b in met)])


def layers_needed(n_hops: int, merging: Merging) -> int:
    """The number of layers after which the query for the last key knows the end of its chain."""
    spans, n_layers = initial_knowledge(n_hops), 0
    while spans[-1][0] > 0:
        spans, n_layers = layer(spans, merging), n_layers + 1
    return n_layers


def reach_law(merging: Merging) -> tuple[sp.Expr, sp.Symbol]:
    """The reach as a function of t, solved from its recurrence: (3^t - 1)/2, or 2^t - 1.

    A fact's span grows by a span on each side (or one), the query's reach by one span.
    """
    t = sp.Symbol("t", integer=True, nonnegative=True)
    span, reached = sp.Function("F"), sp.Function("R")
    growth = 3 if merging == "both" else 2
    fact = sp.rsolve(span(t + 1) - growth * span(t), span(t), {span(0): 1})
    query = sp.rsolve(reached(t + 1) - reached(t) - fact, reached(t), {reached(0): 0})
    return sp.simplify(query), t


def least_layers(n_hops: int) -> int:
    """The least t with t >= log_3(2D), in whole numbers."""
    return next(t for t in count() if 3**t >= 2 * n_hops)
