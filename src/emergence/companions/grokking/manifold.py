"""Tangent directions of the zero-loss set Z, and the norm-minimising one (§4.5, App. D)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .model import Layers, gated, hidden

RIDGE = 1e-11  # of the largest diagonal entry of J J^T: far below its least eigenvalue


def jacobian_times(
    at: Layers, inputs: Float[Tensor, "*runs n p"], direction: Layers
) -> Float[Tensor, "*runs n p"]:
    """J v, the change of all outputs when the weights move."""
    active = hidden(at.embeddings, inputs)
    moved = gated(inputs @ direction.embeddings, active)
    return moved @ at.output + active @ direction.output


def jacobian_transposed(
    at: Layers, inputs: Float[Tensor, "*runs n p"], values: Float[Tensor, "*runs n p"]
) -> Layers:
    """J^T y, the direction in which the outputs change by most."""
    active = hidden(at.embeddings, inputs)
    return Layers(inputs.mT @ gated(values @ at.output.mT, active), active.mT @ values)


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
) -> Float[Tensor, "*runs m m"]:
    """J Q J^T with the projector Q of the free directions (J J^T without), m = n p outputs."""
    active = hidden(at.embeddings, inputs)
    gate = (active > 0).to(inputs.dtype).mT.unsqueeze(-1)  # runs, hidden, n, 1
    rows = gate * inputs.unsqueeze(-3)  # runs, hidden, n, p
    paired = (rows if free is None else rows @ free) @ rows.mT
    weights = at.output.unsqueeze(-1) * at.output.unsqueeze(-2)  # runs, hidden, p, p
    first = paired.flatten(-2).mT @ weights.flatten(-2)  # over hidden units
    n, p = inputs.shape[-2:]
    blocks = first.unflatten(-1, (p, p)).unflatten(-3, (n, n))  # n, n, p, p
    blocks = blocks + (active @ active.mT)[..., None, None] * torch.eye(p, dtype=inputs.dtype)
    return blocks.transpose(-3, -2).flatten(-4, -3).flatten(-2)


def norm_minimising(
    theta: Layers,
    at: Layers,
    inputs: Float[Tensor, "*runs n p"],
    free: Float[Tensor, "*runs hidden p p"] | None = None,
) -> Layers:
    """-theta projected onto the tangent space of Z at a point: (I - J^+ J)(-theta) of Eq. 29.

    With free directions the projection keeps to those as well.
    """
    theta = _restricted(theta, free)
    kernel = gram(at, inputs, free)
    diagonal = kernel.diagonal(dim1=-2, dim2=-1)
    # a network whose units are all dead has J = 0 on every input: no condition at all
    diagonal += RIDGE * diagonal.amax(dim=-1, keepdim=True) + torch.finfo(diagonal.dtype).tiny
    change = jacobian_times(at, inputs, theta).flatten(-2).unsqueeze(-1)
    multipliers = torch.cholesky_solve(change, torch.linalg.cholesky(kernel))
    multipliers = multipliers.squeeze(-1).unflatten(-1, inputs.shape[-2:])
    normal = _restricted(jacobian_transposed(at, inputs, multipliers), free)
    return normal.moved(theta, -1.0)


def _restricted(direction: Layers, free: Tensor | None) -> Layers:
    if free is None:
        return direction
    embeddings = torch.einsum("...kxy,...yk->...xk", free, direction.embeddings)
    return Layers(embeddings, direction.output)
