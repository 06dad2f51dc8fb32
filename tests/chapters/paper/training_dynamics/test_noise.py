"""Expectations below noise."""

import numpy as np
import pytest
import torch

from chapters.paper.training_dynamics import interval, squared_mean


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
