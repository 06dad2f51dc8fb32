"""Training of several transformers of §2 at once, with their seeds, rates and emergence times.

The loss is watched on a fixed set of sequences, not on the batch.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from emergence import tasks
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import constant
from emergence.running.memo import resumable
from emergence.training import TokenTraining, initial_transformer

from .networks import Stacked, StackedDescent, stacked, stacked_logits

PROBE_SEED = 1_000_003  # of the fixed set, of no training


class Emerged(NamedTuple):
    """When runs pass levels of the loss, and how they ended.

    A level is passed where the line between two losses measured on the fixed set crosses it.
    """

    steps: Float[np.ndarray, "runs levels"]  # of the first crossing of each level; inf for never
    loss: Float[np.ndarray, " runs"]  # at the last look, in nats; NaN for a run that diverged
    accuracy: Float[np.ndarray, " runs"]  # share of right labels at the last look
    taken: Float[np.ndarray, " runs"]  # updates until it passed the last level, diverged or ended


@resumable
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
    """Train one run per seed until its loss on a fixed set has passed all levels (§2, App. E).

    A run draws its start and its batches as `train_tokens` does with its seed. The fixed set is
    the same for all runs of these settings. Runs leave when they are done. A training
    that is killed goes on where it was, as far as the cache in use has kept it.

    Args:
        settings: network, data, optimiser and the limit of steps; causal mask, scaled scores. Its
            learning rate and `until_loss` are not used.
        seeds: the seeds of the initial weights and of the data, one per run.
        rates: the learning rates, one per run.
        levels: losses in nats, falling; a run ends at the last.
        probes: sequences of the fixed set.
        device: where they are trained.
        label: what messages call the training.

    Raises:
        ValueError: for settings that are not computed here, or not one rate a seed.
    """
    if settings.mask != "causal" or not settings.scaled:
        raise ValueError(f"only the causal mask and scaled scores are computed here: {settings}")
    if len(seeds) != len(rates):
        raise ValueError(f"a rate a seed, got {len(rates)} rates and {len(seeds)} seeds")
    streams = [generator(seed, device) for seed in seeds]
    weights = stacked([initial_transformer(settings, stream) for stream in streams])
    descent = StackedDescent(settings, weights, torch.tensor(rates, device=device))
    probe = _draw(settings, [generator(PROBE_SEED, device)], probes)
    watch = _Watch.over(len(seeds), levels)
    going: list[tuple[int, ...]] = []  # the runs since the last look

    def runs(at: int) -> tuple[int, ...]:
        if not going:
            going.append(tuple(watch.runs.tolist()))
        return going[0]

    def look(made: int) -> None:
        those = runs(made)
        watch.note(watch.runs, made, *_look(descent.of(those), probe))
        going.clear()

    def step(recorded: bool, those: tuple[int, ...]) -> tuple[Tensor, None]:
        if those:
            update(settings, descent, those, [streams[run] for run in those])
        return descent.rates, None  # one that diverges leaves

    loop.descend(
        settings.steps,
        label,
        step,
        rows=[],
        ended=lambda: not len(watch.runs),
        stops=loop.ever_rarer(settings.steps),
        at_stop=look,
        phase=runs,
        weights=tuple(descent.weights),
        moments=tuple(descent.first + descent.second),
        watched=tuple(watch),
        streams=tuple(streams),
        place=descent.corrections.place,
    )
    return Emerged(**{name: getattr(watch, name).numpy() for name in Emerged._fields})


class _Watch(NamedTuple):
    """What has been seen of all runs; those that have gone are looked at no more."""

    goals: Float[Tensor, " levels"]
    steps: Float[Tensor, "runs levels"]
    loss: Float[Tensor, " runs"]
    accuracy: Float[Tensor, " runs"]
    taken: Float[Tensor, " runs"]  # at the last look

    @classmethod
    def over(cls, runs: int, levels: Sequence[float]) -> "_Watch":
        goals = torch.tensor(levels, dtype=torch.float64)
        never = torch.full((runs, len(goals)), torch.inf, dtype=torch.float64)
        return cls(goals, never, *torch.full((3, runs), torch.nan, dtype=torch.float64))

    @property
    def runs(self) -> Int[Tensor, " going"]:
        """Those that have neither passed all levels nor diverged."""
        going = self.taken.isnan() | (self.loss.isfinite() & self.steps[:, -1].isinf())
        return going.nonzero()[:, 0]

    def note(
        self,
        runs: Int[Tensor, " looked"],
        step: int,
        loss: Float[Tensor, " looked"],
        accuracy: Float[Tensor, " looked"],
    ) -> None:
        """Record a measurement of these runs; between two measurements the loss is interpolated."""
        for run, new in zip(runs, loss, strict=True):
            passed = self.steps[run].isinf() & (new <= self.goals)
            at = torch.zeros_like(self.goals)
            if step:
                before, seen = self.loss[run], self.taken[run]
                share = (before - self.goals) / (before - new).clamp_min(1e-12)
                at = seen + share.clamp(0, 1) * (step - seen)
            self.steps[run, passed] = at[passed]
        self.loss[runs], self.accuracy[runs], self.taken[runs] = loss, accuracy, float(step)


def update(
    settings: TokenTraining,
    descent: StackedDescent,
    runs: tuple[int, ...],
    streams: Sequence[torch.Generator],
) -> None:
    """The next update of some runs, on a fresh batch each; the rest have left."""
    gradients = fresh_gradients(settings, descent.of(runs), streams)
    if len(runs) < len(descent.rates):
        rows = constant(runs, descent.rates.device)
        gradients = [
            torch.zeros_like(whole).index_copy_(0, rows, gradient)
            for whole, gradient in zip(descent.weights, gradients, strict=True)
        ]
    descent.step(gradients)


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
) -> tuple[Float[Tensor, " runs"], Float[Tensor, " runs"]]:
    """Loss and accuracy of every run on the fixed set."""
    rows = []
    for run in range(len(weights.tokens)):  # one at a time, for memory
        single = Stacked(*(w[run : run + 1] for w in weights))
        logits = stacked_logits(single, probe.tokens, probe.positions)[0]
        target = probe.target[0]
        right = (logits.argmax(dim=1) == target).double().mean()
        rows.append(torch.stack([cross_entropy(logits, target).double(), right]))
    loss, accuracy = torch.stack(rows, dim=1).cpu()
    return loss, accuracy
