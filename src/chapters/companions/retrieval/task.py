"""The retrieval problem: facts that form chains, in random order, and questions.

A fact is a pair (key, value), read "key = value". Fact j of a chain, j = 1 .. D, has the value that
is the key of fact j - 1; the value of fact 1 is the end of the chain. Asked for the key of fact d,
one answers with the end, d hops away.
"""

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from emergence.running.graphs import constant

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
