"""Cross-entropy against the network, and flows at other speeds against the theory."""

import numpy as np
import pytest
import torch

from emergence import models, tasks, theory
from emergence.analysis import head_weights
from emergence.theory import Rates, cross_entropy, limits

POINTS = [(0.0, 0.0, 0.0), (0.3, 0.7, 0.9), (2.5, 1.5, 1.3), (-0.5, 0.4, -0.2)]
LANDSCAPES = {
    "labels": cross_entropy.landscape(5, 9),
    "words": cross_entropy.landscape(5, 12, "uniform", say_items=True),
}


def every_query(n_pairs, dim):
    """One orthonormal sequence for each pair that may be asked for."""
    generator = torch.Generator().manual_seed(3)
    batch = tasks.orthonormal_pairs(n_pairs, n_pairs, dim, generator=generator)
    items, labels = batch.inputs[:, 0:-1:2, :dim], batch.inputs[:, 1:-1:2, :dim]
    queries = torch.arange(n_pairs)
    batch.inputs[queries, -1, :dim] = items[queries, queries]
    return batch.inputs, items, labels, queries


@pytest.mark.parametrize("state", POINTS)
@pytest.mark.parametrize(("name", "vocabulary"), [("labels", 9), ("words", 12)])
def test_cross_entropy_reads_the_networks_output_along_the_words(state, name, vocabulary):
    inputs, items, labels, queries = every_query(5, 12)
    weights = head_weights(torch.tensor(state, dtype=torch.float64), 12)
    output = models.disentangled_output(weights, inputs)
    words = labels if name == "labels" else torch.cat([labels, items], dim=1)
    logits = torch.einsum("bd,bnd->bn", output, words)
    absent = logits.new_zeros(5, vocabulary - logits.shape[1])
    losses = torch.nn.functional.cross_entropy(
        torch.cat([logits, absent], dim=1), queries, reduction="none"
    )
    expected = losses[-1] if name == "labels" else losses.mean()
    assert LANDSCAPES[name].loss(*state) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("state", POINTS)
@pytest.mark.parametrize("name", LANDSCAPES)
def test_derivatives_are_those_of_the_loss(state, name):
    landscape, step = LANDSCAPES[name], 1e-6

    def loss(shift):
        return landscape.loss(*(np.array(state) + shift))

    slopes = [(loss(d) - loss(-d)) / (2 * step) for d in step * np.eye(3)]
    assert landscape.gradient(*state) == pytest.approx(slopes, abs=1e-8)


def test_a_saturated_alpha_does_not_overflow():
    for landscape in LANDSCAPES.values():
        saturated, large = (landscape.loss(alpha, 1.0, 1.0) for alpha in (1e4, 40.0))
        assert saturated == pytest.approx(large, abs=1e-12)


def test_a_rate_of_zero_holds():
    fixed = {"rates": Rates(beta=0.0), "start": (0.0, 1.0, 0.0)}
    path = theory.descent_in(theory.landscape_of(4), 50, **fixed)
    assert np.all(path.beta == 1)
    assert path.alpha[-1] > 0
    assert path.gamma[-1] > 0
    held = theory.times_in(theory.landscape_of(64), end=6e4, **fixed)
    assert held.beta == 0
    assert held.icl == held.alpha == pytest.approx(2 * (1 - np.exp(-0.5)) * 64**2, rel=0.03)
    assert held.collapse == np.inf


def test_predicted_steps_are_the_first():
    points = np.array([[0, 0.5, 1, 1], [0, 0, 0, 0.6], [0, 0.1, 0.2, 0.3]])
    losses = np.array([1.0, 0.9, 0.5, 0.2])
    run = theory.Trajectory(np.arange(4.0), *points, losses, points.T)
    assert list(theory.first_steps(run)) == [1, 3, np.inf, 2]


def test_three_halves_law():
    """T_alpha = 2 sqrt(I(1)) N^(3/2), from its own integral."""
    area = np.sqrt(np.pi / 2) * 0.6826894921370859
    assert limits.gauss(1.0) == pytest.approx(area, rel=1e-10)
    fast = theory.times_in(theory.landscape_of(512), end=1e5, rates=theory.gaussian_rates(1e5))
    assert fast.alpha == pytest.approx(2 * area**0.5 * 512**1.5, rel=3e-3)
    assert fast.beta < fast.alpha < fast.gamma


@pytest.mark.parametrize("ratio", [1e-6, 0.01, 0.99, 1.01, 100.0])
def test_crossover_solves_its_equation(ratio):
    n_pairs, dim = 50.0, 10.0
    u = theory.crossover_time(n_pairs, dim, ratio * dim**2 / (2 * n_pairs)) / (n_pairs * dim)
    assert u + np.expm1(-u) == pytest.approx(ratio, rel=1e-8)


def test_nothing_moves_when_the_context_holds_every_word():
    at_zero = cross_entropy.landscape(4, 4).gradient(0.0, 0.0, 0.0)
    assert at_zero == pytest.approx((0, 0, 0), abs=1e-15)
    with pytest.raises(ValueError, match="5 pairs need 10 words, got 9"):
        cross_entropy.landscape(5, 9, say_items=True)
