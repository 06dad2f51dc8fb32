"""Which head looks where, and since when? Attention sorted along the chain.

Tokens of the queried chain are sorted as facts 1 .. D and then the query, which for the longest
chain comes just after fact D. A head has offset o if tokens look at the token o places nearer the
end of the chain. Forward merging predicts offset 2^(t - 1) for the facts of layer t.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...probes import first_reached
from .task import Batch


def sorted_maps(
    attention: Sequence[Float[Tensor, "runs batch heads _ length"]], batch: Batch
) -> Float[Tensor, "runs layers heads tokens tokens"]:
    """Mean attention between tokens of the queried chain, sorted; every query asks for D hops.

    Rows that the last layer does not compute are NaN. What is missing to 1 in a row went to other
    chains.
    """
    n_hops = batch.places.shape[-1]
    if not bool((batch.hops == n_hops).all()):
        raise ValueError("attention is sorted for queries that ask for the whole chain")
    last = torch.full_like(batch.places[..., :1], batch.keys.shape[-1])
    places = torch.cat([batch.places, last], dim=-1)
    layers = []
    for weights in attention:
        shape = (*weights.shape[:-1], n_hops + 1)
        chain = weights.gather(-1, places[:, :, None, None].expand(shape))
        if weights.shape[-2] > 1:
            shape = (*shape[:-2], n_hops + 1, n_hops + 1)
            chain = chain.gather(-2, places[:, :, None, :, None].expand(shape))
        mean = chain.mean(dim=1)
        missing = mean.new_full(
            (*mean.shape[:-2], n_hops + 1 - mean.shape[-2], n_hops + 1), torch.nan
        )
        layers.append(torch.cat([missing, mean], dim=-2))
    return torch.stack(layers, dim=1)


class Emergence(NamedTuple):
    """Of each head: the offset it ended on, its mass there over time, when it passed the level."""

    offset: Int[np.ndarray, "runs layers heads"]
    mass: Float[np.ndarray, "runs times layers heads"]
    first: Float[np.ndarray, "runs layers heads"]

    @property
    def layers(self) -> Float[np.ndarray, "runs layers"]:
        """When the first head of each layer passed the level; infinity if none did."""
        return self.first.min(axis=-1)


def masses(maps: Float[np.ndarray, "*any tokens tokens"]) -> Float[np.ndarray, "*any offsets"]:
    """Mean attention at offsets 1 .. D, over the rows that have a token there."""
    diagonals = (
        np.diagonal(maps, -offset, axis1=-2, axis2=-1) for offset in range(1, maps.shape[-1])
    )
    return np.stack([np.nanmean(diagonal, axis=-1) for diagonal in diagonals], axis=-1)


def emergence(
    steps: Int[np.ndarray, " times"],
    maps: Float[np.ndarray, "runs times layers heads tokens tokens"],
    level: float = 0.5,
) -> Emergence:
    """When each head first puts more than `level` of its attention on the offset it ends on."""
    by_offset = masses(maps)
    own = by_offset[:, -1].argmax(axis=-1)
    mass = np.take_along_axis(by_offset, own[:, None, ..., None], axis=-1)[..., 0]
    curves = mass.transpose(0, 2, 3, 1)
    first = first_reached(steps, curves.reshape(-1, len(steps)), level).reshape(own.shape)
    return Emergence(own + 1, mass, first)
