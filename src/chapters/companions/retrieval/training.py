"""Training on the retrieval problem, all runs at once, with accuracy by hops and attention."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import Schedule, recordable
from emergence.running.memo import resumable

from . import model
from .model import (
    Architecture,
    Batch,
    Parameters,
    Stages,
    accuracy,
    cut_accuracies,
    forward,
    initial,
    sorted_maps,
)


@dataclass(frozen=True)
class RetrievalTraining:
    """Adam on the cross-entropy of the answer; the source's abstract names no setting.

    Three chains, so that guessing among the ends is right one time in three. The rate rises over
    `warm_up` steps and falls along a cosine to `final_share` of itself; a share of 1 keeps it.
    """

    stages: Stages = ((1, 2, 3, 4),)  # the hops asked for, a stage of training after another
    stage_steps: int = 0  # of all stages but the last, which lasts until the end
    steps: int = 1500  # at most
    until: float | None = None  # ends once every run has this accuracy on all hops of the end
    architecture: Architecture = field(default_factory=Architecture)
    n_hops: int = 4  # D; two layers of forward merging reach 3
    n_chains: int = 3  # with fewer, counting symbols is a short cut
    batch_size: int = 86  # contexts, each with a question a chain: 258 questions
    learning_rate: float = 2e-3
    warm_up: int = 200
    final_share: float = 0.1
    record_every: int = 10
    test_size: int = 64  # fixed contexts a number of hops, at each record
    causal: bool = False  # whether each record takes every look away in turn

    def __post_init__(self) -> None:
        if min(self.steps, self.record_every, self.warm_up, self.n_hops) < 1:
            raise ValueError(f"steps, record_every, warm_up and n_hops must be positive: {self}")
        if not self.stages or not all(self.stages):
            raise ValueError(f"every stage asks for some number of hops, got {self.stages}")
        if len(self.stages) > 1 and self.stage_steps < 1:
            raise ValueError("several stages need stage_steps")

    def rate(self, step: int) -> float:
        fall = 0.5 * (1 + math.cos(math.pi * step / self.steps))
        share = self.final_share + (1 - self.final_share) * fall
        return self.learning_rate * share * min(1.0, (step + 1) / self.warm_up)

    def asked(self, step: int) -> tuple[int, ...]:
        """The hops asked for at a step."""
        stage = step // self.stage_steps if self.stage_steps else 0
        return self.stages[min(stage, len(self.stages) - 1)]

    def draw(
        self, allowed: tuple[int, ...], size: int, streams: Sequence[torch.Generator]
    ) -> Batch:
        """Contexts that ask for the allowed numbers of hops, so many for each run's stream."""
        n_hops, vocabulary = self.n_hops, self.architecture.vocabulary
        if not 1 <= min(allowed) <= max(allowed) <= n_hops:
            raise ValueError(f"hops must be between 1 and {n_hops}")
        each = []
        for stream in streams:
            hops = model.draw(allowed, size, self.n_chains, generator=stream)
            each.append(model.draw_contexts(hops, n_hops, vocabulary, stream))
        return model.stacked(each)


class RetrievalRecord(NamedTuple):
    """Accuracy on fixed contexts and mean sorted attention (D hops) after so many steps.

    `cut` is the accuracy with each look of `heads.looks` taken away; no looks unless asked for.
    """

    moments: Int[Tensor, " times"]
    accuracy: Float[Tensor, "runs times n_hops"]
    maps: Float[Tensor, "runs times layers heads tokens n_hops"]
    cut: Float[Tensor, "runs times looks n_hops"]
    parameters: Parameters


@resumable
def train(
    settings: RetrievalTraining,
    seeds: Sequence[int],
    *,
    device: torch.device,
    label: str = "training",
) -> RetrievalRecord:
    """Train one network a seed; each sees the data of its own seed only.

    Raises ArithmeticError when a run diverges, ValueError without seeds.
    """
    if not seeds:
        raise ValueError("training needs at least one seed")
    n_heads = settings.architecture.n_heads
    streams = [generator(seed, device) for seed in seeds]
    parameters = initial(settings.architecture, streams)
    tests = contexts(settings, seeds, settings.test_size, device=device)
    precision = torch.float32 if device.type == "cuda" else torch.float64  # as Adam reads a rate
    each = [[settings.rate(step)] for step in range(settings.steps)]
    rates = Schedule(each, device, precision)
    start = torch.zeros((), device=device, dtype=precision)
    optimiser = recordable(torch.optim.Adam(parameters.tensors(), lr=start, fused=True))
    rows: list[tuple[int, Tensor, Tensor, Tensor]] = []

    def record(step: int) -> None:
        effects = cut_accuracies(parameters, tests, n_heads, settings.causal)
        rows.append((step, *examine(parameters, tests, n_heads), effects))

    def ended() -> bool:
        last = rows[-1][0]
        asked = settings.asked(last)
        if settings.until is None or not last or asked != settings.stages[-1]:
            return False
        return bool((rows[-1][1][:, [hop - 1 for hop in asked]] >= settings.until).all())

    def step(recorded: bool, hops: tuple[int, ...]) -> tuple[Tensor, None]:
        batch = settings.draw(hops, settings.batch_size, streams)
        optimiser.param_groups[0]["lr"].copy_(rates()[0])
        loss = losses(parameters, batch, n_heads)
        optimiser.zero_grad()
        loss.sum().backward()
        optimiser.step()
        return loss.detach(), None

    every = settings.record_every
    loop.descend(
        settings.steps,
        label,
        step,
        rows=rows,
        ended=ended,
        stops=sorted({*range(0, settings.steps, every), settings.steps}),
        at_stop=record,
        phase=settings.asked,
        parameters=tuple(parameters.tensors()),
        optimiser=optimiser,
        streams=tuple(streams),
        place=rates.place,
    )
    moments, *series = zip(*rows, strict=True)
    right, maps, cut = (torch.stack(each, dim=1) for each in series)
    return RetrievalRecord(torch.tensor(moments), right, maps, cut, parameters)


def losses(parameters: Parameters, batch: Batch, n_heads: int) -> Float[Tensor, " runs"]:
    """The mean cross-entropy of each run's answers."""
    logits = forward(parameters, batch, n_heads).logits
    each = cross_entropy(logits.flatten(0, 2), batch.target.flatten(), reduction="none")
    return each.view_as(batch.target).mean(dim=(1, 2))


def contexts(
    settings: RetrievalTraining, seeds: Sequence[int], size: int, *, device: torch.device
) -> tuple[Batch, ...]:
    """Contexts that ask for 1, 2, ... D hops, from streams that training never sees.

    Seeds differ in their lower 32 bits, the only ones that PyTorch heeds on a processor.
    """
    streams = [generator(2**31 + seed, device) for seed in seeds]
    return tuple(settings.draw((hops,), size, streams) for hops in range(1, settings.n_hops + 1))


@torch.no_grad()
def examine(
    parameters: Parameters, tests: Sequence[Batch], n_heads: int
) -> tuple[Float[Tensor, "runs n_hops"], Float[Tensor, "runs layers heads tokens n_hops"]]:
    """Accuracy on each of the tests, and the mean sorted attention on the last."""
    right = []
    for batch in tests:
        result = forward(parameters, batch, n_heads)
        right.append(accuracy(result, batch))
    return torch.stack(right, dim=-1).cpu(), sorted_maps(result.attention, batch).cpu()
