"""The effect of the noise of batches on trainings, measured and computed from second moments.

The joint covariance of the noise in all 28 blocks, as the symmetry of the data allows it: in a pair
of eigenspaces of M a block is a d x d matrix, d = D/2, and its entry (i, j) may go with the entries
(i, j) and (j, i) of every block, where that is a place of the same two eigenspaces. With rows and
columns in the same eigenspace, the symmetric and the antisymmetric part of a block take both
correlations apart. With two different ones, a transposed place lies in the pair of eigenspaces the
other way round, so that both pairs make one table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence import subspace
from emergence.models import Weights
from emergence.running import graphs, loop, sweep
from emergence.running.devices import generator
from emergence.running.graphs import constant
from emergence.running.memo import resumable
from emergence.subspace import NAMES, PseudoParameters
from emergence.training import (
    Full,
    MinimalRecord,
    MinimalTraining,
    minimal_step,
    stacked_batches,
    train_minimal,
)

TILES = ((2, 2), (4, 4), (8, 1))  # blocks of D x D in W1, W2 and W3 (Eqs. 6-8)
BLOCKS = 28


class Joint(NamedTuple):
    """A number for any two of the 28 blocks, in every pair of eigenspaces of M."""

    # of symmetric parts, rows and columns in the eigenspace of +1, then of -1: the sum of that at
    # the same place and that at the transposed one
    symmetric: Float[Tensor, "2 28 28"]
    antisymmetric: Float[Tensor, "2 28 28"]  # of antisymmetric parts, their difference
    # of the 28 blocks with rows in +1 and columns in -1, then of the 28 with rows in -1 and columns
    # in +1, transposed
    mixed: Float[Tensor, "1 56 56"]


def no_covariance() -> Joint:
    """Of weights in the subspace (Theorem 1), where all training starts: zeros."""
    shapes = ((2, BLOCKS, BLOCKS), (2, BLOCKS, BLOCKS), (1, 2 * BLOCKS, 2 * BLOCKS))
    return Joint(*(torch.zeros(shape, dtype=torch.float64) for shape in shapes))


def in_parts(weights: Sequence[Tensor]) -> list[Float[Tensor, "draws spaces blocks half half"]]:
    """Symmetric, antisymmetric and mixed parts of the three matrices of Eqs. 6-8, as in `Joint`.

    They are blocks of D/2 x D/2: of two spaces and 28 blocks, of two and 28, of one and 56.
    """
    x = _sectors(weights)
    same = torch.stack([x[:, :, 0, 0], x[:, :, 1, 1]], dim=1)
    mixed = torch.cat([x[:, :, 0, 1], x[:, :, 1, 0].mT], dim=1).unsqueeze(1)
    return [(same + same.mT) / 2**0.5, (same - same.mT) / 2**0.5, mixed]


def moments(a: Sequence[Tensor], b: Sequence[Tensor]) -> Joint:
    """The mean products of the parts of two weights, made symmetric in the two blocks.

    Means are over draws and places. Of independent entries of variance one, times themselves, it
    is the identity.
    """
    means = []
    for left, two in zip(a, b, strict=True):
        products = torch.einsum("nskij,nslij->skl", left, two) / (
            left.shape[0] * left.shape[-1] ** 2
        )
        means.append((products + products.mT) / 2)
    d = a[0].shape[-1]  # of d x d entries, d (d + 1) / 2 are free in a symmetric matrix
    return Joint(means[0] * d / (d + 1), means[1] * d / max(1, d - 1), means[2])


def roots(covariance: Joint) -> list[Float[Tensor, "spaces blocks blocks"]]:
    """Matrices whose squares are a covariance, in single precision, where it lies.

    What is below zero in it, by its estimate, is taken for zero.
    """
    parts = []
    for matrix in covariance:
        values, vectors = torch.linalg.eigh(matrix)
        parts.append((vectors * values.clamp(min=0).sqrt().unsqueeze(-2)).to(torch.float32))
    return parts


def draw_outside(
    roots: Sequence[Tensor], draws: int, dim: int, stream: torch.Generator
) -> list[Tensor]:
    """Gaussian weights outside the subspace with a covariance, by its `roots`: three matrices."""
    half = dim // 2
    parts = []
    for root in roots:
        shape = draws, root.shape[0], root.shape[-1], half**2
        entries = root @ torch.randn(shape, generator=stream, device=stream.device)
        parts.append(entries.unflatten(-1, (half, half)))
    symmetric, antisymmetric, mixed = parts
    same = (symmetric + symmetric.mT + antisymmetric - antisymmetric.mT) / 2
    across = mixed[:, 0].unflatten(1, (2, BLOCKS))
    pairs = torch.stack([same[:, 0], across[:, 0], across[:, 1].mT, same[:, 1]], dim=1)
    sectors = pairs.unflatten(1, (2, 2)).movedim(3, 1)  # draws, blocks, rows' and columns' space
    matrices = []
    for (rows, columns), own in zip(
        TILES, sectors.split([r * c for r, c in TILES], 1), strict=True
    ):
        tiles = _turned(own.unflatten(1, (rows, columns)), "nrcsthk,ps,qt->nrphcqk")
        matrices.append(tiles.reshape(draws, rows * dim, columns * dim))
    return coordinates_and_rest(matrices)[1]


def coordinates_and_rest(
    weights: Sequence[Tensor],
) -> tuple[Float[Tensor, "draws 19"], list[Tensor]]:
    """The 19 coordinates of weights, draws first, and what lies outside the subspace."""
    pseudo = subspace.project(Weights(*weights))[0]
    inside = subspace.embed(pseudo, weights[2].shape[-1])
    return pseudo.stacked(), [w - part for w, part in zip(weights, inside, strict=True)]


def variances(covariance: Joint) -> Float[Tensor, " 28"]:
    """The mean square of an entry in each block, row by row of W1, then of W2, then of W3."""
    symmetric, antisymmetric, mixed = (matrix.diagonal(dim1=-2, dim2=-1) for matrix in covariance)
    same = (symmetric + antisymmetric) / 2
    return (same.sum(dim=0) + mixed[0].view(2, BLOCKS).sum(dim=0)) / 4


def _sectors(weights: Sequence[Tensor]) -> Float[Tensor, "draws 28 2 2 half half"]:
    """Each block in the eigenspaces of M, of its rows and of its columns."""
    sectors = []
    for weight, (rows, columns) in zip(weights, TILES, strict=True):
        tiles = weight.unflatten(-1, (columns, 2, -1)).unflatten(-4, (rows, 2, -1))
        sectors.append(_turned(tiles, "nrphcqk,ps,qt->nrcsthk").flatten(1, 2))
    return torch.cat(sectors, dim=1)


def _turned(tiles: Tensor, indices: str) -> Tensor:
    """From halves of vectors to eigenspaces of M, or back, on both sides of each block."""
    half = constant((1.0, 1.0, 1.0, -1.0), tiles.device, tiles.dtype).view(2, 2) / 2**0.5
    return torch.einsum(indices, tiles, half, half)


class NoiseRecord(NamedTuple):
    """A training as its coordinates in the subspace and the noise outside it."""

    steps: Int[Tensor, " times"]  # updates made before each row
    pseudo: Float[Tensor, "times 19"]  # the 19 pseudo-parameters in the order of `subspace.NAMES`
    # mean square of an entry outside the subspace in each of the 28 D x D blocks, row by row of W1,
    # then of W2, then of W3
    variance: Float[Tensor, "times blocks"]
    loss: Float[Tensor, " times"]  # the loss of fresh sequences, a mean over dimensions
    outside: Float[Tensor, " times"]  # Frobenius norm of the weights outside the subspace


@resumable
def follow_noise(
    settings: MinimalTraining,  # of all weights from zero
    *,
    device: torch.device,
    seed: int = 0,  # of the random numbers, which only make the estimates
    draws: int = 4,  # networks drawn a step, >= 1
    sequences: int = 128,  # in each of two batches a network, which tell g from its scatter
    noise: bool = True,  # whether there is any; without, P descends the expected loss
    label: str = "noise",
) -> NoiseRecord:
    """What `training.train_minimal` does on average over its batches, a row before every update.

    Two kinds of numbers are followed: the 19 pseudo-parameters P, and the covariance S of what
    lies outside, between all blocks of all matrices, at the same and at transposed places, in each
    pair of eigenspaces of M. Weights with these are drawn anew at every step, P plus Gaussian
    entries E. P descends the mean gradient.
    S moves as under any descent, by -lambda (E g + g E) + lambda^2 (g g + C/B), where g is the
    gradient of the expected loss at the drawn weights and C the scatter of a single sequence's
    gradient. All are estimated from fresh sequences. The batch size enters through C/B alone;
    nothing is fitted.

    Raises ArithmeticError when it diverges, and ValueError for a training of named
    pseudo-parameters, or from random weights.
    """
    if settings.trained or settings.held or settings.initial_scale:
        raise ValueError(f"the noise is followed in all weights, from zero; got {settings}")
    rate, dim, dtype = settings.learning_rate, settings.dim, torch.float32
    network, sampled = Full(settings, "fast"), replace(settings, batch_size=sequences)
    stream = generator(seed, device)
    pseudo = torch.zeros(len(NAMES), dtype=torch.float64)
    covariance = no_covariance()
    rows: list[tuple[int, Tensor, Tensor, Tensor]] = []  # step, coordinates, variances, loss
    here = torch.zeros(len(NAMES), device=device, dtype=dtype)  # the coordinates on the device
    there = [part.to(device, dtype) for part in covariance]  # and the roots of the covariance

    def estimates() -> tuple[Tensor, Tensor, list[Tensor]]:
        """The mean loss, the mean slope of the coordinates, and the change of the covariance."""
        apart = draw_outside(there, draws, dim, stream)
        inside = subspace.embed(PseudoParameters.unstack(here), dim)
        weights = [p + e for p, e in zip(inside, apart, strict=True)]
        losses, slopes = zip(
            *(
                minimal_step(network, weights, *stacked_batches(sampled, [stream] * draws, dtype))
                for _ in range(2)
            ),
            strict=True,
        )
        (first, g1), (second, g2) = (coordinates_and_rest(slope) for slope in slopes)
        loss, slope = torch.stack(losses).mean(), ((first + second) / 2).mean(dim=0)
        if not noise:
            return loss, slope, []
        apart, g1, g2 = (in_parts(x) for x in (apart, g1, g2))
        square = moments(g1, g2)  # of the mean gradient: the scatters are independent
        own = [moments(g, g) for g in (g1, g2)]
        along = [moments(apart, g) for g in (g1, g2)]  # each the mean of E g and g E
        changes = []
        for s, a, b, p, q in zip(square, *own, *along, strict=True):
            scatter = sequences * ((a + b) / 2 - s)
            changes.append(rate**2 * (s + scatter / settings.batch_size) - rate * (p + q))
        return loss, slope, changes

    with graphs.recorded_work(estimates, [stream], label) as estimated:
        for step in loop.steps(
            settings.steps, label, pseudo=pseudo, covariance=covariance, stream=stream, rows=rows
        ):
            here.copy_(pseudo)
            for root, own in zip(there, roots(covariance), strict=True):
                root.copy_(own)
            loss, slope, changes = estimated()
            loop.check_finite(loss, label, step)
            rows.append((step, pseudo.clone(), variances(covariance), loss.clone()))
            pseudo.sub_(rate * slope.cpu().double())
            for part, change in zip(covariance, changes, strict=False):
                part.add_(change.cpu().double())
    steps, coordinates, spreads, loss_of = zip(*rows, strict=True)
    spread = torch.stack([part.cpu() for part in spreads])
    return NoiseRecord(
        torch.tensor(steps),
        torch.stack([part.cpu() for part in coordinates]),
        spread,
        torch.stack([part.cpu() for part in loss_of]),
        dim * spread.sum(dim=1).sqrt(),
    )


@dataclass(frozen=True)
class Setting:
    """N pairs in D dimensions, trained for so many steps in batches of each of these sizes."""

    n_pairs: int
    dim: int
    steps: int
    batch_sizes: tuple[int, ...]

    def training(self, batch_size: int) -> MinimalTraining:
        return MinimalTraining(self.n_pairs, self.dim, batch_size, self.steps, record_every=2)


@dataclass(frozen=True)
class NoisyRun:
    """A training of all weights from one seed."""

    settings: MinimalTraining
    seed: int
    device: str


@dataclass(frozen=True)
class NoiseLaw(NoisyRun):
    """A training without a network: the law of its noise, and how its means are estimated."""

    draws: int
    sequences: int
    noise: bool = True


def train_noisy(run: NoisyRun) -> list[np.ndarray]:
    """A record without its snapshots; a run of a sweep."""
    record = train_minimal(
        run.settings, (run.seed,), device=torch.device(run.device), label=_named(run)
    )
    return [part.numpy() for part in record[:-1]]


def law_of_run(law: NoiseLaw) -> list[np.ndarray]:
    """What `follow_noise` gives; a run of a sweep."""
    record = follow_noise(
        law.settings,
        device=torch.device(law.device),
        seed=law.seed,
        draws=law.draws,
        sequences=law.sequences,
        noise=law.noise,
        label=f"law, {_named(law)}",
    )
    return [part.numpy() for part in record]


def train_all(
    trainings: Sequence[MinimalTraining], seeds: Sequence[int], device: torch.device
) -> list[MinimalRecord]:
    runs = [NoisyRun(settings, seed, str(device)) for settings in trainings for seed in seeds]
    results = iter(sweep.run(train_noisy, runs, label="trainings"))
    return [_joined([next(results) for _ in seeds]) for _ in trainings]


def follow_all(laws: Sequence[NoiseLaw]) -> list[NoiseRecord]:
    results = sweep.run(law_of_run, laws, label="laws")
    return [NoiseRecord(*map(torch.as_tensor, parts)) for parts in results]


def _joined(found: Sequence[Sequence[np.ndarray]]) -> MinimalRecord:
    """The record of all seeds, from that of each."""
    steps, *curves = (torch.as_tensor(np.stack(parts)) for parts in zip(*found, strict=True))
    pseudo, outside, loss = (curve[:, 0] for curve in curves)
    return MinimalRecord(steps[0], pseudo, outside, loss, snapshots={})


def _named(run: NoisyRun) -> str:
    return f"N = {run.settings.n_pairs}, B = {run.settings.batch_size}, seed {run.seed}"
