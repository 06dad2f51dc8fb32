"""Pair forces measured in training: by distance and by angle, and pairs followed to their end."""

import itertools
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from running.memo import kept

from .markers import normalise, other_sum, places, same_sum, scale
from .model import Network
from .pairwise import own_force, pair_forces

DISTANCES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # edges, in units of the rms
# degrees
ANGLES = (0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0, 105.0, 120.0, 135.0, 150.0, 165.0, 180.1)
NEAR, FAR = 0.5, 1.5  # rms: markers that might meet, and markers that are apart


class Kinds(NamedTuple):
    """A value for pairs of markers of the same sum, and one for pairs of different sums."""

    same: Float[Tensor, "*shape"]
    other: Float[Tensor, "*shape"]


class Profile(NamedTuple):
    """Mean pair forces of each network, in units of their root mean square over all pairs."""

    pull: Kinds  # towards the partner, by distance: runs, distances
    turn: Kinds  # across the marker, towards the partner's bearing, by angle: runs, angles
    near: Kinds  # the pull of partners nearer than NEAR, less that of those beyond FAR: runs
    alignment: Kinds  # coefficient of |s_j| sin 2 delta in the turning force: runs
    first: Kinds  # coefficient of |s_j| sin delta, which cancels in the sum over partners: runs


@kept
def profile(network: Network) -> Profile:
    """What markers do to each other in these networks, by where they are (ours)."""
    force = pair_forces(network)
    force = force / force.square().sum(dim=-1).mean(dim=(1, 2)).sqrt()[:, None, None, None]
    n = network.embeddings.shape[-2]
    rms = scale(network.embeddings)
    marks = places(network.embeddings)
    gap = (marks[:, None] - marks[:, :, None]) / rms[..., None]  # from i to j
    distance = gap.norm(dim=-1)
    pull = (force * gap).sum(dim=-1) / distance.clamp(min=1e-9)
    length = marks.norm(dim=-1)
    across = torch.stack((-marks[..., 1], marks[..., 0]), dim=-1) / length[..., None]
    bearing = torch.atan2(marks[..., 1], marks[..., 0])
    delta = torch.remainder(bearing[:, None] - bearing[:, :, None] + torch.pi, 2 * torch.pi)
    delta = delta - torch.pi
    turn = (force * across[:, :, None]).sum(dim=-1)
    reach = (length / rms[..., 0])[:, None].expand_as(delta)
    waves = torch.stack((delta.sin(), (2 * delta).sin()), dim=-1) * reach[..., None]
    kinds = same_sum(n), other_sum(n)
    degrees = torch.rad2deg(delta.abs())
    slopes = [_fitted(waves, turn, kind) for kind in kinds]
    return Profile(
        Kinds(*(_binned(distance, pull, DISTANCES, kind) for kind in kinds)),
        Kinds(*(_binned(degrees, turn * delta.sign(), ANGLES, kind) for kind in kinds)),
        Kinds(*(_mean(pull, kind & (distance < NEAR)) - _mean(pull, kind & (distance > FAR))
                for kind in kinds)),
        Kinds(*(slope[:, 1] for slope in slopes)),
        Kinds(*(slope[:, 0] for slope in slopes)),
    )  # fmt: skip


class Pairs(NamedTuple):
    """Pairs of markers of the same sum that are apart, and end together or do not: runs."""

    closing_together: Float[Tensor, " runs"]  # mean closing speed by the network's own force
    closing_apart: Float[Tensor, " runs"]
    together: Float[Tensor, " runs"]  # share of the pairs that end together


@kept
def followed(
    network: Network, last: Network, counted: Float[Tensor, "runs markers"], radius: float
) -> Pairs:
    """Do pairs that are apart now, and will meet, already close up faster than others?

    Closing speed is the rate at which the network's own force on its embeddings lessens their
    distance, over the mean speed of markers. Apart is from NEAR to FAR; together at the end is
    nearer than the radius. A run without pairs of a kind has NaN.
    """
    velocity = places(own_force(network, counted))
    marks, ends = places(normalise(network.embeddings)), places(normalise(last.embeddings))
    gap = marks[:, None] - marks[:, :, None]
    distance = gap.norm(dim=-1)
    moving = velocity[:, None] - velocity[:, :, None]
    closing = -(moving * gap).sum(dim=-1) / distance.clamp(min=1e-9)
    closing = closing / velocity.norm(dim=-1).mean(dim=-1)[:, None, None]
    apart = same_sum(network.embeddings.shape[-2]) & (distance > NEAR) & (distance < FAR)
    meet = torch.cdist(ends, ends, compute_mode="donot_use_mm_for_euclid_dist") < radius
    return Pairs(
        _mean(closing, apart & meet),
        _mean(closing, apart & ~meet),
        (apart & meet).sum(dim=(1, 2)) / apart.sum(dim=(1, 2)),
    )


def bias_size(network: Network) -> Float[Tensor, " runs"]:
    """beta: the median size of a unit's bias over that of its weights, in units of the rms."""
    over_weights = network.first_bias.abs().squeeze(-2) / network.first.norm(dim=-2)
    return over_weights.median(dim=-1).values / scale(network.embeddings).flatten()


def _mean(values: Float[Tensor, "runs m m"], of: Bool[Tensor, "*runs m m"]) -> Tensor:
    """The mean over these pairs, a run each; NaN where there are none."""
    return (values * of).sum(dim=(1, 2)) / of.expand_as(values).sum(dim=(1, 2))


def _binned(
    place: Tensor, values: Tensor, edges: tuple[float, ...], kind: Bool[Tensor, "m m"]
) -> Float[Tensor, "runs bins"]:
    bins = (kind & (place >= low) & (place < high) for low, high in itertools.pairwise(edges))
    return torch.stack([_mean(values, inside) for inside in bins], dim=-1)


def _fitted(waves: Tensor, values: Tensor, kind: Bool[Tensor, "m m"]) -> Float[Tensor, "runs 2"]:
    """Least squares over the pairs of a kind, a run each."""
    rows, right = waves[:, kind], values[:, kind]
    return torch.linalg.solve(rows.mT @ rows, (rows.mT @ right[..., None]).squeeze(-1))
