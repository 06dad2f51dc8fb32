"""The energy of clustering and alignment, its forces, and particles that move by them; all ours.

With s the markers of normalised embeddings, and means over pairs of markers with the same sum
and with different sums,

    U = (1 - mix) [<K>_different - <K>_same] + mix [<C>_different - <C>_same],

K = exp(-|s - s'|^2 / 2 width^2) and C = q q' cos 2D, with D the angle between s and s' seen from
the centre and q = |s|^2 / (|s|^2 + core^2). Without a core, C is cos 2D and its force infinite at
the centre, where a marker has no angle.

Particles that feel the pair forces of a network, what one marker does to another through it.

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
from functools import cache

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from emergence.running import loop
from emergence.running.graphs import recordable
from emergence.running.memo import resumable

from . import Derived, Simulation
from .training import incidence, normalise, other_sum, places, same_sum, scale, shape_only, totals

Embeddings = Float[Tensor, "*runs n 2"]
Places = Float[Tensor, "*runs markers 2"]
Pairs = Float[Tensor, "markers markers"]

TINY = 1e-12  # of |s|^2, where there is no core


@cache
def pair_weights(n: int, dtype: torch.dtype, device: torch.device) -> Pairs:
    """The weight of each ordered pair in U: 1 / count for different sums, -1 / count for equal."""
    same, other = same_sum(n).double(), other_sum(n).double()
    return (other / other.sum() - same / same.sum()).to(device, dtype)


def _weights(embeddings: Embeddings) -> Pairs:
    return pair_weights(embeddings.shape[-2], embeddings.dtype, embeddings.device)


def energy_of(
    embeddings: Embeddings, mix: float, width: float, core: float = 0.0
) -> Float[Tensor, "*runs"]:
    """U, written as it is defined: the slow form that `forces` is tested against."""
    marks = places(normalise(embeddings))
    apart = (marks[..., :, None, :] - marks[..., None, :, :]).square().sum(dim=-1)
    near = torch.exp(-apart / (2 * width**2))
    angle = torch.atan2(marks[..., 1], marks[..., 0])
    square = marks.square().sum(dim=-1)
    clear = square / (square + core**2)
    turned = torch.cos(2 * (angle[..., :, None] - angle[..., None, :]))
    turned = turned * clear[..., :, None] * clear[..., None, :]
    return (_weights(embeddings) * ((1 - mix) * near + mix * turned)).sum(dim=(-2, -1))


def forces(embeddings: Embeddings, mix: float, width: float, core: float = 0.0) -> Embeddings:
    """-grad U: the pair forces below, added up over partners and carried over to embeddings."""
    marks, weights = places(normalise(embeddings)), _weights(embeddings)
    on_marks = torch.zeros_like(marks)
    if mix < 1:
        on_marks += (1 - mix) * clustering(marks, weights, width)
    if mix > 0:
        on_marks += mix * alignment(marks, weights, core)
    matrix = incidence(embeddings.shape[-2], embeddings.dtype, embeddings.device)
    return shape_only(matrix.mT @ on_marks, embeddings) / scale(embeddings)


def clustering(marks: Places, weights: Pairs, width: float) -> Places:
    """On each marker the sum over partners of 2 w K (s - s') / width^2.

    The exponent -|s - s'|^2 / 2 width^2 of every pair is one product of vectors in four
    dimensions, and so the forces are two matrix products.
    """
    unit = marks / width
    half = unit.square().sum(dim=-1, keepdim=True) / 2
    ones = torch.ones_like(half)
    exponent = torch.cat((unit, half, ones), dim=-1) @ torch.cat((unit, -ones, -half), dim=-1).mT
    strength = exponent.exp_().mul_(weights)
    pulled = strength @ torch.cat((marks, ones), dim=-1)
    return 2 * (pulled[..., 2:] * marks - pulled[..., :2]) / width**2


def alignment(marks: Places, weights: Pairs, core: float) -> Places:
    """On each marker the sum over partners of 4 w (C s - (x c + y d, x d - y c)) / (r^2 + core^2).

    C is the product of the vectors (c, d) = (x^2 - y^2, 2 x y) / (r^2 + core^2) of both markers,
    so partners add up first.
    """
    x, y = marks.unbind(dim=-1)
    square = (x * x + y * y + core**2).clamp(min=TINY)
    double = torch.stack((x * x - y * y, 2 * x * y), dim=-1) / square[..., None]
    partners = weights @ double
    c, d = partners.unbind(dim=-1)
    product = (double * partners).sum(dim=-1, keepdim=True)
    toward = torch.stack((x * c + y * d, x * d - y * c), dim=-1)
    return 4 * (product * marks - toward) / square[..., None]


def start(n: int, seeds: Sequence[int]) -> Float[Tensor, "seeds n 2"]:
    """Standard normal places, drawn for each seed from a generator of its own."""
    streams = (torch.Generator().manual_seed(seed) for seed in seeds)
    return torch.stack([torch.randn(n, 2, generator=stream) for stream in streams])


@resumable
def simulate(
    settings: Simulation,
    seeds: Sequence[int],
    *,
    mix: float,
    width: float,
    core: float,
    device: torch.device,
    label: str = "particles",
) -> Float[Tensor, "seeds n 2"]:
    """Where the particles of each seed end, normalised, all at once.

    Raises ArithmeticError when a run diverges.
    """
    embeddings = start(settings.residues, seeds).to(device)
    adam = recordable(torch.optim.Adam([embeddings], lr=settings.learning_rate))

    def step(recorded: bool) -> tuple[Tensor, None]:
        force = forces(embeddings, mix, width, core)
        embeddings.grad = -force
        adam.step()
        return force, None  # not finite where U is not, whose gradient it is

    loop.descend(settings.steps, label, step, rows=[], embeddings=embeddings, optimiser=adam)
    loop.check_finite(embeddings, label, settings.steps)
    return normalise(embeddings).cpu()


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
) -> tuple[Float[Tensor, " runs"], Float[Tensor, "runs n 2"]]:
    """-G where the ridge is None, R otherwise, over the counted markers; both by mean marker.

    With it the force on the embeddings: minus its gradient, shape alone.
    """
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
    return energy, -shape_only(on_embeddings, embeddings) / scale(embeddings)


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
        energy, derived = motion(embeddings, rows, weights, ridge)
        loop.check_finite(energy, label, step)
        embeddings.grad = -derived
        adam.step()
    loop.check_finite(embeddings, label, settings.steps)
    return normalise(embeddings).cpu()
