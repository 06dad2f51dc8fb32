"""Training on the noisy task, and tests of the model with and without its last layer."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from emergence.companions.birth.bigrams import Bigrams
from emergence.running import loop
from emergence.running.cache import Task
from emergence.running.devices import generator

from . import task
from .model import FeedForward, Model, before_last, draw, logits, truncated
from .settings import Settings

TEST_SEED = 10_000  # apart from all seeds of training


class Record(NamedTuple):
    """One run. A row for each share of singular values, the full model (share 1) last.

    Noise is p(noise | trigger) on the noisy task; clean is the accuracy where no noise occurs.
    """

    loss: Float[np.ndarray, " steps"]
    probed: Int[np.ndarray, " probes"]
    noise: Float[np.ndarray, "probes shares"]
    clean: Float[np.ndarray, "probes shares"]
    model: Model


class Tested(NamedTuple):
    """Fresh sequences at the point where the last layer acts: the stream there, and what is so."""

    stream: Float[Tensor, "batch R d"]
    batch: task.Batch
    real: Bool[Tensor, "batch R"]


def tests(
    settings: Settings, bigrams: Bigrams, seed: int, device: torch.device
) -> list[task.Batch]:
    """Sequences that no training sees: with noise, and without."""
    stream = generator(TEST_SEED + seed, device)
    what = task.make(bigrams, device)
    return [
        task.sample(what, settings.n_tested, settings.length, alpha, generator=stream)
        for alpha in (settings.alpha, 0.0)
    ]


@torch.no_grad()
def brought(model: Model, batches: list[task.Batch], trigger: int) -> list[Tested]:
    """The stream before the last layer, where an earlier trigger was followed by o."""
    chosen = [task.rows_of(task.answerable(batch, trigger)) for batch in batches]
    return [
        Tested(before_last(model, batch.tokens, at), batch, real)
        for batch, (at, real) in zip(batches, chosen, strict=True)
    ]


@torch.no_grad()
def answered(
    layer: FeedForward, u: Float[Tensor, "N d"], noisy: Tested, clean: Tested
) -> tuple[float, float]:
    """p(noise | trigger) and clean accuracy with this in the place of the last layer."""
    noise, _ = task.shares(layer(noisy.stream) @ u.T, noisy.batch, noisy.real)
    _, accuracy = task.shares(layer(clean.stream) @ u.T, clean.batch, clean.real)
    return noise, accuracy


def measured(
    model: Model, settings: Settings, batches: list[task.Batch], trigger: int
) -> list[tuple[float, float]]:
    """`answered` for each share of singular values, then for the full layer."""
    layers = [*(truncated(model.last, share) for share in settings.shares), model.last]
    found = brought(model, batches, trigger)
    return [answered(layer, model.frozen.u, *found) for layer in layers]


def train(
    settings: Settings,
    bigrams: Bigrams,
    seed: int,
    *,
    device: torch.device,
    label: str = "training",
) -> Record:
    """Train one model by momentum descent; raises ArithmeticError when the run diverges."""
    stream = generator(seed, device)
    what = task.make(bigrams, device)
    trigger = int(what.triggers[0])
    batches = tests(settings, bigrams, seed, device)
    model = draw(what.n_tokens, settings.length, settings.dim, settings.width, generator=stream)
    free = model.trained
    for part in free:
        part.requires_grad_()
    optimiser = torch.optim.SGD(
        free,
        lr=settings.learning_rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
    losses: list[float] = []
    found: list[tuple[int, list[tuple[float, float]]]] = []
    for step in loop.steps(
        Task.of(train, settings=settings, bigrams=bigrams.sha256, seed=seed),
        settings.steps,
        label,
        trained=tuple(free),
        optimiser=optimiser,
        stream=stream,
        losses=losses,
        found=found,
    ):
        if step % settings.every == 0:
            found.append((step, measured(model, settings, batches, trigger)))
        batch = task.sample(
            what, settings.batch_size, settings.length, settings.alpha, generator=stream
        )
        losses.append(momentum_step(model, optimiser, batch, trigger))
        loop.check_finite(losses[-1], label, step)
    found.append((settings.steps, measured(model, settings, batches, trigger)))
    for part in free:
        part.requires_grad_(False)
    noise, clean = np.array([shares for _, shares in found]).transpose(2, 0, 1)
    probed = np.array([step for step, _ in found], dtype=int)
    return Record(np.array(losses), probed, noise, clean, model)


def momentum_step(
    model: Model, optimiser: torch.optim.Optimizer, batch: task.Batch, trigger: int
) -> float:
    """One update; the loss before, where the trigger occurs again."""
    at, real = task.rows_of(task.repeated(batch, trigger))
    wanted = batch.targets.gather(1, at)[real]
    loss = cross_entropy(logits(model, batch.tokens, at)[real], wanted)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return float(loss.detach())
