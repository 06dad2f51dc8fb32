"""The effect of the noise of batches on a training, computed from its second moments."""

from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence import subspace
from emergence.running import graphs, loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.subspace import NAMES, PseudoParameters
from emergence.training import Full, MinimalTraining, minimal_step, stacked_batches

from . import covariance as joint


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


@resumable
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
    lies outside, between all blocks of all matrices, at the same and at transposed places, in each
    pair of eigenspaces of M. Weights with these are drawn anew at every step, P plus Gaussian
    entries E. P descends the mean gradient.
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
    """
    if settings.trained or settings.held or settings.initial_scale:
        raise ValueError(f"the noise is followed in all weights, from zero; got {settings}")
    rate, dim, dtype = settings.learning_rate, settings.dim, torch.float32
    network, sampled = Full(settings, "fast"), replace(settings, batch_size=sequences)
    stream = generator(seed, device)
    pseudo = torch.zeros(len(NAMES), dtype=torch.float64)
    covariance = joint.no_covariance()
    rows: list[tuple[int, Tensor, Tensor, Tensor]] = []  # step, coordinates, variances, loss
    here = torch.zeros(len(NAMES), device=device, dtype=dtype)  # the coordinates on the device
    there = [part.to(device, dtype) for part in covariance]  # and the roots of the covariance

    def estimates() -> tuple[Tensor, Tensor, list[Tensor]]:
        """The mean loss, the mean slope of the coordinates, and the change of the covariance."""
        apart = joint.draw_outside(there, draws, dim, stream)
        inside = subspace.embed(PseudoParameters.unstack(here), dim)
        weights = [p + e for p, e in zip(inside, apart, strict=True)]
        losses, slopes = zip(
            *(
                minimal_step(network, weights, *stacked_batches(sampled, [stream] * draws, dtype))
                for _ in range(2)
            ),
            strict=True,
        )
        (first, g1), (second, g2) = (joint.coordinates_and_rest(slope) for slope in slopes)
        loss, slope = torch.stack(losses).mean(), ((first + second) / 2).mean(dim=0)
        if not noise:
            return loss, slope, []
        apart, g1, g2 = (joint.in_parts(x) for x in (apart, g1, g2))
        square = joint.moments(g1, g2)  # of the mean gradient: the scatters are independent
        own = [joint.moments(g, g) for g in (g1, g2)]
        along = [joint.moments(apart, g) for g in (g1, g2)]  # each the mean of E g and g E
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
            for root, own in zip(there, joint.roots(covariance), strict=True):
                root.copy_(own)
            loss, slope, changes = estimated()
            loop.check_finite(loss, label, step)
            rows.append((step, pseudo.clone(), joint.variances(covariance), loss.clone()))
            pseudo.sub_(rate * slope.cpu().double())
            for part, change in zip(covariance, changes, strict=False):
                part.add_(change.cpu().double())
    steps, coordinates, variances, loss_of = zip(*rows, strict=True)
    spread = torch.stack([part.cpu() for part in variances])
    return NoiseRecord(
        torch.tensor(steps),
        torch.stack([part.cpu() for part in coordinates]),
        spread,
        torch.stack([part.cpu() for part in loss_of]),
        dim * spread.sum(dim=1).sqrt(),
    )
