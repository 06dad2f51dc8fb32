"""Expectations below noise, and gradients with the settings of a training."""

import dataclasses

import numpy as np
import pytest
import torch

from asserts import refused
from chapters.paper.training_dynamics import gradient_noise, interval, squared_mean
from draws import normal, stream
from emergence import training
from emergence.models import Weights, disentangled_output
from emergence.subspace import PseudoParameters, embed, project


def test_squared_mean_is_the_mean_product_of_different_samples(close):
    """Which has no part of their noise."""
    samples = normal(stream(), 2, 5, 3)
    products = samples @ samples.mT
    different = products * (1 - torch.eye(5))
    close(squared_mean(samples), different.sum(dim=(1, 2)) / 20)
    refused(ValueError, "two samples", squared_mean, samples[:, :1])


def test_the_interval_covers_as_often_as_it_says():
    values = np.random.default_rng(2).standard_normal((400, 5))
    covered = [low <= 0 <= high for low, high in map(interval, values)]
    assert 0.92 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize(
    "change", [{}, {"mask": "causal"}, {"query": "last"}, {"windows": (2, None)}, {"copies": 2}]
)
def test_gradient_noise_is_of_the_settings(change):
    """The same batches through Eq. 1 as it is written, differentiated by PyTorch."""
    settings = training.MinimalTraining(4, 4, 1, 1)
    settings = dataclasses.replace(settings, **change)
    values = 0.1 * torch.randn(19, generator=stream())
    found = gradient_noise(values, settings, [8, 16], generator=stream(1))
    batch = dataclasses.replace(settings, batch_size=16)
    (inputs,), (target,) = training.stacked_batches(batch, [stream(1)], torch.float32)
    squares = []
    for half in (slice(8), slice(8, 16)):
        options = {"mask": settings.mask, "windows": settings.windows}
        free = Weights(*(w.requires_grad_() for w in embed(PseudoParameters.unstack(values), 4)))
        output = disentangled_output(free, inputs[half], **options)
        slope = torch.autograd.grad((output - target[half]).square().mean(), free)
        squares.append(float(project(Weights(*slope))[1]) ** 2)
    assert found.outside[0] == pytest.approx(np.mean(squares) ** 0.5, rel=1e-4)
