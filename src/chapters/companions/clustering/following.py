"""Likeness of a network's force on its embeddings to the particles' forces, over training."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .markers import scale, shape_only
from .model import Network
from .pairwise import Field, likeness, own_force, relabelled_likeness
from .training import Record


class Following(NamedTuple):
    """By epoch: likeness to each tendency, that of its control, and the size of the force."""

    epochs: Int[Tensor, " times"]
    likeness: dict[str, Float[Tensor, "times runs"]]
    control: dict[str, Float[Tensor, "times runs"]]
    size: Float[Tensor, "times runs"]  # of what changes the shape, in units of its scale


def compare_forces(
    record: Record, tendencies: Mapping[str, Field], *, relabellings: int, stream: torch.Generator
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
