"""Laws of the full model's emergence times against integrated flows."""

import math

import numpy as np
import pytest
import torch

from asserts import refused
from chapters.beyond.full_flow import laws, overlaps
from draws import normal, stream
from emergence import models, subspace, tasks, theory


def test_constants_and_recency_as_the_slope_of_the_loss_by_alpha():
    assert laws.log_law("alpha", "last").leading == pytest.approx(4 * (1 - math.exp(-0.5)))
    grid = np.linspace(0, 1, 20001)
    inside = np.exp(-(grid**2) / 2) / np.sqrt(0.25 + grid**2 / 2)
    assert laws.uniform_leading(1.0) == pytest.approx(2 * np.trapezoid(inside, grid), rel=1e-7)
    for name in ("beta", "gamma"):
        refused(ValueError, f"no law for '{name}'", laws.log_law, name, "last")
    # With a flat layer 2, whatever the output but for gamma_1: exact at any N.
    for n_pairs, alpha, gammas in ((5, 0.3, (0.7, 0.2, -0.9)), (9, 1.4, (1.0, 1.0, -1.0))):
        point = np.zeros(19)
        point[2], point[16:] = alpha, gammas
        claimed = gammas[2] ** 2 * math.exp(alpha) * laws.recency(alpha, n_pairs) / 4 / n_pairs**2
        slope = theory.landscape_of(n_pairs, model="full").gradient(*point)[2]
        assert -slope == pytest.approx(claimed, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.7, 3.0, 11.9, 12.1])
def test_recency_beyond_the_logarithm(alpha):
    n_pairs = 2_000_000
    left = laws.recency(alpha, n_pairs) - math.log(n_pairs) - laws.recency_excess(alpha)
    assert abs(left) < 2 * math.exp(alpha) / n_pairs + 1e-5


def test_overlaps_cost_what_sampling_says_and_nothing_for_wide_vectors():
    """(L_D - L) D goes to L_1; differences from 16 to 64 dimensions are of the next order."""
    point, draw = 0.8 * normal(stream(), 19), stream(1)
    limit = theory.landscape_of(2, "uniform", model="full").loss(*point.tolist())
    cost = float(overlaps.overlap_loss(point, 2, "uniform"))
    measured = []
    for dim in (16, 64):
        scale = torch.tensor([dim] * 15 + [1] * 4)
        weights = subspace.embed(subspace.PseudoParameters.unstack(point / scale), dim)
        losses = []
        for _ in range(30):
            batch = tasks.gaussian_pairs(2000, 2, dim, generator=draw)
            error = models.disentangled_output(weights, batch.inputs) - batch.target
            losses.append(float(error.square().mean()))
        measured.append((np.mean(losses) - limit) * dim)
    assert measured[0] == pytest.approx(cost, rel=0.2)
    assert measured[1] == pytest.approx(cost, rel=0.15)
    assert (4 * measured[1] - measured[0]) / 3 == pytest.approx(cost, rel=0.2)
    point = np.random.default_rng(0).normal(size=19)
    for query in ("last", "uniform"):
        exact = theory.landscape_of(3, query, model="full").gradient(*point)
        near, far = (overlaps.landscape(3, dim, query) for dim in (10, 10**9))
        np.testing.assert_allclose(far.gradient(*point), exact, atol=1e-7)
        step = 1e-5 * np.eye(19)[2]
        slope = (near.loss(*(point + step)) - near.loss(*(point - step))) / 2e-5
        assert near.gradient(*point)[2] == pytest.approx(slope, rel=1e-6)
