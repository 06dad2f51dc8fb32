"""A step of each long training of the book, at the sizes of its chapter, beside its floor.

Every training is a loop over `loop.steps`. Here that loop looks at each of so many steps and then
ends the training: what is measured is the chapter's own code, sampling and records included.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch.utils.benchmark import timer

from chapters.beyond import batch_noise, full_flow
from chapters.beyond.batch_noise.following import follow_noise
from chapters.companions import birth, distributional, factual_recall, retrieval
from chapters.companions.birth import bigrams
from chapters.companions.birth.training import train as train_birth
from chapters.companions.clustering import PRESET as CLUSTERING
from chapters.companions.clustering.training import train_clustering
from chapters.companions.distributional.training import train as train_distributional
from chapters.companions.factual_recall import cells, linear, trials
from chapters.companions.retrieval.training import train as train_retrieval
from chapters.paper import appendix_c, emergence
from chapters.paper.induction_heads import feed_forward
from emergence import training
from emergence.presets import Preset, choose
from running import loop

from .operations import Operation, Operations
from .timing import spread

BIGRAMS = Path("data", "shakespeare_bigrams.csv")
FIRST = 3  # steps that are not looked at: arrays are made, and kept for the next step
ROUNDS = 3  # at least
NAMED = 3  # operations that lose most

Watch = AbstractContextManager[object]
Train = Callable[[torch.device], object]
UNWATCHED = nullcontext()


class _Enough(Exception):
    """All steps that were asked for have been seen."""


def long_trainings(profile: str) -> dict[str, tuple[int, Train]]:
    """Every long training: after how many steps its work repeats, and how it is started."""

    def of(preset: Mapping[str, Preset]) -> tuple[Any, tuple[int, ...]]:
        chosen = choose(preset, profile)
        return chosen.settings, chosen.seeds()

    figures, seeds = of(emergence.PRESET)
    moments, _ = of(appendix_c.PRESET)
    mlp, _ = of(feed_forward.PRESET)
    flow, _ = of(full_flow.PRESET)
    noise, _ = of(batch_noise.PRESET)
    chains, _ = of(retrieval.PRESET)
    clusters, _ = of(CLUSTERING)
    recall, _ = of(factual_recall.PRESET)
    born, _ = of(birth.PRESET)
    associations = distributional.Recipe()
    if profile == "smoke":
        associations = replace(associations, length=16, dim=16, width=16, batch_size=8)
    counts = bigrams.read(BIGRAMS.read_text(encoding="ascii"))
    n_pairs, widest = max(flow.gaussian_pairs), noise.widest()
    law = widest.training(max(widest.batch_sizes))
    return {
        "§2.4, an MLP, N = 8, D = 128": (
            1, lambda device: feed_forward.train_mlp(
                feed_forward.MLPRun(mlp, 0, mlp=True, device=device.type)
            ),
        ),
        "§5, Figure 4, five seeds": (
            figures.training.record_every,
            lambda device: training.train_minimal(figures.training, seeds, device=device),
        ),
        "App. C, 16 pairs": (
            moments.sixteen.record_every,
            lambda device: training.train_minimal(moments.sixteen, seeds, device=device),
        ),
        f"Full flow, N = {n_pairs}": (
            1, lambda device: training.train_minimal(
                flow.gaussian(n_pairs, 100), (0,), device=device
            ),
        ),
        "Batch noise, its law": (
            law.record_every, lambda device: follow_noise(
                law, device=device, draws=noise.draws, sequences=noise.sequences
            ),
        ),
        "Retrieval, three layers": (
            chains.record_every,
            lambda device: train_retrieval(chains.training(), seeds, device=device),
        ),
        "Clustering": (
            1, lambda device: train_clustering(clusters.arm(1.0), seeds, device=device)
        ),
        "Factual recall, linear": (
            recall.every, lambda device: linear.train_linear(
                recall.facts, seeds, alpha=[recall.alpha] * len(seeds),
                learning_rate=recall.learning_rate, batch_size=recall.batch_size,
                steps=recall.steps, every=recall.every, test_size=recall.test_size,
                device=device, label="facts",
            ),
        ),
        "Factual recall, a cell": (1, lambda device: trials.run(cells.CELLS[0], device)),
        "Birth of a transformer": (
            born.every,
            lambda device: train_birth(born, counts, 0, n_layers=2, device=device),
        ),
        "Distributional associations": (
            1, lambda device: train_distributional(associations, counts, 0, device=device)
        ),
    }  # fmt: skip


def row(
    name: str,
    period: int,
    train: Train,
    machine: Mapping[str, Any],
    device: torch.device,
    budget: float,
) -> dict[str, Any]:
    """What a step takes and what it asks for, in the mean over a whole number of periods."""
    rounds = max(ROUNDS, round(budget / sum(_look(train, device, period))))
    operations = Operations()
    _look(train, device, ROUNDS * period, operations)
    times = _look(train, device, rounds * period)
    whole = len(times) // period  # fewer where the training is shorter
    step = spread(np.reshape(times[: whole * period], (whole, period)).mean(axis=1))
    seen, steps = operations.whole(period)
    floor = sum(one.least(machine) for one in seen) / steps
    return {
        "name": name,
        "step": step._asdict(),
        "operations": sum(one.flops for one in seen) / steps,
        "bytes": sum(one.bytes for one in seen) / steps,
        "calls": len(seen) / steps,
        "floor": floor,
        "over_floor": step.median / floor,
        "lost": {name: lost / steps for name, lost in most_lost(seen, machine)},
    }


def most_lost(seen: Iterable[Operation], machine: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The names that lose most, with the seconds that all of their name took above the least."""
    lost: defaultdict[str, float] = defaultdict(float)
    for one in seen:
        lost[one.name] += one.seconds - one.least(machine)
    return sorted(lost.items(), key=lambda item: -item[1])[:NAMED]


def _look(train: Train, device: torch.device, count: int, watch: Watch = UNWATCHED) -> list[float]:
    """Start a training, look at so many steps or all it has, and end it; return their seconds."""
    steps, times = loop.steps, []

    def few(*args: Any, **parts: Any) -> Iterator[int]:
        for number, step in enumerate(steps(*args, **parts)):
            if number == FIRST + count:
                raise _Enough
            start = timer()  # which waits for a GPU
            with watch if number >= FIRST else UNWATCHED:
                yield step
            times.append(timer() - start)

    with mock.patch.object(loop, "steps", few), suppress(_Enough):
        train(device)
    return times[FIRST:]
