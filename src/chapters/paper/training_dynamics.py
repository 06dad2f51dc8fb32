"""Figure 3, and the noise of batches in gradients and weights.

Gradients on batches of many sizes, inside and outside the subspace of Theorem 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Real
from scipy import stats
from torch import Tensor

from emergence.experiments import captions
from emergence.fast import disentangled_gradient
from emergence.models import Weights
from emergence.presets import preset
from emergence.running.memo import kept
from emergence.subspace import PseudoParameters, embed, project
from emergence.training import SAMPLERS, MinimalTraining


@dataclass(frozen=True)
class TrainingDynamics:
    """Figure 3's training, and the batch sizes at which the noise outside the subspace is read."""

    training: MinimalTraining
    smallest_batch: int = 64  # of a gradient
    doublings: int = 9  # every batch size has the sequences of one batch of the largest
    batch_sizes: tuple[int, ...] = (128, 256, 512, 1024, 2048, 4096)  # of trainings
    turns: int = 1999  # of the null of `analysis.structure`


PRESET = preset(
    paper=TrainingDynamics(captions.weights_training(4, 100, 200, 400)),
    smoke=TrainingDynamics(
        captions.SMALL_WEIGHTS,
        smallest_batch=8,
        doublings=4,
        batch_sizes=(16, 32, 64, 128, 256),
        turns=800,
    ),
)


def squared_mean(samples: Float[Tensor, "*runs count n"]) -> Float[Tensor, "*runs"]:
    """The squared norm of the expectation of independent samples, without bias.

    The mean inner product of two different samples: its expectation has no part of their noise, so
    it is zero in the mean, and may be negative, where the expectation is zero. Needs two samples.
    """
    count = samples.shape[-2]
    if count < 2:
        raise ValueError(f"two samples are needed, got {count}")
    whole = samples.sum(dim=-2).square().sum(dim=-1)
    return (whole - samples.square().sum(dim=(-2, -1))) / (count * (count - 1))


def interval(values: Real[np.ndarray, " n"], confidence: float = 0.95) -> tuple[float, float]:
    """Student's interval of the mean of independent values, two or more."""
    half = stats.t.ppf((1 + confidence) / 2, len(values) - 1) * stats.sem(values)
    return float(np.mean(values) - half), float(np.mean(values) + half)


AT_ONCE = 4096  # sequences


class GradientNoise(NamedTuple):
    """What batches say of a gradient, by the root of its mean square and by its expectation."""

    outside: Float[np.ndarray, " sizes"]  # root mean square of the norm outside the subspace
    squares: tuple[float, float]  # of the expected gradient inside and outside, without bias


@kept
def gradient_noise(
    values: Float[Tensor, "19"],
    settings: MinimalTraining,
    batch_sizes: Sequence[int],
    *,
    generator: torch.Generator,
) -> GradientNoise:
    """The gradient at structured weights, on as many sequences at every batch size (Theorem 1).

    Data, mask and windows are those of the settings; their batch size does not matter.
    """
    norms, means = [], []
    for size in batch_sizes:
        parts = _split(_gradients(values, settings, size, max(batch_sizes), generator))
        norms.append(float(parts[1].square().sum(dim=1).mean().sqrt()))
        means.append([part.mean(dim=0) for part in parts])
    inner, outer = (float(squared_mean(torch.stack(part))) for part in zip(*means, strict=True))
    return GradientNoise(np.array(norms), (inner, outer))


def _gradients(
    values: Float[Tensor, "19"],
    settings: MinimalTraining,
    batch_size: int,
    total: int,
    generator: torch.Generator,
) -> Weights:
    """Independent gradients at structured weights, together of so many sequences."""
    parts = embed(PseudoParameters.unstack(values), settings.dim)
    at_once = max(1, AT_ONCE // batch_size)
    gradients: list[Weights] = []
    while (left := total // batch_size - len(gradients) * at_once) > 0:
        count = min(at_once, left)
        batch = SAMPLERS[settings.data](
            count * batch_size, settings.n_pairs, settings.dim, generator=generator,
            query=settings.query, copies=settings.copies, dtype=torch.float32,
        )  # fmt: skip
        inputs, target = (
            part.unflatten(0, (count, batch_size)) for part in (batch.inputs, batch.target)
        )
        many = (part.to(generator.device).expand(count, -1, -1) for part in parts)
        _, gradient = disentangled_gradient(
            Weights(*many), inputs, target, mask=settings.mask, windows=settings.windows
        )
        gradients.append(gradient)
    return Weights(*(torch.cat(part) for part in zip(*gradients, strict=True)))


def _split(gradient: Weights) -> list[Float[Tensor, "count entries"]]:
    """The parts of gradients inside and outside the subspace, flat, in orthonormal coordinates."""
    within = embed(project(gradient)[0], gradient.w3.shape[-1])
    beyond = [g - w for g, w in zip(gradient, within, strict=True)]
    return [torch.cat([part.flatten(1) for part in parts], dim=1) for parts in (within, beyond)]
