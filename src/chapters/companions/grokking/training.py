"""Training of both layers by gradient descent on L_lambda, on the clock 2 lambda t.

When a network groks, and what a curve is worth while it does: the readings of the chapter.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import resumable

from . import RealTraining, Simulation
from .model import Layers, Samples, Split, accuracy, residual_and_gradient, split, start


class Instance(NamedTuple):
    """Data and initial weights, the same for the predicted and the real training."""

    data: Split
    layers: Layers


class TrainingRun(NamedTuple):
    """A run of real training; the clock is 2 lambda t, as for the predicted dynamics."""

    clock: Float[Tensor, " times"]
    accuracy: Float[Tensor, " times"]  # on the pairs held out
    memorised: Float[Tensor, " times"]  # accuracy on the training pairs
    loss: Float[Tensor, " times"]  # L without weight decay
    norm: Float[Tensor, " times"]  # squared, of all weights
    embeddings: Float[Tensor, "times p hidden"]


def instance(settings: Simulation, seed: int) -> Instance:
    """The split and the embeddings of §7.3; output weights of the same kind are ours."""
    stream = torch.Generator().manual_seed(seed)
    p, hidden = settings.modulus, settings.hidden
    n_train = int(settings.train_share * (p * (p + 1) // 2))
    data = split(p, n_train, generator=stream)
    layers = start(p, hidden, "normal", generator=stream)
    scale = settings.embedding_std * p**0.5
    return Instance(data, Layers(scale * layers.embeddings, layers.output))


@resumable
def train(
    simulation: Simulation,
    settings: RealTraining,
    seed: int,
    *,
    dtype: torch.dtype = torch.float32,
    label: str = "real training",
) -> TrainingRun:
    """Full-batch gradient descent with momentum on L_lambda of Eq. 13, for all weights.

    Data and initial weights are the `instance` of the simulation that it is compared with.
    With momentum m a step of size eta moves the clock by 2 lambda eta / (1 - m), divided by the
    slowdown of the first layer, by whose motion we count.
    Raises ArithmeticError when the run diverges.
    """
    rates = settings.learning_rate / settings.slowdown, settings.learning_rate
    tick = 2 * settings.decay * rates[0] / (1 - settings.momentum)
    steps = round(settings.clock / tick)
    log_every = max(1, round(settings.log_every / tick))
    data, layers = instance(simulation, seed)
    train_data, test_data = (Samples(*(part.to(dtype) for part in side)) for side in data)
    layers = Layers(*(part.to(dtype) for part in layers))
    speed = Layers(*(torch.zeros_like(part) for part in layers))
    rows: list[tuple[Tensor, ...]] = []
    for k in loop.steps(steps + 1, label, layers=layers, speed=speed, rows=rows):
        residual, gradient = residual_and_gradient(layers, train_data)
        loss = residual.square().sum()
        loop.check_finite(loss, label, k)
        if k % log_every == 0:
            clock = torch.tensor(k * tick, dtype=torch.float64)
            scores = accuracy(layers, test_data), accuracy(layers, train_data)
            embeddings = layers.embeddings.to(torch.float64, copy=True)
            norm = layers.flat().double().square().sum()
            rows.append((clock, *scores, loss.double(), norm, embeddings))
        force = gradient.moved(layers, 2 * settings.decay)
        for weight, velocity, push, rate in zip(layers, speed, force, rates, strict=True):
            velocity.mul_(settings.momentum).add_(push)
            weight.sub_(rate * velocity)
    return TrainingRun(*map(torch.stack, zip(*rows, strict=True)))


KNOWN, CHANCE = 0.85, 0.15  # accuracies on held-out pairs: six of seven, one of seven


class LearningStage(NamedTuple):
    """The logs between which a network comes to know the held-out pairs, both ends included."""

    first: int  # the last log at chance
    last: int  # the first log at which they are known; both are -1 where this never happens

    @property
    def happens(self) -> bool:
        """Whether the network groks at all."""
        return self.last >= 0


def grokking_stage(accuracy: Float[np.ndarray, " times"]) -> LearningStage:
    """From the last log at chance to the first at which the held-out pairs are known.

    By accuracy, because the test loss of a run that ends early has not fallen completely.
    """
    learned = np.flatnonzero(accuracy >= KNOWN)
    if not learned.size:
        return LearningStage(-1, -1)
    before = np.flatnonzero(accuracy[: learned[0]] <= CHANCE)
    return LearningStage(int(before[-1]) if before.size else 0, int(learned[0]))


def during(
    values: Float[np.ndarray, " times"], steps: Int[np.ndarray, " times"], stage: LearningStage
) -> float:
    """The mean of a curve over the stage, weighted by time; NaN where there is no stage."""
    if not stage.happens:
        return float("nan")
    inside = slice(stage.first, stage.last + 1)
    weights = np.gradient(steps.astype(float))[inside]
    return float(np.average(values[inside], weights=weights))


def shortfall(values: Float[np.ndarray, " times"], stage: LearningStage) -> float:
    """How far the greatest value within the stage is below the greatest of all."""
    if not stage.happens:
        return float("nan")
    return float(np.nanmax(values) - np.nanmax(values[stage.first : stage.last + 1]))
