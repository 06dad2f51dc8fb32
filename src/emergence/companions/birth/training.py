"""Descent with momentum on scored positions, by the fast method."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from ...progress import steps as counted
from . import fast, memories, task
from .bigrams import Bigrams
from .model import Frozen, Trained, initial
from .settings import Settings

POOL = 8  # batches drawn at once: a chain is drawn position by position


class Record(NamedTuple):
    """One run: loss and accuracy of each fresh batch before its step, recalls at some steps."""

    loss: Float[np.ndarray, " steps"]
    accuracy: Float[np.ndarray, " steps"]
    probed: Int[np.ndarray, " probes"]
    recalls: Float[np.ndarray, "probes 4"]  # in the order of `memories.Recalls`; empty for 1 layer
    frozen: Frozen
    trained: Trained


def train(
    settings: Settings,
    bigrams: Bigrams,
    seed: int,
    *,
    n_layers: int,
    device: torch.device,
    label: str = "training",
) -> Record:
    """Train one model; raises ArithmeticError when the run diverges."""
    stream = torch.Generator(device).manual_seed(seed)
    what = task.make(bigrams, settings.n_triggers, device)
    frozen, trained = initial(
        what.n_tokens, settings.length, settings.dim, n_layers, generator=stream
    )
    free = [*trained.kq, trained.o]
    optimiser = torch.optim.SGD(
        free,
        lr=settings.learning_rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
    losses, accuracies, found = [], [], {}
    for step in counted(label, settings.steps):
        if n_layers == 2 and step % settings.every == 0:
            found[step] = memories.recalls(frozen, trained, what.triggers)
        if step % POOL == 0:
            pool = task.sample(
                what, POOL * settings.batch_size, settings.length, generator=stream
            )
        first = step % POOL * settings.batch_size
        batch = task.Batch(*(part[first : first + settings.batch_size] for part in pool))
        loss, accuracy, gradient = fast.loss_and_gradient(frozen, trained, batch)
        if not np.isfinite(loss):
            raise ArithmeticError(f"{label}: the loss is not finite at step {step}")
        for part, pull in zip(free, (*gradient.kq, gradient.o), strict=True):
            part.grad = pull
        optimiser.step()
        losses.append(loss)
        accuracies.append(accuracy)
    if n_layers == 2:
        found[settings.steps] = memories.recalls(frozen, trained, what.triggers)
    return Record(
        np.array(losses),
        np.array(accuracies),
        np.array([*found], dtype=int),
        np.array([*found.values()]).reshape(len(found), len(memories.Recalls._fields)),
        frozen,
        trained,
    )


def tested(
    settings: Settings, bigrams: Bigrams, record: Record, seed: int, device: torch.device
) -> float:
    """Accuracy at scored positions of fresh sequences."""
    what = task.make(bigrams, settings.n_triggers, device)
    stream = torch.Generator(device).manual_seed(seed)
    batch = task.sample(what, settings.n_tested, settings.length, generator=stream)
    return fast.loss_and_gradient(record.frozen, record.trained, batch).accuracy
