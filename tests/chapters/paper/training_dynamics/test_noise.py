"""Expectations below noise, and gradients with the settings of a training."""

import dataclasses

import numpy as np
import pytest
import torch

from chapters.paper.training_dynamics import gradient_noise, interval, squared_mean
from emergence import training
from emergence.models import disentangled_output
from emergence.subspace import PseudoParameters, embed, project


def test_squared_mean_has_no_part_of_the_noise():
    stream = torch.Generator().manual_seed(0)
    noise = torch.randn(2000, 8, 30, generator=stream, dtype=torch.float64)
    mean = torch.full((30,), 0.1, dtype=torch.float64)
    for shift, square in ((0.0, 0.0), (1.0, 0.3)):
        result = squared_mean(noise + shift * mean)
        assert abs(float(result.mean()) - square) < 5 * float(result.std()) / 2000**0.5
    biased = noise.mean(dim=1).square().sum(dim=-1)
    assert float(biased.mean()) > 3  # which the plain square of the mean would report for zero


def test_squared_mean_is_the_mean_product_of_different_samples():
    samples = torch.randn(5, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    products = samples @ samples.T
    expected = (products.sum() - products.trace()) / 20
    assert float(squared_mean(samples)) == pytest.approx(float(expected))
    with pytest.raises(ValueError, match="two samples"):
        squared_mean(samples[:1])


def test_the_interval_covers_as_often_as_it_says():
    values = np.random.default_rng(2).standard_normal((400, 5))
    covered = [low <= 0 <= high for low, high in map(interval, values)]
    assert 0.92 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize(
    "change",
    [{}, {"mask": "causal"}, {"query": "last"}, {"windows": (2, None)}, {"copies": 2}],
)
def test_gradient_noise_is_of_the_settings(change):
    """The same batches through Eq. 1 as it is written, differentiated by PyTorch."""
    settings = training.MinimalTraining(4, 4, 1, 1)
    settings = dataclasses.replace(settings, **change)
    values = 0.1 * torch.randn(19, generator=torch.Generator().manual_seed(0))
    streams = [torch.Generator().manual_seed(1) for _ in range(2)]
    found = gradient_noise(values, settings, [8, 16], generator=streams[0])
    batch = dataclasses.replace(settings, batch_size=16)
    (inputs,), (target,) = training.stacked_batches(batch, streams[1:], torch.float32)
    squares = []
    for half in (slice(8), slice(8, 16)):
        weights = embed(PseudoParameters.unstack(values), 4)
        free = [part.requires_grad_() for part in weights]
        output = disentangled_output(
            type(weights)(*free), inputs[half], mask=settings.mask, windows=settings.windows
        )
        slope = torch.autograd.grad((output - target[half]).square().mean(), free)
        squares.append(float(project(type(weights)(*slope))[1]) ** 2)
    assert found.outside[0] == pytest.approx(np.mean(squares) ** 0.5, rel=1e-4)
