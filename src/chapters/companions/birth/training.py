"""Training of the simplified transformer: momentum descent on scored positions."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable

from . import Simplified, attention, task
from .bigrams import Bigrams
from .model import Frozen, Trained, initial, logits, loss_and_accuracy, matrices_of

POOL = 8  # batches drawn at once: a chain is drawn position by position
CHUNK = 16  # sequences tested at once
Reader = Callable[[Frozen, Trained, Int[Tensor, " k"]], Sequence[Any]]  # called with the triggers


class TrainingRecord(NamedTuple):
    """One run: loss and accuracy of each fresh batch before its step, readings at some steps."""

    loss: Float[np.ndarray, " steps"]
    accuracy: Float[np.ndarray, " steps"]
    probed: Int[np.ndarray, " probes"]
    readings: Float[np.ndarray, "probes ..."]  # by default `attention.Recalls`
    frozen: Frozen
    trained: Trained


@resumable
def train(
    settings: Simplified,
    bigrams: Bigrams,
    seed: int,
    *,
    n_layers: int,
    device: torch.device,
    label: str = "training",
    read: Reader | None = None,
) -> TrainingRecord:
    """Train one model, and if it has two layers read its memories, by default their recalls.

    Another reader is a frozen dataclass, for a training resumes only with the same one. Raises
    ArithmeticError when the run diverges.
    """
    stream = generator(seed, device)
    what = task.make(bigrams, settings.n_triggers, device, random_triggers=settings.random_triggers)
    frozen, trained = initial(
        what.n_tokens, settings.length, settings.dim, n_layers, generator=stream
    )
    free, reader = matrices_of(trained), read or attention.recalls
    for part in free:
        part.requires_grad_()
    optimiser = torch.optim.SGD(
        free,
        lr=settings.learning_rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
    rows: list[tuple[float, float]] = []  # loss and accuracy
    probes: list[tuple[int, Sequence[Any]]] = []
    pool: list[Tensor] = []
    for step in loop.steps(
        settings.steps,
        label,
        trained=tuple(free),
        optimiser=optimiser,
        stream=stream,
        pool=pool,
        rows=rows,
        found=probes,
    ):
        if n_layers == 2 and step % settings.every == 0:
            probes.append((step, reader(frozen, trained, what.triggers)))
        size = settings.batch_size
        if step % POOL == 0:
            pool[:] = task.sample(what, POOL * size, settings.length, generator=stream)
        batch = task.Batch(*(part[step % POOL * size :][:size].to(device) for part in pool))
        loss, accuracy = loss_and_accuracy(frozen, trained, batch)
        optimiser.zero_grad()
        loss.backward()
        moving = [step >= first or n_layers == 1 for first in reversed(settings.released)]
        for part, moved in zip(free, moving, strict=False):
            if not moved:
                part.grad = None  # then it has no momentum and no decay either
        optimiser.step()
        rows.append((float(loss.detach()), float(accuracy)))
        loop.check_finite(rows[-1][0], label, step)
    if n_layers == 2:
        probes.append((settings.steps, reader(frozen, trained, what.triggers)))
    for part in free:
        part.requires_grad_(False)
    losses, accuracies = np.array(rows).T
    probed = np.array([step for step, _ in probes], dtype=int)
    readings = np.array([values for _, values in probes], dtype=float)
    return TrainingRecord(losses, accuracies, probed, readings, frozen, trained)


def accuracy_on(record: TrainingRecord, batch: task.Batch) -> float:
    """Accuracy at the scored positions of sequences that were not trained on."""
    answers = [
        logits(record.frozen, record.trained, tokens).argmax(dim=2)
        for tokens in batch.tokens.split(CHUNK)
    ]
    return float((torch.cat(answers) == batch.targets)[batch.scored].double().mean())
