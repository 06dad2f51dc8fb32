"""Training on the noisy task, and what the model says with and without its last layer."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch.nn.functional import cross_entropy

from ...progress import steps as counted
from ..birth.bigrams import Bigrams
from . import task
from .model import Model, draw, logits, truncated
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


def measured(
    model: Model, settings: Settings, noisy: task.Batch, clean: task.Batch, trigger: int
) -> tuple[list[float], list[float]]:
    """p(noise | trigger) and clean accuracy for each share, then for the full model."""
    noise, accuracy = [], []
    with torch.no_grad():
        for share in (*settings.shares, None):
            cut = model if share is None else truncated(model, share)
            for batch, index, found in ((noisy, 0, noise), (clean, 1, accuracy)):
                at, real = task.rows_of(task.answerable(batch, trigger))
                found.append(task.shares(logits(cut, batch.tokens, at), batch, real)[index])
    return noise, accuracy


def train(
    settings: Settings, bigrams: Bigrams, seed: int, *, device: torch.device, label: str = "noise"
) -> Record:
    """Train one model by momentum descent; raises ArithmeticError when the run diverges."""
    stream = torch.Generator(device).manual_seed(seed)
    test_stream = torch.Generator(device).manual_seed(TEST_SEED + seed)
    what = task.make(bigrams, device)
    trigger = int(what.triggers[0])
    tests = [
        task.sample(what, settings.n_tested, settings.length, alpha, generator=test_stream)
        for alpha in (settings.alpha, 0.0)
    ]
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
    losses, found = [], {}
    for step in counted(label, settings.steps):
        if step % settings.every == 0:
            found[step] = measured(model, settings, *tests, trigger)
        batch = task.sample(
            what, settings.batch_size, settings.length, settings.alpha, generator=stream
        )
        at, real = task.rows_of(task.repeated(batch, trigger))
        wanted = batch.targets.gather(1, at)[real]
        loss = cross_entropy(logits(model, batch.tokens, at)[real], wanted)
        if not torch.isfinite(loss):
            raise ArithmeticError(f"{label}: the loss is not finite at step {step}")
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    found[settings.steps] = measured(model, settings, *tests, trigger)
    for part in free:
        part.requires_grad_(False)
    noise, clean = (np.array([pair[i] for pair in found.values()]) for i in (0, 1))
    return Record(np.array(losses), np.array([*found], dtype=int), noise, clean, model)
