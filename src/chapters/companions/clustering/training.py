"""Training of the networks, and how like the particles' their forces are.

Training is full-batch AdamW on the trained pairs, a network a seed.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from running import loop
from running.cache import Task

from . import Training
from .markers import all_markers, places, scale, shape_only
from .model import Network, forward, gradient, start
from .pairwise import Field, likeness, own_force, relabelled_likeness
from .scores import Scores, score


class ClusteringRecord(NamedTuple):
    """What training left behind; a snapshot is the network after so many epochs."""

    epochs: Int[Tensor, " times"]
    loss: Float[Tensor, "times runs"]  # of the trained pairs
    accuracy: Float[Tensor, "times runs"]  # of the held-out pairs
    scores: Scores  # times runs
    trained: Bool[Tensor, "runs markers"]
    snapshots: dict[int, Network]
    final: Network


def train_clustering(
    settings: Training, seeds: Sequence[int], *, device: torch.device, label: str = "network"
) -> ClusteringRecord:
    """Train a network a seed, all at once; ArithmeticError when a run diverges."""
    network, trained = start(settings, seeds)
    network = Network(*(part.to(device) for part in network))
    weights = (trained / trained.sum(dim=-1, keepdim=True)).to(device)
    decay = settings.weight_decay
    of_embeddings = decay if settings.embedding_decay is None else settings.embedding_decay
    free = [settings.hidden_bias or part is not network.first_bias for part in network]
    layers = [part for part, moves in zip(network[1:], free[1:], strict=True) if moves]
    groups = [
        {"params": [network.embeddings], "weight_decay": of_embeddings},
        {"params": layers, "weight_decay": decay},
    ]
    optimiser = torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)
    every = max(1, settings.epochs // settings.records)
    rows: list[tuple] = []  # epoch, and what `_measure` finds
    kept: list[tuple] = []  # epoch, and the parameters
    task = Task.of(train_clustering, settings=settings, seeds=seeds)
    for epoch in loop.steps(
        task, settings.epochs, label, network=network, optimiser=optimiser, rows=rows, kept=kept
    ):
        if epoch in settings.snapshots:
            kept.append((epoch, *_copy(network)))
        if epoch % every == 0:
            rows.append((epoch, *_measure(network, trained.to(device))))
        found = forward(places(network.embeddings), network[1:])
        loop.check_finite((found.losses() * weights).sum(), label, epoch)
        slopes = gradient(network, found, weights)
        for part, slope, moves in zip(network, slopes, free, strict=True):
            part.grad = slope if moves else None
        optimiser.step()
    last = _measure(network, trained.to(device))
    loop.check_finite(last[0], label, settings.epochs)
    epochs, *columns = zip(*rows, (settings.epochs, *last), strict=True)
    trained_loss, accuracy, *shapes = (torch.stack(column) for column in columns)
    snapshots = {epoch: Network(*parts) for epoch, *parts in kept}
    curves = torch.tensor(epochs), trained_loss, accuracy, Scores(*shapes)
    return ClusteringRecord(*curves, trained, snapshots, _copy(network))


def _copy(network: Network) -> Network:
    return Network(*(part.detach().clone().cpu() for part in network))


def _measure(network: Network, trained: Bool[Tensor, "runs markers"]) -> tuple[Tensor, ...]:
    """Loss of the trained pairs, accuracy on the held-out ones, both scores and the base rate."""
    found = forward(places(network.embeddings), network[1:])
    total = all_markers(network.embeddings.shape[-2]).total.to(trained.device)
    right = found.log_probability.argmax(dim=-1) == total
    loss = (found.losses() * trained).sum(dim=-1) / trained.sum(dim=-1)
    accuracy = (right & ~trained).sum(dim=-1) / (~trained).sum(dim=-1)
    return tuple(part.cpu() for part in (loss, accuracy, *score(network.embeddings)))


class Following(NamedTuple):
    """By epoch: likeness to each tendency, that of its control, and the size of the force."""

    epochs: Int[Tensor, " times"]
    likeness: dict[str, Float[Tensor, "times runs"]]
    control: dict[str, Float[Tensor, "times runs"]]
    size: Float[Tensor, "times runs"]  # of what changes the shape, in units of its scale


def compare_forces(
    record: ClusteringRecord,
    tendencies: Mapping[str, Field],
    *,
    relabellings: int,
    stream: torch.Generator,
) -> Following:
    """Compare forces at every snapshot and at the end; a tendency gives its force at embeddings."""
    counted = (record.trained / record.trained.sum(dim=-1, keepdim=True)).double()
    nets = record.snapshots | {int(record.epochs[-1]): record.final}
    like: dict[str, list[Tensor]] = {name: [] for name in tendencies}
    control: dict[str, list[Tensor]] = {name: [] for name in tendencies}
    size = []
    for net in nets.values():
        net = Network(*(part.double() for part in net))
        force, where = own_force(net, counted), net.embeddings
        for name, field in tendencies.items():
            like[name].append(likeness(force, field(where), where))
            other = relabelled_likeness(force, where, field, count=relabellings, stream=stream)
            control[name].append(other)
        shape = shape_only(force, where).flatten(1).norm(dim=-1)
        size.append(shape / scale(where).flatten())
    return Following(
        torch.tensor(list(nets)),
        {name: torch.stack(rows) for name, rows in like.items()},
        {name: torch.stack(rows) for name, rows in control.items()},
        torch.stack(size),
    )
