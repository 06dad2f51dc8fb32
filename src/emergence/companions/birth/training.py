"""Descent with momentum on scored positions, by the fast method."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from ... import resuming
from ...probes import first_reached
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
    n_steps = settings.steps if n_layers == 2 else settings.steps_one_layer
    optimiser = torch.optim.SGD(
        free,
        lr=settings.learning_rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
    rows: list[tuple[float, float]] = []  # loss and accuracy
    found: list[tuple[int, Sequence[float]]] = []
    pool: list[Tensor] = []
    for step in resuming.steps(
        train,
        label,
        n_steps,
        {"settings": settings, "seed": seed, "layers": n_layers, "device": str(device)},
        trained=tuple(free),
        optimiser=optimiser,
        stream=stream,
        pool=pool,
        rows=rows,
        found=found,
    ):
        if n_layers == 2 and step % settings.every == 0:
            found.append((step, memories.recalls(frozen, trained, what.triggers)))
        if step % POOL == 0:
            pool[:] = task.sample(
                what, POOL * settings.batch_size, settings.length, generator=stream
            )
        first = step % POOL * settings.batch_size
        batch = task.Batch(*(part[first : first + settings.batch_size].to(device) for part in pool))
        loss, accuracy, gradient = fast.loss_and_gradient(frozen, trained, batch)
        if not np.isfinite(loss):
            raise ArithmeticError(f"{label}: the loss is not finite at step {step}")
        for part, pull in zip(free, (*gradient.kq, gradient.o), strict=True):
            part.grad = pull
        optimiser.step()
        rows.append((loss, accuracy))
    if n_layers == 2:
        found.append((n_steps, memories.recalls(frozen, trained, what.triggers)))
    losses, accuracies = np.array(rows).T
    return Record(
        losses,
        accuracies,
        np.array([step for step, _ in found], dtype=int),
        np.array([recalls for _, recalls in found]).reshape(-1, len(memories.Recalls._fields)),
        frozen,
        trained,
    )


def accuracy_on(record: Record, batch: task.Batch) -> float:
    """Accuracy at the scored positions of sequences that were not trained on."""
    return fast.loss_and_gradient(record.frozen, record.trained, batch).accuracy


def settled(
    probed: Int[np.ndarray, " probes"], curves: Float[np.ndarray, "runs probes"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first step from which on a curve stays at its level or above; infinity if none."""
    least_to_come = np.minimum.accumulate(curves[:, ::-1], axis=1)[:, ::-1]
    return first_reached(probed, least_to_come, level)
