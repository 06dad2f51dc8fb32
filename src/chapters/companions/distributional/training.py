"""Training on the noisy task, with readings of the model whole and truncated."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch.nn.functional import cross_entropy

from chapters.companions.birth.bigrams import Bigrams
from running import loop
from running.cache import Task
from running.devices import generator

from . import Recipe, task
from .model import Model, draw, logits
from .probes import Probe, Tested, followed

TEST_SEED = 10_000  # apart from all seeds of training


class Record(NamedTuple):
    """One run; a row of readings is as `probes.followed` gives it."""

    loss: Float[np.ndarray, " steps"]
    probed: Int[np.ndarray, " probes"]
    readings: Float[np.ndarray, "probes values"]
    model: Model


def probe(recipe: Recipe, bigrams: Bigrams, seed: int, device: torch.device) -> Probe:
    """Sequences that no training sees: with noise, and without."""
    stream = generator(TEST_SEED + seed, device)
    what = task.make(bigrams, device)
    trigger = int(what.triggers[0])
    noisy, clean = (
        task.sample(what, recipe.n_tested, recipe.length, alpha, generator=stream)
        for alpha in (recipe.alpha, 0.0)
    )
    return Probe(Tested.of(noisy, trigger), Tested.of(clean, trigger), trigger)


def due(step: int, every: int) -> bool:
    """Whether a step is measured: every so many, and five times as often before the first."""
    return step % (every if step >= every else max(1, every // 5)) == 0


def train(
    recipe: Recipe, bigrams: Bigrams, seed: int, *, device: torch.device, label: str = "training"
) -> Record:
    """Train one model by momentum descent; raises ArithmeticError when the run diverges."""
    stream = generator(seed, device)
    what = task.make(bigrams, device)
    tested = probe(recipe, bigrams, seed, device)
    model = draw(what.n_tokens, recipe.length, recipe.dim, recipe.width, generator=stream)
    free = model.trained
    for part in free:
        part.requires_grad_()
    optimiser = torch.optim.SGD(
        free, lr=recipe.learning_rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay
    )
    losses: list[float] = []
    found: list[tuple[int, list[float]]] = []
    name = Task.of(train, recipe=recipe, bigrams=bigrams.sha256, seed=seed)
    for step in loop.steps(
        name,
        recipe.steps,
        label,
        trained=tuple(free),
        optimiser=optimiser,
        stream=stream,
        losses=losses,
        found=found,
    ):
        if due(step, recipe.every):
            found.append((step, followed(model, tested)))
        batch = task.sample(what, recipe.batch_size, recipe.length, recipe.alpha, generator=stream)
        lowered = model.cast(getattr(torch, recipe.precision))
        optimiser.zero_grad()
        asked = Tested.of(batch, tested.trigger)
        loss = cross_entropy(logits(lowered, batch.tokens, asked.at, asked.real), asked.targets)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
        loop.check_finite(losses[-1], label, step)
    found.append((recipe.steps, followed(model, tested)))
    for part in free:
        part.requires_grad_(False)
    probed = np.array([step for step, _ in found], dtype=int)
    readings = np.array([list(row) for _, row in found])
    return Record(np.array(losses), probed, readings, model)
