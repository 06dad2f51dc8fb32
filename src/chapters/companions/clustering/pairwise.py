"""Particles that feel the pair forces of a network, what one marker does to another through it.

A step of gradient descent on the loss of marker j changes the hidden layer, and with it the force
on marker i. Per unit of learning rate the change is F_ij = grad_{s_i} <grad_w l_i, grad_w l_j>,
with w all parameters but the embeddings: an interaction force between two markers.

With hidden units of random weights (w, beta b) and a readout W_2 that is fitted to the sums, an
embedding goes where its error falls. Two moments of this can be written down. While the readout
is small, its first step lessens the loss in proportion to |grad_{W_2} L|^2, which is

    G = sum_c |sum_{i in c} H_i|^2 - |sum_i H_i|^2 / n = sum_ij w_ij <H_i, H_j>,

w_ij = 1{same sum} - 1/n: the energy of the pair forces of a fresh network. Once the readout is
the best there is at ridge rho, what is left is R = min_W |H W - Y|^2 + rho |W|^2.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import resumable

from . import Derived
from .markers import incidence, normalise, places, scale, shape_only, totals


class Motion(NamedTuple):
    """The energy of embeddings, and the force on them: minus its gradient, shape alone."""

    energy: Float[Tensor, " runs"]
    force: Float[Tensor, "runs n 2"]


def directions(count: int, beta: float) -> Float[Tensor, "3 count"]:
    """Weights of hidden units, even over all directions: two for a marker, one for its bias.

    Fibonacci's points on the sphere of (w, b), which is what a normal distribution is but for
    lengths; without biases even on the circle. The third row, the bias, is multiplied by beta.
    """
    index = torch.arange(count, dtype=torch.float64) + 0.5
    if beta == 0:
        angle = 2 * torch.pi * index / count
        return torch.stack((angle.cos(), angle.sin(), torch.zeros_like(angle)))
    height = 1 - 2 * index / count
    angle = torch.pi * (1 + 5**0.5) * index
    ring = (1 - height.square()).sqrt()
    return torch.stack((ring * angle.cos(), ring * angle.sin(), beta * height))


def motion(
    embeddings: Float[Tensor, "runs n 2"],
    counted: Float[Tensor, "runs markers"],
    weights: Float[Tensor, "3 count"],
    ridge: float | None,
) -> Motion:
    """-G where the ridge is None, R otherwise, over the counted markers; both by mean marker."""
    normal = normalise(embeddings)
    units = places(normal) @ weights[:2] + weights[2]
    n, total = embeddings.shape[-2], counted.sum(dim=-1)
    hidden = units.relu() * counted[..., None]  # 0 or 1: rows that do not count are 0
    targets = (
        torch.eye(n, dtype=hidden.dtype, device=hidden.device)[totals(n, hidden.device)] - 1 / n
    )
    targets = targets * counted[..., None]
    if ridge is None:
        readout = hidden.mT @ targets  # -grad of half the loss by W_2, at W_2 = 0
        energy = -readout.square().sum(dim=(-2, -1)) / total**2
        back = -2 * targets @ readout.mT / total[:, None, None] ** 2
    else:
        inner = hidden.mT @ hidden / total[:, None, None]
        inner.diagonal(dim1=-2, dim2=-1).add_(ridge)
        right = hidden.mT @ targets / total[:, None, None]
        factor = torch.linalg.cholesky_ex(inner).L  # if that fails, the energy is not finite
        readout = torch.cholesky_solve(right, factor)
        error = hidden @ readout - targets
        fit = error.square().sum(dim=(-2, -1)) / total
        energy = fit + ridge * readout.square().sum(dim=(-2, -1))
        back = 2 * error @ readout.mT / total[:, None, None]  # the envelope: W need not move
    back = back * (units > 0) * counted[..., None]
    on_embeddings = incidence(n, back.dtype, back.device).mT @ (back @ weights[:2].T)
    return Motion(energy, -shape_only(on_embeddings, embeddings) / scale(embeddings))


@resumable
def simulate_derived(
    settings: Derived,
    start: Float[Tensor, "runs n 2"],
    counted: Bool[Tensor, "runs markers"],
    *,
    beta: float,
    ridge: float | None,
    device: torch.device,
    label: str = "derived particles",
) -> Float[Tensor, "runs n 2"]:
    """Where particles end that start like networks and feel derived forces, normalised.

    Raises ArithmeticError when a run diverges.
    """
    embeddings = normalise(start.to(device))
    rows = counted.to(device, embeddings.dtype)
    weights = directions(settings.units, beta).to(device, embeddings.dtype)
    adam = torch.optim.Adam([embeddings], lr=settings.learning_rate)
    for step in loop.steps(
        settings.steps, label, embeddings=embeddings, counted=rows, optimiser=adam
    ):
        moved = motion(embeddings, rows, weights, ridge)
        loop.check_finite(moved.energy, label, step)
        embeddings.grad = -moved.force
        adam.step()
    loop.check_finite(embeddings, label, settings.steps)
    return normalise(embeddings).cpu()
