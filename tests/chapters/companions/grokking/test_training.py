"""Modular addition, the closed form of the first layer, real training and Fourier components."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
import torch

from chapters.companions.grokking import RealTraining, Simulation, direction, model, training
from interruption import assert_resumes

SMALL = Simulation(modulus=7, hidden=48, steps=200, embedding_std=7**-0.5)  # 19 of 28 pairs


@pytest.fixture
def problem():
    return training.instance(SMALL, 3)


@pytest.mark.parametrize("modulus", [2, 11])
def test_pairs_are_all_unordered_ones(modulus):
    pairs = model.unordered_pairs(modulus)
    expected = set(combinations_with_replacement(range(modulus), 2))
    assert set(map(tuple, pairs.T.tolist())) == expected
    assert pairs.shape[1] == modulus * (modulus + 1) // 2


def test_network_and_its_gradient(problem, close):
    data, layers = problem
    slow = torch.relu(data.train.inputs @ layers.embeddings) @ layers.output
    close(model.network_output(layers, data.train), slow)
    free = [part.clone().requires_grad_() for part in layers]
    output = torch.relu(data.train.inputs @ free[0]) @ free[1]
    expected = torch.autograd.grad((output - data.train.targets).square().sum(), free)
    result = model.residual_and_gradient(layers, data.train)
    close(result.residual, slow - data.train.targets)
    for actual, wanted in zip(result.gradient, expected, strict=True):
        close(actual, wanted)


def test_second_layer_is_the_fit_of_least_norm(problem, close):
    data, layers = problem
    best = direction.optimum(layers.embeddings, data.train)
    features = np.maximum(data.train.inputs.numpy() @ layers.embeddings.numpy(), 0)
    expected, *_ = np.linalg.lstsq(features, data.train.targets.numpy(), rcond=None)
    close(best.second_layer(), expected, 1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_velocity_against_finite_differences_and_autograd(problem, close, ridge):
    data, layers = problem
    result = direction.optimum(layers.embeddings, data.train, ridge).velocity(
        layers.embeddings, data.train
    )
    free = layers.embeddings.clone().requires_grad_()
    active = torch.relu(data.train.inputs @ free)
    inverse = torch.linalg.inv(active @ active.T + ridge * torch.eye(len(active)).double())
    targets = data.train.targets
    cost = free.square().sum() + torch.trace(targets.T @ inverse @ targets)
    close(result, -torch.autograd.grad(cost, free)[0] / 2, 1e-8)


def test_too_few_units_cannot_fit(problem):
    data, layers = problem
    with pytest.raises(ArithmeticError, match="singular"):
        direction.optimum(layers.embeddings[:, :10], data.train)


def test_simulation_descends_and_never_forgets(problem):
    data, layers = problem
    path = direction.simulate(replace(SMALL, step=1e-3, steps=60, log_every=20), 3)
    assert path.clock.tolist() == pytest.approx([0, 0.02, 0.04, 0.06])
    assert (path.cost.diff() < 0).all()
    assert float(path.residual.max()) < 1e-9
    by_hand = layers.embeddings
    for _ in range(20):
        best = direction.optimum(by_hand, data.train)
        by_hand = by_hand + 1e-3 * best.velocity(by_hand, data.train)
    assert torch.equal(path.embeddings[1], by_hand)


def test_real_training_is_descent_with_momentum(problem, close):
    data, layers = problem
    settings = RealTraining(decay=0.3, log_every=0.0, clock=0.004, slowdown=4.0)
    result = training.train(SMALL, settings, 3, dtype=torch.float64)
    rate, m, decay = settings.learning_rate, settings.momentum, settings.decay
    free = [part.clone().requires_grad_() for part in layers]
    optimiser = torch.optim.SGD(
        [{"params": free[:1], "lr": rate / 4}, {"params": free[1:], "lr": rate}], momentum=m
    )
    for _ in range(len(result.clock) - 1):
        optimiser.zero_grad()
        error = torch.relu(data.train.inputs @ free[0]) @ free[1] - data.train.targets
        (error.square().sum() + decay * sum(part.square().sum() for part in free)).backward()
        optimiser.step()
    assert len(result.clock) > 5
    assert float(result.clock[1]) == pytest.approx(2 * decay * rate / 4 / (1 - m))
    close(result.embeddings[-1], free[0])


@pytest.mark.parametrize("kill_after", [1, 12])
def test_a_killed_real_training_ends_in_the_same_bits(kill_after):
    settings = RealTraining(decay=0.3, log_every=0.006, clock=0.05, slowdown=2.0)
    assert_resumes(lambda: training.train(SMALL, settings, 3), kill_after)


@pytest.mark.parametrize("kill_after", [1, 12])
def test_a_killed_simulation_ends_in_the_same_bits(kill_after):
    settings = replace(SMALL, steps=20, log_every=5)
    assert_resumes(lambda: direction.simulate(settings, 3, ridge=0.3), kill_after)


def circle(modulus, frequency, hidden=6):
    """Embeddings on one circle, in units 2k - 2 and 2k - 1 for frequency k."""
    rows = torch.zeros(modulus, hidden, dtype=torch.float64)
    for j in range(modulus):
        angle = 2 * math.pi * frequency * j / modulus
        rows[j, 2 * frequency - 2] = math.cos(angle)
        rows[j, 2 * frequency - 1] = math.sin(angle)
    return rows


def test_the_geometry_of_circles():
    equal = circle(7, 1) + circle(7, 2) + circle(7, 3)  # each in a plane of its own
    result = model.features(equal)
    assert max(float(result[f]) for f in model.FEATURES if f != "overlap_within") < 1e-12
    assert float(model.features(equal + circle(7, 2))["norm_spread"]) > 0.3
    turn = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64) / 2**0.5
    shared = circle(3, 1, 2) @ turn  # both parts of the one frequency use both units
    both = model.features(torch.stack([shared, shared]))
    assert both["overlap_within"].tolist() == pytest.approx([1, 1])


def test_the_cost_falls_along_the_flow_where_a_large_step_overshoots(monkeypatch):
    data = training.instance(SMALL, 3).data.train
    path = direction.simulate(replace(SMALL, step=1e-3, steps=60, log_every=20), 3)
    assert direction.cost_falls(path, data, 1e-3)
    risen = path._replace(cost=torch.arange(len(path.cost), dtype=torch.float64))
    assert direction.cost_falls(risen, data, 1e-3)  # followed again, it does not rise
    right = direction.Optimum.velocity
    monkeypatch.setattr(
        direction.Optimum, "velocity", lambda best, at, pairs: -right(best, at, pairs)
    )
    assert direction.cost_falls(path, data, 1e-3)  # nothing rose, nothing is followed
    assert not direction.cost_falls(risen, data, 1e-3)
