"""Figure 3, and the noise of batches in gradients and weights."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Real
from scipy import stats
from torch import Tensor

from emergence.experiments import captions
from emergence.presets import preset
from emergence.training import MinimalTraining


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
