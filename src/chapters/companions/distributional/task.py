"""The noisy bigram task: one trigger, whose output gives way to a noise token now and then."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chapters.companions.birth import task as birth
from chapters.companions.birth.bigrams import Bigrams

NOISE = 2  # the source's, an ordinary character: "!"


class Batch(NamedTuple):
    """Sequences z_1 ... z_T, what follows each token, and the output o of each sequence."""

    tokens: Int[Tensor, "batch T"]
    targets: Int[Tensor, "batch T"]
    outputs: Int[Tensor, " batch"]


def make(bigrams: Bigrams, device: torch.device | None = None) -> birth.BigramTask:
    """The task with the most frequent character as trigger."""
    return birth.make(bigrams, 1, device)


def sample(
    task: birth.BigramTask,
    batch_size: int,
    length: int,
    alpha: float,
    *,
    generator: torch.Generator,
) -> Batch:
    """Draw sequences: after the trigger comes noise with probability alpha, else o.

    o is uniform over all tokens and fixed within a sequence; after any other token, noise too,
    comes its row of the chain.
    """
    n, device = task.n_tokens, generator.device
    outputs = torch.randint(n, (batch_size,), generator=generator, device=device)
    make: dict[str, Any] = {"generator": generator, "device": device, "dtype": torch.float64}
    uniform = torch.rand(length + 1, batch_size, **make)
    noisy = torch.rand(length + 1, batch_size, **make) < alpha
    z = torch.empty(length + 1, batch_size, dtype=torch.long, device=device)
    z[0] = torch.searchsorted(task.start, uniform[0], right=True).clamp(max=n - 1)
    for t in range(length):
        follower = torch.searchsorted(task.chain, uniform[t + 1] + z[t], right=True) - n * z[t]
        answer = torch.where(noisy[t + 1], NOISE, outputs)
        z[t + 1] = torch.where(z[t] == task.triggers[0], answer, follower.clamp(0, n - 1))
    return Batch(z[:-1].T.contiguous(), z[1:].T.contiguous(), outputs)


def repeated_triggers(batch: Batch, trigger: int) -> Bool[Tensor, "batch T"]:
    """Where the trigger stands and has stood before; training and tests score these."""
    here = batch.tokens == trigger
    return here & (here.int().cumsum(dim=1) >= 2)


def shares(
    logits: Float[Tensor, "K N"], targets: Int[Tensor, " K"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Mean probability of the noise token, and how often the target has the greatest logit."""
    hit = logits.argmax(dim=-1) == targets
    return logits.softmax(dim=-1)[:, NOISE].mean(), hit.to(logits.dtype).mean()


def looks(
    pattern: Float[Tensor, "batch R T"], batch: Batch, real: Bool[Tensor, "batch R"], trigger: int
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Mean attention mass on what followed a trigger: on o where it is not noise, and on noise."""
    after = torch.nn.functional.pad(batch.tokens[:, :-1] == trigger, (1, 0))
    noise = after & (batch.tokens == NOISE)
    output = after & (batch.tokens == batch.outputs[:, None]) & ~noise

    def mass(where: Bool[Tensor, "batch T"]) -> Float[Tensor, ""]:
        return (pattern * where[:, None]).sum(dim=-1)[real].mean()

    return mass(output), mass(noise)
