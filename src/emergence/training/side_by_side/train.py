"""Trains several transformers of §2 at once, unlike in seed and rate, and says when each emerges.

The loss is watched on a fixed set of sequences, not on the batch.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from emergence import tasks
from emergence.fast import Stacked, stacked, stacked_logits
from emergence.running.devices import generator
from emergence.running.progress import tell
from emergence.training.settings import TokenTraining
from emergence.training.transformer import initial_transformer

from .optimisers import Descent

PROBE_SEED = 1_000_003  # of the fixed set, of no training
GROWTH = 1.05  # of the steps from one look at the fixed set to the next


class Emerged(NamedTuple):
    """When runs pass levels of the loss, and how they ended.

    Attributes:
        steps: of the first crossing of each level, on a line in the loss between two looks; inf
            for never.
        loss: on the fixed set at the last look, in nats; NaN for a run that diverged.
        accuracy: share of the fixed set answered with the right label, at the last look.
        taken: updates until a run passed the last level, diverged or reached the limit.
    """

    steps: Float[np.ndarray, "runs levels"]
    loss: Float[np.ndarray, " runs"]
    accuracy: Float[np.ndarray, " runs"]
    taken: Float[np.ndarray, " runs"]


def train_side_by_side(
    settings: TokenTraining,
    seeds: Sequence[int],
    rates: Sequence[float],
    *,
    levels: Sequence[float],
    probes: int = 128,
    device: torch.device,
    label: str = "training",
) -> Emerged:
    """Train a run a seed until its loss on a fixed set has passed all levels (§2, App. E).

    A run draws its start and its batches as `train_tokens` does with its seed. The fixed set is
    the same for all runs of these settings. Runs leave when they are done, so nothing is kept of a
    training that is killed: grids are stored cell by cell.

    Args:
        settings: network, data, optimiser and the limit of steps; causal mask, scaled scores. Its
            learning rate and `until_loss` are not used.
        seeds: of the initial weights and of the data, one a run.
        rates: learning rates, one a run.
        levels: losses in nats, falling; a run ends at the last.
        probes: sequences of the fixed set.
        device: where they are trained.
        label: what messages call the training.

    Returns:
        The steps at which each level is passed.

    Raises:
        ValueError: for settings that are not computed here, or not one rate a seed.

    Example:
        >>> from emergence.training.side_by_side import train_side_by_side
        >>> settings = training.TokenTraining(16, 8, 5, 2, 8, steps=3)
        >>> found = train_side_by_side(
        ...     settings, [0, 1], [0.1, 0.2], levels=[0.3], device=torch.device("cpu")
        ... )
        >>> found.taken.tolist()
        [3.0, 3.0]
    """
    if settings.mask != "causal" or not settings.scaled:
        raise ValueError(f"only the causal mask and scaled scores are computed here: {settings}")
    if len(seeds) != len(rates):
        raise ValueError(f"a rate a seed, got {len(rates)} rates and {len(seeds)} seeds")
    streams = [generator(seed, device) for seed in seeds]
    weights = stacked([initial_transformer(settings, stream) for stream in streams])
    descent = Descent(settings, weights, torch.tensor(rates, device=device))
    weights = descent.keep(torch.arange(len(seeds), device=device))
    probe = _draw(settings, [generator(PROBE_SEED, device)], probes)

    runs, goals = np.arange(len(seeds)), np.array(levels)
    found = Emerged(np.full((len(runs), len(goals)), np.inf), *np.full((3, len(runs)), np.nan))
    before, seen, next_look = np.full(len(runs), np.nan), 0, 0
    for step in range(settings.steps + 1):
        if step >= next_look or step == settings.steps:
            loss, accuracy = _look(weights, probe)
            found.loss[runs], found.accuracy[runs], found.taken[runs] = loss, accuracy, step
            for i, run in enumerate(runs):
                new = np.isinf(found.steps[run]) & (loss[i] <= goals)
                if step:
                    share = (before[run] - goals) / max(before[run] - loss[i], 1e-12)
                    at = seen + np.clip(share, 0, 1) * (step - seen)
                else:
                    at = np.zeros(len(goals))
                found.steps[run, new] = at[new]
            before[runs], seen, next_look = loss, step, max(step + 1, int(step * GROWTH))
            going = np.isfinite(loss) & np.isinf(found.steps[runs, -1])
            if not going.all():
                kept = np.flatnonzero(going)
                runs, streams = runs[kept], [streams[i] for i in kept]
                weights = descent.keep(torch.as_tensor(kept, device=device))
            if not len(runs):
                break
        if step < settings.steps:
            update(settings, weights, descent, streams)
            tell(label, step + 1, settings.steps)
    return found


def update(
    settings: TokenTraining,
    weights: Stacked,
    descent: Descent,
    streams: Sequence[torch.Generator],
) -> Sequence[Tensor]:
    """One update of every run on a fresh batch of its own; the gradients it took."""
    gradients = fresh_gradients(settings, weights, streams)
    descent.step(gradients)
    return gradients


def fresh_gradients(
    settings: TokenTraining, weights: Stacked, streams: Sequence[torch.Generator]
) -> Sequence[Tensor]:
    """The gradient of every run's loss on a fresh batch of its own."""
    batch = _draw(settings, streams, settings.batch_size)
    logits = stacked_logits(weights, batch.tokens, batch.positions)
    # the sum over runs of the means over their batches: a run's gradient knows no other run
    loss = cross_entropy(logits.flatten(0, 1), batch.target.flatten(), reduction="sum")
    return torch.autograd.grad(loss / settings.batch_size, tuple(weights))


def _draw(
    settings: TokenTraining, streams: Sequence[torch.Generator], size: int
) -> tasks.TokenBatch:
    batches = [
        tasks.token_pairs(
            size, settings.n_pairs, settings.vocabulary, settings.block_size, generator=stream
        )
        for stream in streams
    ]
    return tasks.TokenBatch(*(torch.stack(parts) for parts in zip(*batches, strict=True)))


@torch.no_grad()
def _look(
    weights: Stacked, probe: tasks.TokenBatch
) -> tuple[Float[np.ndarray, " runs"], Float[np.ndarray, " runs"]]:
    """Loss and accuracy of every run on the fixed set."""
    rows = []
    for run in range(len(weights.tokens)):  # one at a time, for memory
        one = Stacked(*(w[run : run + 1] for w in weights))
        logits = stacked_logits(one, probe.tokens, probe.positions)[0]
        target = probe.target[0]
        right = (logits.argmax(dim=1) == target).double().mean()
        rows.append((float(cross_entropy(logits, target)), float(right)))
    loss, accuracy = np.array(rows).T
    return loss, accuracy
