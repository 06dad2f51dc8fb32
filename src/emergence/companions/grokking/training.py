"""And the network itself? Gradient descent on L_lambda for both layers, on the clock 2 lambda t."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.running.progress import steps as counted

from .model import Layers, accuracy, descent, start
from .settings import RealTraining, Simulation
from .task import Samples, Split, split


class Instance(NamedTuple):
    """Data and initial weights, the same for the predicted and the real training."""

    data: Split
    layers: Layers


class Trained(NamedTuple):
    """A run of real training; the clock is 2 lambda t, as for the predicted dynamics."""

    clock: Float[Tensor, " times"]
    accuracy: Float[Tensor, " times"]  # on the pairs held out
    memorised: Float[Tensor, " times"]  # accuracy on the training pairs
    loss: Float[Tensor, " times"]  # L without weight decay
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


def train(
    layers: Layers,
    data: Split,
    settings: RealTraining,
    *,
    dtype: torch.dtype = torch.float32,
    label: str = "real training",
) -> Trained:
    """Full-batch gradient descent with momentum on L_lambda of Eq. 13, for all weights.

    With momentum m a step of size eta moves the clock by 2 lambda eta / (1 - m), divided by the
    slowdown of the first layer, by whose motion we count.
    Raises ArithmeticError when the run diverges.
    """
    rates = settings.learning_rate / settings.slowdown, settings.learning_rate
    tick = 2 * settings.decay * rates[0] / (1 - settings.momentum)
    steps = round(settings.clock / tick)
    log_every = max(1, round(settings.log_every / tick))
    train_data = Samples(*(part.to(dtype) for part in data.train))
    test_data = Samples(*(part.to(dtype) for part in data.test))
    layers = Layers(*(part.to(dtype) for part in layers))
    speed = Layers(*(torch.zeros_like(part) for part in layers))
    rows = []
    for k in counted(label, steps + 1):
        residual, gradient = descent(layers, train_data)
        if k % log_every == 0:
            loss = residual.square().sum().double()
            if not torch.isfinite(loss):
                raise ArithmeticError(f"{label}: the loss is not finite at step {k}")
            scores = accuracy(layers, test_data), accuracy(layers, train_data)
            rows.append(
                (
                    torch.tensor(k * tick, dtype=torch.float64),
                    *scores,
                    loss,
                    layers.embeddings.double(),
                )
            )
        force = gradient.moved(layers, 2 * settings.decay)
        speed = force.moved(speed, settings.momentum)
        layers = Layers(*(w - rate * v for w, v, rate in zip(layers, speed, rates, strict=True)))
    return Trained(*(torch.stack(column) for column in zip(*rows, strict=True)))
