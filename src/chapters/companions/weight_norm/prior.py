"""The prior of weight decay: a bound, and trained networks."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import resumable

from .model import LINKS


def surprise(weights: int, species: int, cells: int, *, copies: bool) -> float:
    """An upper bound on -log2 Q of what a network prints, in bits, from the network alone.

    Q draws every weight of an architecture with so many species and cells from {-1, 0, 1} with
    probability proportional to exp(-lambda |w|), where lambda = ln(2 S^2 N). With `copies` all
    (N - 1)! relabellings count, which is exact for a network that no relabelling leaves alone.
    """
    ratio = 1 / (2 * species**2 * cells)  # exp(-lambda)
    slots = (species * cells) ** 2 + len(LINKS) * species**2
    bits = -weights * math.log2(ratio) + slots * math.log1p(2 * ratio) / math.log(2)
    return bits - (math.lgamma(cells) / math.log(2) if copies else 0.0)


def per_command(species: int) -> float:
    """The limit of `surprise` a cell, copies counted, where W = N + O(1)."""
    return 2 * math.log2(species) + 1 + 2 / math.log(2)


class TrainedNetworks(NamedTuple):
    """At the end of training: the sum of squared weights, and which print all bits right."""

    norm: Float[Tensor, "strings runs"]
    printed: Bool[Tensor, "strings runs"]


def unit_logits(
    weights: Float[Tensor, "nets units units"], bias: Float[Tensor, "nets units"], n_bits: int
) -> Float[Tensor, "nets bits"]:
    """What unit 0 is about to show at times 1 to `n_bits`; units are sigmoids and start at 0."""
    state = torch.zeros_like(bias)
    columns = []
    for _ in range(n_bits):
        field = torch.baddbmm(bias[..., None], weights, state[..., None])[..., 0]
        columns.append(field[:, 0])
        state = field.sigmoid()
    return torch.stack(columns, dim=1)


@resumable
def train_looped(
    strings: Sequence[int],
    *,
    n_bits: int,
    units: int,
    runs: int,
    steps: int,
    learning_rate: float,
    decay: float,
    seed: int,
) -> TrainedNetworks:
    """Adam on mean cross-entropy plus `decay` times the sum of squared weights, all nets at once.

    A string is a number whose highest bit is printed first. Weights start as N(0, 1).
    """
    stream = torch.Generator().manual_seed(seed)
    nets = len(strings) * runs
    weights = torch.randn(nets, units, units, generator=stream).requires_grad_()
    bias = torch.randn(nets, units, generator=stream).requires_grad_()
    wanted = bits_of(strings, n_bits).repeat_interleave(runs, dim=0)
    optimiser = torch.optim.Adam((weights, bias), lr=learning_rate)
    for step in loop.steps(steps, "strings", weights=weights, bias=bias, optimiser=optimiser):
        optimiser.zero_grad()
        shown = unit_logits(weights, bias, n_bits)
        fit = torch.nn.functional.binary_cross_entropy_with_logits(shown, wanted, reduction="none")
        loss = fit.mean(dim=1).sum() + decay * (weights.square().sum() + bias.square().sum())
        loss.backward()
        optimiser.step()
        loop.check_finite(loss.item(), "strings", step)
    with torch.no_grad():
        right = ((unit_logits(weights, bias, n_bits) > 0) == (wanted == 1)).all(dim=1)
        norm = weights.square().sum(dim=(1, 2)) + bias.square().sum(dim=1)
    return TrainedNetworks(norm.view(-1, runs), right.view(-1, runs))


def bits_of(strings: Sequence[int], n_bits: int) -> Float[Tensor, "strings bits"]:
    """The bits of each string, the highest first."""
    numbers: Int[Tensor, " strings"] = torch.tensor(strings)
    return (numbers[:, None] >> torch.arange(n_bits - 1, -1, -1) & 1).float()
