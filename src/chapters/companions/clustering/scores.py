"""Circle score and grid score of embeddings; thresholds and radius are ours."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from scipy.stats import binomtest
from torch import Tensor

from .markers import normalise, other_sum, places, same_sum

CIRCLE = 0.8  # a round circle has 1, random embeddings about 0.3
GRID = 0.3  # random embeddings have the base rate of about 0.006
LINE = 0.05  # flatness below which a grid has one dimension: four rows on four columns have 1
RADIUS = 0.15  # in units of the embeddings' rms: a seventh of it, so neighbours count as apart


class Scores(NamedTuple):
    """Circle score, grid score, and the grid score that different sums have."""

    circle: Float[Tensor, "*runs"]
    grid: Float[Tensor, "*runs"]
    base: Float[Tensor, "*runs"]

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
    power = spectrum(normal)
    marks = places(normal)
    close = torch.cdist(marks, marks, compute_mode="donot_use_mm_for_euclid_dist") < RADIUS
    n = embeddings.shape[-2]
    same, other = (close & which(n).to(close.device) for which in (same_sum, other_sum))
    return Scores(
        power.amax(dim=-1) / power.sum(dim=-1),
        same.sum(dim=(-2, -1)) / same_sum(n).sum(),
        other.sum(dim=(-2, -1)) / other_sum(n).sum(),
    )


def spectrum(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs frequencies"]:
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
