"""Baselines: accuracies of guesses that match no trigger with its earlier occurrence."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import one_hot

from .bigrams import Bigrams
from .task import Batch, Task


class Baselines(NamedTuple):
    """Accuracies at scored positions; the definitions are ours."""

    frequent: float  # the token most frequent in the sequence so far
    plain: float  # the same among those that are no triggers
    excess: float  # the token most above its frequency in Shakespeare, in standard deviations
    seen: float  # one of the tokens that have followed some trigger, at random
    bigram: float  # the likeliest successor of the trigger in Shakespeare


def baselines(task: Task, bigrams: Bigrams, batch: Batch) -> Baselines:
    """Accuracies of five guesses, `seen` in expectation; ValueError where triggers are drawn."""
    if task.n_drawn:
        raise ValueError("the guesses are for triggers that all sequences share")
    hot = one_hot(batch.tokens, task.n_tokens)
    # whole numbers add up to the same on every device, in whatever order
    counts = hot.cumsum(dim=1).to(torch.float64)
    frequency = torch.from_numpy(bigrams.unigram).to(counts)
    conditional = torch.from_numpy(bigrams.conditional).to(counts)
    expected = torch.arange(1, counts.shape[1] + 1).to(counts)[:, None] * frequency
    chance = outputs_so_far(task, batch)
    wanted = batch.targets[..., None]

    def accuracy(scores: Float[Tensor, "batch T N"]) -> float:
        return float((scores.argmax(dim=-1) == batch.targets)[batch.scored].double().mean())

    return Baselines(
        accuracy(counts),
        accuracy(counts.index_fill(-1, task.triggers, -1)),
        accuracy((counts - expected) / expected.sqrt()),
        float(chance.gather(-1, wanted).squeeze(-1)[batch.scored].mean()),
        accuracy(conditional[batch.tokens]),
    )


def outputs_so_far(task: Task, batch: Batch) -> Float[Tensor, "batch T N"]:
    """Equal probabilities for all tokens that have followed a trigger before; else zeros."""
    triggered = torch.isin(batch.tokens, task.triggers)
    followers = one_hot(batch.targets, task.n_tokens) * triggered[..., None]
    before = (followers.cumsum(dim=1) - followers > 0).to(torch.float64)
    return before / before.sum(dim=-1, keepdim=True).clamp(min=1)
