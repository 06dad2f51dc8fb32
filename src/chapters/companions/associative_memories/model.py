"""Random pairs of embeddings, linear and MLP networks that store them, and their loss.

The gradient of the cross-entropy is written out, which is several times faster than autograd.

The logits are the largest arrays of both companions that use this. Here they are made in blocks
small enough for a processor's cache, and overwritten in place.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
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


BLOCK = 2**19  # logits held at once
FLOOR = -60.0  # exp of less would end in denormal numbers, which are slow, and is nothing


class Scored(NamedTuple):
    """Mean loss of each run, its gradient by h, and which rows have their target on top."""

    loss: Float[Tensor, " runs"]
    gradient: Float[Tensor, "runs n d"]
    right: Bool[Tensor, "runs n"]


@torch.no_grad()
def scored(
    h: Float[Tensor, "runs n d"], u: Float[Tensor, "runs k d"], target: Int[Tensor, "runs n"]
) -> Scored:
    """Softmax cross-entropy of the logits h u'. A tie with the target counts against it."""
    runs, n, _ = h.shape
    losses, gradients, rights = [], [], []
    for rows in range(0, n, size := max(1, BLOCK // (runs * u.shape[1]))):
        own = target[:, rows : rows + size, None]
        logits = h[:, rows : rows + size] @ u.mT
        wanted = logits.gather(2, own)
        others = logits.scatter_(2, own, -torch.inf).amax(2, keepdim=True)
        top = torch.maximum(wanted, others)
        weights = logits.sub_(top).clamp_(min=FLOOR).exp_()  # nothing at the target
        rest = weights.sum(2, keepdim=True)
        at_target = (wanted - top).exp()
        total = rest + at_target
        losses.append((total.log() + top - wanted).sum((1, 2)))
        rights.append((wanted > others)[..., 0])
        weights.scatter_(2, own, -rest).div_(total * n)  # -rest/total is p - 1 without cancelling
        gradients.append(weights @ u)
    return Scored(sum(losses, h.new_zeros(())) / n, torch.cat(gradients, 1), torch.cat(rights, 1))
