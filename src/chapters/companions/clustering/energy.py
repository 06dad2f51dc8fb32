"""The energy of clustering and alignment, its forces, and particles that move by them; all ours.

With s the markers of normalised embeddings, and means over pairs of markers with the same sum
and with different sums,

    U = (1 - mix) [<K>_different - <K>_same] + mix [<C>_different - <C>_same],

K = exp(-|s - s'|^2 / 2 width^2) and C = q q' cos 2D, with D the angle between s and s' seen from
the centre and q = |s|^2 / (|s|^2 + core^2). Without a core, C is cos 2D and its force infinite at
the centre, where a marker has no angle.
"""

from collections.abc import Sequence
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.running import loop
from emergence.running.graphs import recordable
from emergence.running.memo import resumable

from . import Simulation
from .markers import incidence, normalise, other_sum, places, same_sum, scale, shape_only

TINY = 1e-12  # of |s|^2, where there is no core


@cache
def pair_weights(
    n: int, dtype: torch.dtype, device: torch.device
) -> Float[Tensor, "markers markers"]:
    """The weight of each ordered pair in U: 1 / count for different sums, -1 / count for equal."""
    same, other = same_sum(n).double(), other_sum(n).double()
    return (other / other.sum() - same / same.sum()).to(device, dtype)


def _weights(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "markers markers"]:
    return pair_weights(embeddings.shape[-2], embeddings.dtype, embeddings.device)


def energy_of(
    embeddings: Float[Tensor, "*runs n 2"], mix: float, width: float, core: float = 0.0
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


def forces(
    embeddings: Float[Tensor, "*runs n 2"], mix: float, width: float, core: float = 0.0
) -> Float[Tensor, "*runs n 2"]:
    """-grad U: the pair forces below, added up over partners and carried over to embeddings."""
    marks, weights = places(normalise(embeddings)), _weights(embeddings)
    on_marks = torch.zeros_like(marks)
    if mix < 1:
        on_marks += (1 - mix) * clustering(marks, weights, width)
    if mix > 0:
        on_marks += mix * alignment(marks, weights, core)
    matrix = incidence(embeddings.shape[-2], embeddings.dtype, embeddings.device)
    return shape_only(matrix.mT @ on_marks, embeddings) / scale(embeddings)


def clustering(
    marks: Float[Tensor, "*runs markers 2"], weights: Float[Tensor, "markers markers"], width: float
) -> Float[Tensor, "*runs markers 2"]:
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


def alignment(
    marks: Float[Tensor, "*runs markers 2"], weights: Float[Tensor, "markers markers"], core: float
) -> Float[Tensor, "*runs markers 2"]:
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
    dtype: torch.dtype = torch.float32,
    label: str = "particles",
) -> Float[Tensor, "seeds n 2"]:
    """Where the particles of each seed end, normalised, all at once.

    Raises ArithmeticError when a run diverges.
    """
    embeddings = start(settings.residues, seeds).to(device, dtype)
    adam = recordable(torch.optim.Adam([embeddings], lr=settings.learning_rate))

    def step(recorded: bool) -> tuple[Tensor, None]:
        force = forces(embeddings, mix, width, core)
        embeddings.grad = -force
        adam.step()
        return force, None  # not finite where U is not, whose gradient it is

    loop.descend(settings.steps, label, step, rows=[], embeddings=embeddings, optimiser=adam)
    loop.check_finite(embeddings, label, settings.steps)
    return normalise(embeddings).cpu()
