"""Updates of training compared with the norm-minimising direction of Eq. 29 (App. D)."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import resumable

from . import Direction
from .manifold import free_directions, gates, norm_minimising, time_share_agreement
from .model import (
    Layers,
    Samples,
    accuracy,
    network_output,
    residual_and_gradient,
    split,
    stacked,
    start,
)


class DirectionRecord(NamedTuple):
    """Measurements, one per network and time; losses are mean squares over entries."""

    steps: Int[Tensor, " times"]
    train_loss: Float[Tensor, "runs times"]
    test_loss: Float[Tensor, "runs times"]
    accuracy: Float[Tensor, "runs times"]  # on the pairs held out
    cosine: Float[Tensor, "runs times"]  # update against Eq. 29
    at_kinks: Float[Tensor, "runs times"]  # the same, inputs of units that switch held at 0
    control: Float[Tensor, "runs times"]  # the same, as many random inputs held; or NaN
    switching: Float[Tensor, "runs times"]  # share of inputs of units that switched lately
    norm: Float[Tensor, "runs times"]  # of theta
    gates_inside: Float[Tensor, "runs times"]  # share of Filippov's gates in [0, 1]
    gates_explained: Float[Tensor, "runs times"]  # of the variance of measured shares of time
    gates: Int[Tensor, "runs times predicted measured"]  # counts in ten bins each way


def measured_steps(settings: Direction) -> list[int]:
    """Evenly spaced in log time, none before a full window has passed."""
    first = 2 * settings.switch_window
    wanted = np.geomspace(first, settings.steps, settings.n_measured).round().astype(int)
    return sorted(set(wanted.tolist()))


@resumable
def measure_updates(settings: Direction, seeds: Sequence[int], *, label: str) -> DirectionRecord:
    """Train one network a seed, all at once, and measure its updates (App. D).

    The squared error is divided by the number of entries. Raises ArithmeticError when a run
    diverges.
    """
    train, test, layers = _networks(settings, seeds)
    scale = train.inputs.new_tensor(1 / train.targets[0].numel())
    wanted = measured_steps(settings)
    rows: list[tuple[Tensor, ...]] = []
    recent: list[tuple[Tensor, ...]] = []  # weights before the last steps, and at this one
    switches: list[Bool[Tensor, "runs n hidden"]] = []  # which inputs of units were positive
    control = torch.Generator().manual_seed(seeds[0])
    for k in loop.steps(
        settings.steps + 1,
        label,
        layers=layers,
        recent=recent,
        switches=switches,
        control=control,
        rows=rows,
    ):
        due = wanted[len(rows)] if len(rows) < len(wanted) else math.inf
        if due - k <= settings.switch_window:
            recent.append(tuple(part.clone() for part in layers))
            switches.append(train.inputs @ layers.embeddings > 0)
            del recent[: -settings.window - 1], switches[: -settings.switch_window - 1]
        if k == due:
            duty = torch.stack(switches).double().mean(dim=0)
            update = layers.moved(Layers(*recent[0]), -1.0)
            rows.append(_measure(settings, layers, update, duty, scale, train, test, control))
        residual, gradient = residual_and_gradient(layers, train, settings.activation)
        loop.check_finite(residual.square().sum(dim=(-2, -1)), label, k)
        force = Layers(*(scale * g for g in gradient)).moved(layers, settings.weight_decay)
        layers.move(force, -settings.learning_rate)
    columns = (torch.stack(column, dim=1) for column in zip(*rows, strict=True))
    return DirectionRecord(torch.tensor(wanted), *columns)


def _networks(settings: Direction, seeds: Sequence[int]) -> tuple[Samples, Samples, Layers]:
    """Pairs, held-out pairs and weights of the network of each seed."""
    streams = [torch.Generator().manual_seed(seed) for seed in seeds]
    p, n_pairs = settings.modulus, settings.modulus * (settings.modulus + 1) // 2
    data = stacked([split(p, n_pairs - settings.n_test, generator=stream) for stream in streams])
    starts = [start(p, settings.hidden, "torch", generator=stream) for stream in streams]
    dtype = torch.float32 if settings.single else torch.float64
    train, test = (Samples(*(part.to(dtype) for part in side)) for side in data)
    layers = Layers(*(torch.stack(part).to(dtype) for part in zip(*starts, strict=True)))
    return train, test, layers


def pulled(layers: Layers, data: Samples, scale: Tensor, settings: Direction) -> Layers:
    """A point near Z: descent with momentum and no weight decay from here (App. D)."""
    speed = Layers(*(torch.zeros_like(part) for part in layers))
    # part of one measurement, hence of one step of `measure_updates`, which is redone as a whole
    # when it was interrupted: states of its own would never be read
    for _ in range(settings.pull_steps):
        _, gradient = residual_and_gradient(layers, data, settings.activation)
        speed = Layers(*(scale * g for g in gradient)).moved(speed, settings.momentum)
        layers = layers.moved(speed, -settings.learning_rate)
    return layers


def cosine(left: Layers, right: Layers) -> Float[Tensor, " runs"]:
    """The cosine of the angle between two directions in the space of all weights."""
    return torch.nn.functional.cosine_similarity(left.flat(), right.flat(), dim=-1)


def _measure(
    settings: Direction,
    layers: Layers,
    update: Layers,
    duty: Float[Tensor, "runs n hidden"],
    scale: Tensor,
    train: Samples,
    test: Samples,
    control: torch.Generator,
) -> tuple[Tensor, ...]:
    """One column of the record, the steps aside, in double precision."""
    train, test = (Samples(*(part.double() for part in side)) for side in (train, test))
    layers, update = (Layers(*(part.double() for part in each)) for each in (layers, update))
    activation, inputs = settings.activation, train.inputs
    near = pulled(layers, train, scale.double(), settings)
    held = (duty > 0) & (duty < 1)
    free = free_directions(inputs, held)
    ways = [norm_minimising(layers, near, inputs, each, activation) for each in (None, free)]
    slid = gates(layers, near, inputs, held, free, ways[1])
    cosines = [cosine(update, way.direction) for way in ways]
    unasked = torch.full_like(cosines[0], torch.nan)
    if settings.thorough:
        order = torch.rand(held.flatten(-2).shape, generator=control).argsort(dim=-1)
        shuffled = held.flatten(-2).gather(-1, order).unflatten(-1, held.shape[-2:])
        other = free_directions(inputs, shuffled)
        way = norm_minimising(layers, near, inputs, other, activation)
        unasked = cosine(update, way.direction)
    errors = (network_output(layers, part, activation) - part.targets for part in (train, test))
    return (
        *(error.square().mean(dim=(-2, -1)) for error in errors),
        accuracy(layers, test, activation),
        *cosines,
        unasked,
        held.double().mean(dim=(-2, -1)),
        layers.flat().norm(dim=-1),
        *time_share_agreement(slid, duty),
    )
