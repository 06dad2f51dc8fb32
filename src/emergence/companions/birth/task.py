"""The bigram task: Shakespeare, but five triggers have a new successor in every sequence."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .bigrams import Bigrams


class Task(NamedTuple):
    """What sequences are drawn from; probabilities are cumulated."""

    start: Float[Tensor, " N"]
    chain: Float[Tensor, " N*N"]  # row i is shifted to the interval from i to i + 1
    triggers: Int[Tensor, " k"]

    @property
    def n_tokens(self) -> int:
        """N, the size of the vocabulary."""
        return len(self.start)


class Batch(NamedTuple):
    """Sequences z_1 ... z_T, what follows each token, and which of it can be known."""

    tokens: Int[Tensor, "batch T"]
    targets: Int[Tensor, "batch T"]
    scored: Bool[Tensor, "batch T"]  # a trigger that has occurred in the sequence before


def make(bigrams: Bigrams, n_triggers: int, device: torch.device | None = None) -> Task:
    """The task whose triggers are the most frequent characters, in the order of their numbers."""
    rows = torch.from_numpy(bigrams.conditional.cumsum(axis=1))
    rows[:, -1] = 1  # rounding must not leave a gap at the end of a row
    shifted = rows + torch.arange(len(rows))[:, None]
    start = torch.from_numpy(bigrams.unigram.cumsum())
    triggers = torch.from_numpy(bigrams.most_frequent(n_triggers)).sort().values
    return Task(*(part.to(device) for part in (start, shifted.flatten(), triggers)))


def sample(task: Task, batch_size: int, length: int, *, generator: torch.Generator) -> Batch:
    """Draw sequences: after trigger q_k comes its o_k, uniform and fixed within a sequence.

    After any other token comes pi_b; the first token is drawn by frequency.
    """
    n, device = task.n_tokens, generator.device
    outputs = torch.full((batch_size, n), -1, device=device)
    drawn = torch.randint(n, (batch_size, len(task.triggers)), generator=generator, device=device)
    outputs[:, task.triggers] = drawn
    uniform = torch.rand(
        length + 1, batch_size, generator=generator, device=device, dtype=torch.float64
    )
    z = torch.empty(length + 1, batch_size, dtype=torch.long, device=device)
    z[0] = torch.searchsorted(task.start, uniform[0]).clamp(max=n - 1)
    for t in range(length):
        follower = torch.searchsorted(task.chain, uniform[t + 1] + z[t], right=True) - n * z[t]
        output = outputs.gather(1, z[t][:, None]).squeeze(1)
        z[t + 1] = torch.where(output >= 0, output, follower.clamp(0, n - 1))
    tokens = z[:-1].T.contiguous()
    return Batch(tokens, z[1:].T.contiguous(), seen_before(tokens, task.triggers))


def seen_before(
    tokens: Int[Tensor, "batch T"], triggers: Int[Tensor, " k"]
) -> Bool[Tensor, "batch T"]:
    """Where a trigger stands that has occurred in the sequence before."""
    hits = tokens[..., None] == triggers
    return (hits & (hits.cumsum(dim=1) >= 2)).any(dim=-1)
