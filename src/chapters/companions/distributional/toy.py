"""The toy: samples needed for one step of descent to put the noise token above all others.

A context of T tokens, uniform among N, ends with the trigger. The target is the noise token with
probability alpha, else a token of the context. The feed-forward layer sees the trigger; attention,
uniform before training, sees the mean of the context.
"""

from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import brentq
from scipy.stats import poisson
from torch import Tensor

Layer = Literal["feed-forward", "attention"]


def sample(
    n_tokens: int, length: int, alpha: float, trials: int, count: int, *, generator: torch.Generator
) -> tuple[Int[Tensor, "trials n T"], Int[Tensor, "trials n"]]:
    """Draw `count` contexts for each trial, and their targets; the noise token has the number N."""
    make: dict[str, Any] = {"generator": generator, "device": generator.device}
    contexts = torch.randint(n_tokens, (trials, count, length), **make)
    place = torch.randint(length, (trials, count, 1), **make)
    answers = contexts.gather(2, place).squeeze(2)
    noisy = torch.rand(trials, count, **make) < alpha
    return contexts, torch.where(noisy, n_tokens, answers)


def overlaps(
    contexts: Int[Tensor, "trials n T"], tested: Int[Tensor, "trials T"], n_tokens: int
) -> Int[Tensor, "trials n"]:
    """T^2 times the inner product of two mean embeddings: pairs of equal tokens."""
    present = torch.zeros(len(tested), n_tokens, dtype=torch.long, device=tested.device)
    present.scatter_add_(1, tested, torch.ones_like(tested))
    return present.gather(1, contexts.flatten(1)).view(contexts.shape).sum(dim=2)


def success(
    layer: Layer,
    n_tokens: int,
    length: int,
    alpha: float,
    counts: Int[Tensor, " counts"],
    trials: int,
    *,
    generator: torch.Generator,
) -> Float[Tensor, " counts"]:
    """How often the noise token has the greatest logit after one step on so many samples.

    A logit is a sum over samples of 1{y = k} - 1/(N + 1) times what sample and test share. The
    second term is the same for all k, so that integers decide.
    """
    tested = torch.randint(n_tokens, (trials, length), generator=generator, device=generator.device)
    logits = torch.zeros(trials, n_tokens + 1, dtype=torch.long, device=tested.device)
    shares = []
    for more in counts.diff(prepend=counts.new_zeros(1)).tolist():
        contexts, targets = sample(n_tokens, length, alpha, trials, more, generator=generator)
        if layer == "attention":
            shared = overlaps(contexts, tested, n_tokens)
        else:
            shared = torch.ones_like(targets)  # the trigger is always the same
        logits.scatter_add_(1, targets, shared)
        shares.append((logits[:, -1] > logits[:, :-1].amax(dim=1)).double().mean())
    return torch.stack(shares)


def grid(most: int, ratio: float = 2**0.25) -> Int[Tensor, " counts"]:
    """Sample counts from 1 to `most`, in steps of the ratio or of one."""
    counts = [1]
    while counts[-1] < most:
        counts.append(max(counts[-1] + 1, round(counts[-1] * ratio)))
    return torch.tensor(counts)


def needed(
    counts: Int[Tensor, " counts"], shares: Float[Tensor, " counts"], certainty: float
) -> float:
    """The sample count at which the share reaches the certainty for good, between two of the grid.

    ValueError if it is not reached.
    """
    below = (shares < certainty).nonzero().flatten()
    if not len(below):
        return float(counts[0])
    last = int(below[-1])
    if last == len(counts) - 1:
        raise ValueError(f"the share of {certainty} is not reached with {int(counts[-1])} samples")
    (low, high), (few, many) = (of[last : last + 2].tolist() for of in (shares, counts))
    part = (certainty - low) / (high - low)
    return float(few) ** (1 - part) * float(many) ** part


def limit_feed_forward(count: int, alpha: float) -> float:
    """N to infinity: two noise targets are wanted, for others do not repeat; one if alone."""
    never = (1 - alpha) ** count
    once = count * alpha * (1 - alpha) ** (count - 1)
    return 1 - never - (once if count > 1 else 0)


def limit_attention(nu: float, length: int, alpha: float) -> float:
    """N to infinity with n = nu N samples: independent Poisson counts decide.

    Pairs of equal tokens come with noise targets (mean alpha nu T^2), with the very token as a
    target (mean (1 - alpha) nu for each of T tokens) or with another target, which then has a
    logit of one.
    """
    noise, same = alpha * nu * length**2, (1 - alpha) * nu
    a = np.arange(1, poisson.isf(1e-15, noise) + 1)  # counts of noise, but for the least likely
    wins = poisson.pmf(a, noise) * poisson.cdf(a - 1, same) ** length
    wins[0] *= poisson.pmf(0, same * length * (length - 1))  # a count of one loses to any other
    return float(wins.sum())


def limit_needed(length: int, alpha: float, certainty: float) -> float:
    """nu at which `limit_attention` is the certainty: n = nu N samples."""
    return float(brentq(lambda nu: limit_attention(nu, length, alpha) - certainty, 1e-6, 1e3))
