"""Gradients on batches of many sizes, inside and outside the subspace of Theorem 1."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.fast import disentangled_output
from emergence.models import Weights
from emergence.running.memo import kept
from emergence.subspace import PseudoParameters, embed, project
from emergence.training import SAMPLERS, MinimalTraining

from . import squared_mean

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
    gradients: list[tuple[Tensor, ...]] = []
    while (left := total // batch_size - len(gradients) * at_once) > 0:
        count = min(at_once, left)
        batch = SAMPLERS[settings.data](
            count * batch_size, settings.n_pairs, settings.dim, generator=generator,
            query=settings.query, copies=settings.copies, dtype=torch.float32,
        )  # fmt: skip
        inputs, target = (
            part.unflatten(0, (count, batch_size)) for part in (batch.inputs, batch.target)
        )
        many = (part.to(generator.device).expand(count, -1, -1).clone() for part in parts)
        weights = Weights(*(part.requires_grad_() for part in many))
        output = disentangled_output(weights, inputs, mask=settings.mask, windows=settings.windows)
        loss = (output - target).square().mean(dim=(-2, -1)).sum()
        gradients.append(torch.autograd.grad(loss, weights))
    return Weights(*(torch.cat(part) for part in zip(*gradients, strict=True)))


def _split(gradient: Weights) -> list[Float[Tensor, "count entries"]]:
    """The parts of gradients inside and outside the subspace, flat, in orthonormal coordinates."""
    within = embed(project(gradient)[0], gradient.w3.shape[-1])
    beyond = [g - w for g, w in zip(gradient, within, strict=True)]
    return [torch.cat([part.flatten(1) for part in parts], dim=1) for parts in (within, beyond)]
