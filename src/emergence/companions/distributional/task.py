"""The noisy bigram task: one trigger, whose output gives way to a noise token now and then."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence.companions.birth import task as birth
from emergence.companions.birth.bigrams import Bigrams


class Batch(NamedTuple):
    """Sequences z_1 ... z_T, what follows each token, and the output o of each sequence."""

    tokens: Int[Tensor, "batch T"]
    targets: Int[Tensor, "batch T"]
    outputs: Int[Tensor, " batch"]


def make(bigrams: Bigrams, device: torch.device | None = None) -> birth.Task:
    """The task with the most frequent character as trigger; the noise token comes last.

    After the noise token the text starts afresh, by frequency.
    """
    plain = birth.make(bigrams, 1)
    n = plain.n_tokens
    rows = plain.chain.view(n, n) - torch.arange(n)[:, None]
    rows = torch.cat([rows, plain.start[None]])
    rows[-1, -1] = 1  # rounding must not leave a gap
    rows = torch.cat([rows, torch.ones(n + 1, 1)], dim=1)
    shifted = (rows + torch.arange(n + 1)[:, None]).flatten()
    start = torch.cat([plain.start, torch.ones(1)])
    return birth.Task(start.to(device), shifted.to(device), plain.triggers.to(device))


def sample(
    task: birth.Task,
    batch_size: int,
    length: int,
    alpha: float,
    *,
    generator: torch.Generator,
) -> Batch:
    """Draw sequences: after the trigger comes noise with probability alpha, else o.

    o is uniform over all tokens but noise, and fixed within a sequence; after any other token
    comes its row of the chain.
    """
    n, device = task.n_tokens, generator.device
    outputs = torch.randint(n - 1, (batch_size,), generator=generator, device=device)
    make: dict[str, Any] = {"generator": generator, "device": device, "dtype": torch.float64}
    uniform = torch.rand(length + 1, batch_size, **make)
    noisy = torch.rand(length + 1, batch_size, **make) < alpha
    z = torch.empty(length + 1, batch_size, dtype=torch.long, device=device)
    z[0] = torch.searchsorted(task.start, uniform[0], right=True).clamp(max=n - 2)
    for t in range(length):
        follower = torch.searchsorted(task.chain, uniform[t + 1] + z[t], right=True) - n * z[t]
        answer = torch.where(noisy[t + 1], n - 1, outputs)
        z[t + 1] = torch.where(z[t] == task.triggers[0], answer, follower.clamp(0, n - 2))
    return Batch(z[:-1].T.contiguous(), z[1:].T.contiguous(), outputs)


def answerable(batch: Batch, trigger: int) -> Bool[Tensor, "batch T"]:
    """Where the trigger stands and an earlier one was followed by o, not by noise."""
    here = batch.tokens == trigger
    shown = (here & (batch.targets == batch.outputs[:, None])).int().cumsum(dim=1)
    return here & (torch.nn.functional.pad(shown, (1, -1)) > 0)


def repeated(batch: Batch, trigger: int) -> Bool[Tensor, "batch T"]:
    """Where the trigger stands and has stood before; training scores these."""
    here = batch.tokens == trigger
    return here & (here.int().cumsum(dim=1) >= 2)


def rows_of(
    chosen: Bool[Tensor, "batch T"],
) -> tuple[Int[Tensor, "batch R"], Bool[Tensor, "batch R"]]:
    """Chosen positions of each sequence, padded to the greatest number; and which are real."""
    longest = max(1, int(chosen.sum(dim=1).max()))
    at = (~chosen).to(torch.int8).argsort(dim=1, stable=True)[:, :longest]
    return at, chosen.gather(1, at)


def shares(
    logits: Float[Tensor, "batch R N"],
    batch: Batch,
    real: Bool[Tensor, "batch R"],
) -> tuple[float, float]:
    """Mean probability of the noise token, and how often o is the greatest logit."""
    noise = logits.softmax(dim=-1)[..., -1][real]
    hit = (logits.argmax(dim=-1) == batch.outputs[:, None])[real]
    return float(noise.mean()), float(hit.double().mean())
