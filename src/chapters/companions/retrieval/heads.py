"""Attention sorted along the chain: where each head attends, since when, and what it is worth.

Tokens of a chain are sorted as facts 1 .. D and then the query, which for the longest chain comes
just after fact D. A head has offset o if tokens attend to the fact o places nearer the end of
the chain. Forward merging predicts offset 2^(t - 1) for the facts of layer t.

A look is the attention of a layer's facts, or of its queries. In the last layer only what the
queries attend to reaches an answer. Uniform attention passes on the mean of all facts and nothing
of the chain, so the accuracy that is left did not need the look.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.analysis import first_reached

from .model import Answer, Cut, Parameters, forward
from .task import Batch


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


def steps_to_level(
    moments: Int[np.ndarray, " times"], values: Float[np.ndarray, "runs times *any"], level: float
) -> Float[np.ndarray, "runs *any"]:
    """The first recorded step at which each of several curves is at least `level`, or infinity."""
    curves = np.moveaxis(values, 1, -1)
    flat = first_reached(moments, curves.reshape(-1, len(moments)), level)
    return flat.reshape(curves.shape[:-1])


class Strongest(NamedTuple):
    """Of each layer: the head with the greatest attention at one offset, and that offset."""

    head: Int[np.ndarray, "runs layers"]
    offset: Int[np.ndarray, "runs layers"]


def strongest(maps: Float[np.ndarray, "runs layers heads tokens n_hops"]) -> Strongest:
    """The head of each layer that attends most to one place nearer the end."""
    by_offset = masses(maps, range(1, maps.shape[-2]))
    head = by_offset.max(axis=-1).argmax(axis=-1)
    return Strongest(head, by_offset.max(axis=-2).argmax(axis=-1) + 1)


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
    return steps_to_level(moments, accuracy[:, :, None] - cut, drop)


def by_layer(
    since: Float[np.ndarray, "runs looks n_hops"], n_layers: int
) -> Float[np.ndarray, "runs layers"]:
    """When the first look of each layer is first needed for some answer."""
    layers = np.array([look.layer for look in look_names(n_layers)])
    first = since.min(axis=2)
    return np.stack([first[:, layers == n].min(axis=1) for n in range(1, n_layers + 1)], axis=1)
