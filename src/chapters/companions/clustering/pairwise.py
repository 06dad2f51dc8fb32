"""Pair forces, what one marker does to another through the network, and particles that feel them.

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

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from running import loop
from running.cache import Task
from running.memo import kept

from . import Derived
from .markers import incidence, normalise, places, scale, shape_only, totals
from .training import Network, forward


def pair_forces(
    network: Network, *, hidden_bias: bool = True
) -> Float[Tensor, "runs markers markers 2"]:
    """F_ij on marker i from marker j; exact, but for kinks that a marker happens to sit on."""
    passed = forward(places(network.embeddings), network[1:])
    marks, active, hidden, log_probability = passed
    probability, error = log_probability.exp(), passed.error()  # the error of the logits
    back = active * (error @ network.second.mT)  # of the hidden units
    # derivatives by the marker: of the hidden units, of the errors, of what goes back
    by_hidden = active[..., None] * network.first.mT[:, None]
    by_logits = torch.einsum("rho,rmhx->rmox", network.second, by_hidden)
    mean = (probability[..., None] * by_logits).sum(dim=-2, keepdim=True)
    by_error = probability[..., None] * (by_logits - mean)
    by_back = active[..., None] * torch.einsum("rho,rmox->rmhx", network.second, by_error)

    def meets(of_first: Tensor, of_second: Tensor) -> Float[Tensor, "runs markers markers 2"]:
        return torch.einsum("rmkx,rnk->rmnx", of_first, of_second)

    shared = (error @ error.mT)[..., None], (back @ back.mT)[..., None]
    second = meets(by_error, error) * (hidden @ hidden.mT + 1)[..., None]
    second = second + meets(by_hidden, hidden) * shared[0]
    first = meets(by_back, back) * (marks @ marks.mT + float(hidden_bias))[..., None]
    return second + first + marks[:, None] * shared[1]


def expected_pair_forces(
    embeddings: Float[Tensor, "n 2"], hidden: int, variances: tuple[float, float]
) -> Float[Tensor, "markers markers 2"]:
    """The mean of F_ij over random Gaussian-like layers without biases, at p = 1/n.

    `variances` are those of the entries of W_1 and W_2. Terms odd in W_2 have mean zero; the
    arc-cosine kernels of ReLU units are what is left.
    """
    marks = places(embeddings)
    n = len(embeddings)
    total = totals(n, marks.device)
    weights = (total[:, None] == total).to(marks.dtype) - 1 / n
    length = marks.norm(dim=-1)
    cosine = (marks @ marks.mT) / (length[:, None] * length)
    angle = cosine.clamp(-1, 1).acos()
    along = (torch.pi - angle)[..., None] * marks  # rows i, columns j: along s_j
    radial = (angle.sin() * length)[..., None] * (marks / length[:, None])[:, None]
    kernel = variances[0] * (along + radial) + variances[1] * along
    return hidden / (2 * torch.pi) * weights[..., None] * kernel


@kept
def mean_pair_forces(
    embeddings: Float[Tensor, "n 2"],
    hidden: int,
    variances: tuple[float, float],
    *,
    count: int,
    stream: torch.Generator,
    block: int = 50,
) -> Float[Tensor, "markers markers 2"]:
    """The mean of F_ij over so many random networks without biases, as `expected_pair_forces`.

    Each network counts twice, with W_2 and with -W_2, so that terms odd in W_2 cancel.
    """
    n = len(embeddings)
    dtype = embeddings.dtype
    total = torch.zeros((), dtype=dtype)
    for drawn in range(0, count, block):
        runs = min(block, count - drawn)
        first, second = (
            variance**0.5
            * torch.randn(runs, *shape, generator=stream, device=stream.device, dtype=dtype)
            for variance, shape in zip(variances, ((2, hidden), (hidden, n)), strict=True)
        )
        still = embeddings.new_zeros(runs, 1, hidden), embeddings.new_zeros(runs, 1, n)
        for sign in (-1, 1):
            parts = embeddings.expand(runs, n, 2), first, still[0], sign * second, still[1]
            total = total + pair_forces(Network(*parts), hidden_bias=False).sum(dim=0) / 2
    return total / count


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


def simulate_derived(
    settings: Derived,
    start: Float[Tensor, "runs n 2"],
    counted: Bool[Tensor, "runs markers"],
    *,
    seeds: Sequence[int],
    beta: float,
    ridge: float | None,
    device: torch.device,
    label: str = "derived particles",
) -> Float[Tensor, "runs n 2"]:
    """Where particles end that start like networks and feel derived forces, normalised.

    `seeds` name the starts. Raises ArithmeticError when a run diverges.
    """
    embeddings = normalise(start.to(device))
    rows = counted.to(device, embeddings.dtype)
    weights = directions(settings.units, beta).to(device, embeddings.dtype)
    adam = torch.optim.Adam([embeddings], lr=settings.learning_rate)
    task = Task.of(simulate_derived, settings=settings, seeds=seeds, beta=beta, ridge=ridge)
    for step in loop.steps(
        task, settings.steps, label, embeddings=embeddings, counted=rows, optimiser=adam
    ):
        moved = motion(embeddings, rows, weights, ridge)
        loop.check_finite(moved.energy, label, step)
        embeddings.grad = -moved.force
        adam.step()
    loop.check_finite(embeddings, label, settings.steps)
    return normalise(embeddings).cpu()
