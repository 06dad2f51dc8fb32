"""Random pairs of embeddings, and the linear and MLP networks that are to store them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from running.devices import generator

from .lemma import unit

Parameters = list[Tensor]


class Pairs(NamedTuple):
    """Random unit embeddings of inputs and outputs; the first n of them are a smaller problem."""

    e: Float[Tensor, "n d"]
    u: Float[Tensor, "n d"]

    def first(self, n: int) -> "Pairs":
        """The first n pairs."""
        return Pairs(self.e[:n], self.u[:n])


def draw(n: int, dim: int, seed: int, device: torch.device) -> Pairs:
    """Pairs of one seed; the first ones do not depend on n."""
    streams = (generator(2 * seed + i, torch.device("cpu")) for i in (0, 1))
    return Pairs(*(unit(n, dim, s, torch.float32).to(device) for s in streams))


class Network(NamedTuple):
    """A map from R^d to R^d: its initial parameters, and its values."""

    start: Parameters
    values: Callable[[Parameters, Tensor], Tensor]


def linear(dim: int) -> Network:
    """x -> W x from W = 0."""
    return Network([torch.zeros(dim, dim)], lambda p, x: x @ p[0].mT)


def stacked(network: Network, seeds: int) -> Network:
    """The same initial parameters for each of several seeds."""
    start = [part.expand(seeds, *part.shape) for part in network.start]
    return Network(start, network.values)


def mlp(dim: int, width: int, streams: Sequence[torch.Generator]) -> Network:
    """x -> V relu(A x + b), one for each stream, in Flax's default initialisation as the source."""

    def normal(rows: int, columns: int) -> Tensor:
        parts = [torch.randn(rows, columns, generator=stream) for stream in streams]
        return torch.stack(parts) / columns**0.5

    start = [normal(width, dim), torch.zeros(len(streams), 1, width), normal(dim, width)]
    return Network(start, lambda p, x: torch.relu(x @ p[0].mT + p[1]) @ p[2].mT)
