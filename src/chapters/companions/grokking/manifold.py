"""Tangent directions of the zero-loss set Z, the norm-minimising one, and sliding along kinks.

The directions are those of §4.5 and App. D.

Where both sides of the kink of an input z_ik = x_i E_k push towards it, descent stays there, and
the unit is on for a share s_ik of the time. Filippov's flow has the share that keeps z_ik at 0.
On Z that share follows from the multipliers of the projection, with nothing fitted.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .model import RELU, Activation, Layers

RIDGE = 1e-11  # of the largest diagonal entry of J J^T: far below its least eigenvalue


def jacobian_times(
    at: Layers, inputs: Float[Tensor, "*runs n p"], direction: Layers, activation: Activation = RELU
) -> Float[Tensor, "*runs n p"]:
    """J v, the change of all outputs when the weights move."""
    z = inputs @ at.embeddings
    moved = activation.pulled_back(inputs @ direction.embeddings, z)
    return moved @ at.output + activation(z) @ direction.output


def jacobian_transposed(
    at: Layers,
    inputs: Float[Tensor, "*runs n p"],
    values: Float[Tensor, "*runs n p"],
    activation: Activation = RELU,
) -> Layers:
    """J^T y, the direction in which the outputs change by most."""
    z = inputs @ at.embeddings
    to_hidden = activation.pulled_back(values @ at.output.mT, z)
    return Layers(inputs.mT @ to_hidden, activation(z).mT @ values)


def free_directions(
    inputs: Float[Tensor, "*runs n p"], held: Bool[Tensor, "*runs n hidden"]
) -> Float[Tensor, "*runs hidden p p"]:
    """For each hidden unit the projector onto changes that leave its held inputs x_i E_k alone."""
    mask = held.mT.to(inputs.dtype)  # runs, hidden, n
    moments = torch.einsum("...kn,...nx,...ny->...kxy", mask, inputs, inputs)
    values, vectors = torch.linalg.eigh(moments)
    free = (values < 1e-9).to(inputs.dtype)  # moments of integers: zero or of order one
    return (vectors * free.unsqueeze(-2)) @ vectors.mT


def gram(
    at: Layers,
    inputs: Float[Tensor, "*runs n p"],
    free: Float[Tensor, "*runs hidden p p"] | None = None,
    activation: Activation = RELU,
) -> Float[Tensor, "*runs m m"]:
    """J Q J^T with the projector Q of the free directions (J J^T without), m = n p outputs."""
    z = inputs @ at.embeddings
    active = activation(z)
    gate = activation.slope(z).mT.unsqueeze(-1)  # runs, hidden, n, 1
    rows = gate * inputs.unsqueeze(-3)  # runs, hidden, n, p
    paired = (rows if free is None else rows @ free) @ rows.mT
    weights = at.output.unsqueeze(-1) * at.output.unsqueeze(-2)  # runs, hidden, p, p
    first = paired.flatten(-2).mT @ weights.flatten(-2)  # over hidden units
    n, p = inputs.shape[-2:]
    blocks = first.unflatten(-1, (p, p)).unflatten(-3, (n, n))  # n, n, p, p
    identity = torch.eye(p, dtype=inputs.dtype, device=inputs.device)
    blocks = blocks + (active @ active.mT)[..., None, None] * identity
    return blocks.transpose(-3, -2).flatten(-4, -3).flatten(-2)


class Projection(NamedTuple):
    """-theta projected onto the tangent space of Z, and the multipliers m: J^T m is taken off."""

    direction: Layers
    multipliers: Float[Tensor, "*runs n p"]


def norm_minimising(
    theta: Layers,
    at: Layers,
    inputs: Float[Tensor, "*runs n p"],
    free: Float[Tensor, "*runs hidden p p"] | None = None,
    activation: Activation = RELU,
) -> Projection:
    """(I - J^+ J)(-theta) of Eq. 29, with J at a point of Z.

    With free directions the projection keeps to those as well.
    """
    theta = restricted(theta, free)
    kernel = gram(at, inputs, free, activation)
    diagonal = kernel.diagonal(dim1=-2, dim2=-1)
    # a network whose units are all dead has J = 0 on every input: no condition at all
    diagonal += RIDGE * diagonal.amax(dim=-1, keepdim=True) + torch.finfo(diagonal.dtype).tiny
    change = jacobian_times(at, inputs, theta, activation).flatten(-2).unsqueeze(-1)
    multipliers = torch.cholesky_solve(change, torch.linalg.cholesky(kernel))
    multipliers = multipliers.squeeze(-1).unflatten(-1, inputs.shape[-2:])
    normal = restricted(jacobian_transposed(at, inputs, multipliers, activation), free)
    return Projection(normal.moved(theta, -1.0), multipliers)


def restricted(direction: Layers, free: Float[Tensor, "*runs hidden p p"] | None) -> Layers:
    """The part of a direction that is free; all of it where nothing is held."""
    if free is None:
        return direction
    embeddings = torch.einsum("...kxy,...yk->...xk", free, direction.embeddings)
    return Layers(embeddings, direction.output)


BINS = 10  # of a share of time, in tables of measured against predicted ones


class Gates(NamedTuple):
    """Shares of time of held inputs, those of units whose held inputs are independent."""

    predicted: Float[Tensor, "*runs n hidden"]  # NaN where there is no prediction
    known: Bool[Tensor, "*runs n hidden"]


class TimeAgreement(NamedTuple):
    """Measured against predicted shares of time, over all inputs that are known."""

    inside: Float[Tensor, "*runs"]  # share of predictions in [0, 1], Filippov's condition
    explained: Float[Tensor, "*runs"]  # 1 - mean squared difference over variance of the measured
    table: Int[Tensor, "*runs predicted measured"]  # counts in ten bins each way


def gates(
    theta: Layers,
    at: Layers,
    inputs: Float[Tensor, "*runs n p"],
    held: Bool[Tensor, "*runs n hidden"],
    free: Float[Tensor, "*runs hidden p p"],
    projection: Projection,
) -> Gates:
    """The shares of time that hold these inputs at 0 while -theta pulls along Z.

    `free` and `projection` are `manifold.free_directions` of the held inputs and
    `manifold.norm_minimising` with them. The loss pushes with -J^T m, where J counts an input
    with its gate, 0 or 1. The push that is missing to hold the inputs of unit k lies in the span
    of their rows x_i. Written as sum_i x_i d_ik it changes the gate of input i by
    d_ik / (m W^T)_ik.
    """
    multipliers = projection.multipliers
    left = theta.moved(jacobian_transposed(at, inputs, multipliers), -1.0)
    missing = left.moved(restricted(left, free), -1.0).embeddings  # runs, p, hidden
    rows = held.mT.unsqueeze(-1) * inputs.unsqueeze(-3)  # runs, hidden, n, p
    values, vectors = torch.linalg.eigh(rows.mT @ rows)  # moments of integers: 0 or of order one
    spanned = values > 1e-9
    inverse = (vectors * (spanned / values.where(spanned, 1.0)).unsqueeze(-2)) @ vectors.mT
    coefficients = (rows @ inverse @ missing.mT.unsqueeze(-1)).squeeze(-1)  # runs, hidden, n
    independent = spanned.sum(dim=-1) == held.sum(dim=-2)
    gate = RELU.slope(inputs @ at.embeddings)
    push = multipliers @ at.output.mT
    solved = held & independent.unsqueeze(-2) & (push != 0)
    predicted = gate + coefficients.mT / push.where(solved, 1.0)
    return Gates(predicted.where(solved, torch.nan), solved)


def time_share_agreement(found: Gates, measured: Float[Tensor, "*runs n hidden"]) -> TimeAgreement:
    """Compare predicted with measured shares of time; NaN for a run where none is known."""
    solved, count = found.known, found.known.sum(dim=(-2, -1))
    predicted = found.predicted.nan_to_num()
    inside = ((predicted >= 0) & (predicted <= 1) & solved).sum(dim=(-2, -1)) / count
    clipped = predicted.clamp(0, 1)
    apart = ((clipped - measured).square() * solved).sum(dim=(-2, -1))
    mean = (measured * solved).sum(dim=(-2, -1), keepdim=True) / count[..., None, None]
    spread = ((measured - mean).square() * solved).sum(dim=(-2, -1))
    place = [(BINS * part).long().clamp(0, BINS - 1) for part in (clipped, measured)]
    cell = torch.where(solved, BINS * place[0] + place[1], BINS * BINS).flatten(-2)
    table = torch.zeros(*cell.shape[:-1], BINS * BINS + 1, dtype=torch.long)
    table.scatter_add_(-1, cell, torch.ones_like(cell))
    return TimeAgreement(inside, 1 - apart / spread, table[..., :-1].unflatten(-1, (BINS, BINS)))
