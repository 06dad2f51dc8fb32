"""Markers of modular addition, unordered pairs of residues each with a sum, and their scores.

Thresholds and the radius of the circle score and the grid score are ours.
"""

from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from scipy.stats import binomtest
from torch import Tensor

CIRCLE = 0.8  # a round circle has 1, random embeddings about 0.3
GRID = 0.3  # random embeddings have the base rate of about 0.006
LINE = 0.05  # flatness below which a grid has one dimension: four rows on four columns have 1
RADIUS = 0.15  # in units of the embeddings' rms: a seventh of it, so neighbours count as apart


class Markers(NamedTuple):
    """The n (n + 1) / 2 unordered pairs {a, b} of residues and the class a + b mod n of each."""

    first: Int[Tensor, " markers"]
    second: Int[Tensor, " markers"]
    total: Int[Tensor, " markers"]


@cache
def all_markers(n: int) -> Markers:
    """All pairs of residues mod n, a pair with itself among them; ValueError for n < 2."""
    if n < 2:
        raise ValueError(f"modular addition needs at least two residues, got {n}")
    first, second = torch.triu_indices(n, n)
    return Markers(first, second, (first + second) % n)


@cache
def totals(n: int, device: torch.device) -> Int[Tensor, " markers"]:
    """The class of each marker, on a device."""
    return all_markers(n).total.to(device)


@cache
def incidence(n: int, dtype: torch.dtype, device: torch.device) -> Float[Tensor, "markers n"]:
    """The matrix that makes markers of embeddings: s = A E, so that A^T f are forces on E."""
    pairs = all_markers(n)
    matrix = torch.zeros(len(pairs.total), n)
    for member in (pairs.first, pairs.second):
        matrix[torch.arange(len(member)), member] += 1
    return matrix.to(device, dtype)


def places(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs markers 2"]:
    """The markers s_ab = E_a + E_b."""
    return incidence(embeddings.shape[-2], embeddings.dtype, embeddings.device) @ embeddings


def same_sum(n: int) -> Bool[Tensor, "markers markers"]:
    """Which two different markers have the same sum."""
    total = all_markers(n).total
    same = total[:, None] == total
    return same & ~torch.eye(len(total), dtype=torch.bool)


def other_sum(n: int) -> Bool[Tensor, "markers markers"]:
    """Which two markers have different sums."""
    total = all_markers(n).total
    return total[:, None] != total


def scale(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs 1 1"]:
    """The root mean square distance of the embeddings from their mean."""
    centred = embeddings - embeddings.mean(dim=-2, keepdim=True)
    return centred.square().sum(dim=-1).mean(dim=-1).sqrt()[..., None, None]


def normalise(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs n 2"]:
    """The embeddings centred and with unit root mean square."""
    return (embeddings - embeddings.mean(dim=-2, keepdim=True)) / scale(embeddings)


def shape_only(
    vectors: Float[Tensor, "*runs n 2"], embeddings: Float[Tensor, "*runs n 2"]
) -> Float[Tensor, "*runs n 2"]:
    """What is left of vectors at the embeddings without common motion and without growth.

    This is what moves normalised embeddings, and the chain rule through `normalise` but for a
    division by the scale.
    """
    normal = normalise(embeddings)
    growth = (vectors * normal).sum(dim=(-2, -1), keepdim=True) / embeddings.shape[-2]
    left = vectors - growth * normal
    return left - left.mean(dim=-2, keepdim=True)


class Scores(NamedTuple):
    """Circle score and grid score."""

    circle: Float[Tensor, "*runs"]
    grid: Float[Tensor, "*runs"]

    @property
    def circles(self) -> Bool[Tensor, "*runs"]:
        """Which runs are circles."""
        return self.circle > CIRCLE

    @property
    def grids(self) -> Bool[Tensor, "*runs"]:
        """Which runs are grids."""
        return self.grid > GRID


def score(embeddings: Float[Tensor, "*runs n 2"]) -> Scores:
    """Both scores of normalised embeddings."""
    normal = normalise(embeddings)
    power = power_spectrum(normal)
    marks = places(normal)
    close = torch.cdist(marks, marks, compute_mode="donot_use_mm_for_euclid_dist") < RADIUS
    same = same_sum(embeddings.shape[-2]).to(close.device)
    return Scores(
        power.amax(dim=-1) / power.sum(dim=-1), (close & same).sum(dim=(-2, -1)) / same.sum()
    )


def power_spectrum(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs frequencies"]:
    """The variance of the embeddings, as a function of the residue, by frequency 1, 2, ..."""
    n = embeddings.shape[-2]
    power = torch.fft.rfft(embeddings, dim=-2).abs().square().sum(dim=-1)[..., 1:]
    twice = torch.full_like(power, 2.0)  # a frequency and its negative
    if n % 2 == 0:
        twice[..., -1] = 1.0
    return twice * power / n**2


def flatness(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs"]:
    """The smaller principal variance over the larger: 1 for a round circle, 0 for a line."""
    centred = normalise(embeddings)
    low, high = torch.linalg.eigvalsh(centred.mT @ centred).unbind(dim=-1)
    return low.clamp(min=0) / high


def share(found: Bool[Tensor, " runs"]) -> tuple[float, float]:
    """Wilson's 95% interval of a share of independent runs."""
    interval = binomtest(int(found.sum()), len(found)).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def circle(n: int, frequency: int = 1) -> Float[Tensor, "n 2"]:
    """The perfect circle of a frequency."""
    angle = 2 * torch.pi * frequency * torch.arange(n, dtype=torch.float64) / n
    return torch.stack((angle.cos(), angle.sin()), dim=-1)
