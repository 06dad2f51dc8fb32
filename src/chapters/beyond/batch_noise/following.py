"""What the noise of batches does to a training, followed by its second moments."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence import subspace
from emergence.models import Weights
from emergence.subspace import NAMES, PseudoParameters
from emergence.training import Full, MinimalTraining, minimal_step, stacked_batches
from running import loop
from running.cache import Task
from running.devices import generator

TILES = ((2, 2), (4, 4), (8, 1))  # blocks of D x D in W1, W2 and W3 (Eqs. 6-8)
SECTORS = 4  # M has the eigenvalues +1 and -1, and a block has rows and columns


class NoiseRecord(NamedTuple):
    """A training as its coordinates in the subspace and the noise outside it (chapter Batch noise).

    Attributes:
        steps: updates made before each row.
        pseudo: the 19 pseudo-parameters in the order of `subspace.NAMES`.
        variance: mean square of an entry outside the subspace in each of the 28 D x D blocks, row
            by row of W1, then of W2, then of W3.
        loss: the loss of fresh sequences, a mean over dimensions.
        outside: Frobenius norm of the weights outside the subspace.
    """

    steps: Int[Tensor, " times"]
    pseudo: Float[Tensor, "times 19"]
    variance: Float[Tensor, "times blocks"]
    loss: Float[Tensor, " times"]
    outside: Float[Tensor, " times"]


def follow_noise(
    settings: MinimalTraining,
    *,
    device: torch.device,
    seed: int = 0,
    draws: int = 4,
    sequences: int = 128,
    noise: bool = True,
    label: str = "noise",
) -> NoiseRecord:
    """What `training.train_minimal` does on average over its batches (chapter Batch noise).

    Two kinds of numbers are followed: the 19 pseudo-parameters P, and the covariance S of what
    lies outside, between the blocks of a matrix, in each pair of eigenspaces of M. Weights with
    these are drawn anew at every step, P plus Gaussian entries E. P descends the mean gradient.
    S moves as under any descent, by -lambda (E g + g E) + lambda^2 (g g + C/B), where g is the
    gradient of the expected loss at the drawn weights and C the scatter of a single sequence's
    gradient. All are estimated from fresh sequences. The batch size enters through C/B alone;
    nothing is fitted.

    Args:
        settings: the training, of all weights from zero.
        device: where it is computed.
        seed: of the random numbers, which only make the estimates.
        draws: networks drawn a step, >= 1.
        sequences: fresh sequences in each of two batches a network, which tell g from its scatter.
        noise: whether there is any; without, P descends the expected loss.
        label: what messages call the computation.

    Returns:
        A row before every update.

    Raises:
        ArithmeticError: when it diverges.
        ValueError: for a training of named pseudo-parameters, or from random weights.

    Example:
        >>> settings = training.MinimalTraining(n_pairs=2, dim=8, batch_size=16, steps=5)
        >>> run = training.follow_noise(settings, device=torch.device("cpu"))
        >>> tuple(run.pseudo.shape), tuple(run.variance.shape), float(run.outside[0])
        ((5, 19), (5, 28), 0.0)
    """
    if settings.trained or settings.held or settings.initial_scale:
        raise ValueError(f"the noise is followed in all weights, from zero; got {settings}")
    rate, dim, dtype = settings.learning_rate, settings.dim, torch.float32
    network, sampled = Full(settings, "fast"), replace(settings, batch_size=sequences)
    stream = generator(seed, device)
    pseudo = torch.zeros(len(NAMES), dtype=torch.float64)
    covariance = tuple(torch.zeros(SECTORS, r * c, r * c, dtype=torch.float64) for r, c in TILES)
    rows: list[tuple[int, Tensor, Tensor, Tensor]] = []  # step, coordinates, variances, loss
    task = Task.of(
        follow_noise, settings=settings, seed=seed, draws=draws, sequences=sequences, noise=noise
    )
    for step in loop.steps(
        task,
        settings.steps,
        label,
        pseudo=pseudo,
        covariance=covariance,
        stream=stream,
        rows=rows,
    ):
        apart = _drawn([part.to(device, dtype) for part in covariance], draws, dim, stream)
        inside = subspace.embed(PseudoParameters.unstack(pseudo.to(device, dtype)), dim)
        weights = [p + e for p, e in zip(inside, apart, strict=True)]
        losses, slopes = zip(
            *(
                minimal_step(network, weights, *stacked_batches(sampled, [stream] * draws, dtype))
                for _ in range(2)
            ),
            strict=True,
        )
        loss = torch.stack(losses).mean()
        loop.check_finite(loss, label, step)
        rows.append((step, pseudo.clone(), _variances(covariance), loss))
        (first, g1), (second, g2) = (_split(Weights(*slope), dim) for slope in slopes)
        pseudo.sub_(rate * ((first + second) / 2).mean(dim=0).cpu().double())
        if not noise:
            continue
        for own, e, one, two in zip(
            covariance, *(_sectors(x) for x in (apart, g1, g2)), strict=True
        ):
            square = _moments(one, two)  # of the mean gradient: the scatters are independent
            scatter = sequences * ((_moments(one, one) + _moments(two, two)) / 2 - square)
            along = _moments(e, one) + _moments(e, two)  # twice the mean of E g and g E
            change = rate**2 * (square + scatter / settings.batch_size) - rate * along
            own.add_(change.cpu().double())
    steps, coordinates, variances, loss_of = zip(*rows, strict=True)
    spread = torch.stack([part.cpu() for part in variances])
    return NoiseRecord(
        torch.tensor(steps),
        torch.stack([part.cpu() for part in coordinates]),
        spread,
        torch.stack([part.cpu() for part in loss_of]),
        dim * spread.sum(dim=1).sqrt(),
    )


def _drawn(
    covariance: Sequence[Tensor], draws: int, dim: int, stream: torch.Generator
) -> list[Tensor]:
    """Gaussian weights outside the subspace with these covariances."""
    parts = []
    for (rows, columns), own in zip(TILES, covariance, strict=True):
        values, vectors = torch.linalg.eigh(own)
        root = vectors * values.clamp(min=0).sqrt().unsqueeze(-2)
        shape = draws, SECTORS, rows * columns, (dim // 2) ** 2
        entries = root @ torch.randn(shape, generator=stream, device=stream.device, dtype=own.dtype)
        tiles = entries.view(draws, 2, 2, rows, columns, dim // 2, dim // 2)
        parts.append(_turned(tiles, "nstrchk,ps,qt->nrphcqk").reshape(draws, rows * dim, -1))
    return _split(Weights(*parts), dim)[1]


def _split(weights: Weights, dim: int) -> tuple[Tensor, list[Tensor]]:
    """The 19 coordinates of weights, and what lies outside."""
    pseudo = subspace.project(weights)[0]
    inside = subspace.embed(pseudo, dim)
    return pseudo.stacked(), [w - part for w, part in zip(weights, inside, strict=True)]


def _sectors(weights: Sequence[Tensor]) -> list[Float[Tensor, "draws 4 blocks entries"]]:
    """Each matrix in the eigenspaces of M, by pair of eigenspaces and block."""
    found = []
    for weight, (rows, columns) in zip(weights, TILES, strict=True):
        tiles = weight.unflatten(-1, (columns, 2, -1)).unflatten(-4, (rows, 2, -1))
        turned = _turned(tiles, "nrphcqk,ps,qt->nstrchk")
        found.append(turned.flatten(-2).flatten(-3, -2).flatten(1, 2))
    return found


def _turned(tiles: Tensor, indices: str) -> Tensor:
    """From halves of vectors to eigenspaces of M, or back, on both sides of each block."""
    half = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=tiles.dtype, device=tiles.device) / 2**0.5
    return torch.einsum(indices, tiles, half, half)


def _moments(a: Tensor, b: Tensor) -> Float[Tensor, "4 blocks blocks"]:
    """The mean product of entries at the same place in two blocks, made symmetric."""
    products = torch.einsum("nskx,nslx->skl", a, b) / (a.shape[0] * a.shape[-1])
    return (products + products.mT) / 2


def _variances(covariance: Sequence[Tensor]) -> Float[Tensor, " 28"]:
    """The variance in each block, a mean over sectors."""
    return torch.cat([part.diagonal(dim1=-2, dim2=-1).mean(dim=0) for part in covariance])
