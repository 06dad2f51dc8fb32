"""Modular addition, the direction test, the closed form of the first layer, training, stages."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy.linalg
import torch

from chapters.companions.grokking import (
    Direction,
    RealTraining,
    Simulation,
    direction,
    model,
    training,
)
from chapters.companions.grokking.model import Layers
from interruption import assert_resumes

SETTINGS = Direction(
    modulus=5, hidden=32, n_test=3, steps=60, n_measured=2, pull_steps=10, switch_window=20,
    single=False,
)  # fmt: skip


@pytest.fixture
def near_zero_loss():
    stream = torch.Generator().manual_seed(2)
    data = model.split(5, 9, generator=stream).train
    layers = model.start(5, 12, "torch", generator=stream)
    held = torch.rand(9, 12, generator=stream) < 0.1
    return data, layers, held


def dense_jacobian(layers, inputs):
    """d outputs / d weights by autograd."""
    shapes = [part.shape for part in layers]
    cut = shapes[0].numel()

    def outputs(theta):
        hidden = torch.relu(inputs @ theta[:cut].view(shapes[0]))
        return (hidden @ theta[cut:].view(shapes[1])).flatten()

    return torch.autograd.functional.jacobian(outputs, layers.flat()).numpy()


def test_norm_minimising_direction_against_the_null_space(near_zero_loss, close):
    data, layers, held = near_zero_loss
    theta = model.start(5, 12, "normal", generator=torch.Generator().manual_seed(6))
    rows = [dense_jacobian(layers, data.inputs)]
    for sample, unit in held.nonzero().tolist():
        row = torch.zeros(5, 12, dtype=torch.float64)
        row[:, unit] = data.inputs[sample]
        rows.append(np.append(row.flatten().numpy(), np.zeros(60))[None])
    for constraints, free in (
        (rows[0], None),
        (np.concatenate(rows), direction.free_directions(data.inputs, held)),
    ):
        basis = scipy.linalg.null_space(constraints)
        expected = -basis @ (basis.T @ theta.flat().numpy())
        result = direction.norm_minimising(theta, layers, data.inputs, free).direction
        close(result.flat(), expected, 1e-6)


@pytest.mark.parametrize("sharpness", [10.0, 250.0, math.inf])
def test_the_activation_and_its_slope(sharpness, close):
    activation = model.Activation(sharpness)
    z = torch.linspace(-1, 1, 41, dtype=torch.float64) + 0.003
    normal = torch.distributions.Normal(0.0, 1.0)
    step = (z > 0).double() if math.isinf(sharpness) else normal.cdf(sharpness * z)
    close(activation(z), z * step, 1e-12)
    free = z.clone().requires_grad_()
    close(activation.slope(z), torch.autograd.grad(activation(free).sum(), free)[0], 1e-12)


def test_the_jacobian_of_a_smooth_network(near_zero_loss, close):
    data, layers, _ = near_zero_loss
    smooth = model.Activation(3.0)

    def outputs(theta):
        z = data.inputs @ theta[:60].view(5, 12)
        hidden = z * torch.distributions.Normal(0.0, 1.0).cdf(3 * z)
        return (hidden @ theta[60:].view(12, 5)).flatten()

    jacobian = torch.autograd.functional.jacobian(outputs, layers.flat())
    close(direction.gram(layers, data.inputs, activation=smooth), jacobian @ jacobian.T)
    theta = model.start(5, 12, "normal", generator=torch.Generator().manual_seed(6))
    result = direction.norm_minimising(theta, layers, data.inputs, None, smooth)
    basis = scipy.linalg.null_space(jacobian.numpy())
    close(result.direction.flat(), -basis @ (basis.T @ theta.flat().numpy()), 1e-6)
    taken = jacobian.T @ result.multipliers.flatten()
    close(result.direction.flat(), taken - theta.flat(), 1e-6)


def test_filippov_gates_hold_the_inputs(near_zero_loss, close):
    """With the predicted gates in place of 0 and 1, loss and decay leave the held inputs alone."""
    data, layers, _ = near_zero_loss
    held = torch.zeros(9, 12, dtype=torch.bool)
    held[2, 3] = held[5, 3] = held[7, 8] = True
    theta = model.start(5, 12, "normal", generator=torch.Generator().manual_seed(6))
    free = direction.free_directions(data.inputs, held)
    projection = direction.norm_minimising(theta, layers, data.inputs, free)
    result = direction.gates(theta, layers, data.inputs, held, free, projection)
    assert torch.equal(~result.isnan(), held)
    z = data.inputs @ layers.embeddings
    gate = torch.where(held, result, (z > 0).double())
    push = projection.multipliers @ layers.output.mT
    moved = data.inputs.T @ (gate * push) - theta.embeddings
    close((data.inputs @ moved)[held], torch.zeros(3), 1e-6)
    close(moved, projection.direction.embeddings, 1e-6)


def test_agreement_of_shares():
    predicted = torch.tensor([[0.05, 0.35, 0.95, 1.25, float("nan")]]).double()
    measured = torch.tensor([[0.05, 0.35, 0.95, 0.65, 0.5]]).double()
    inside, explained, table = direction.time_share_agreement(predicted, measured)
    assert float(inside) == pytest.approx(0.75)
    spread = float((measured[0, :4] - 0.5).square().sum())
    assert float(explained) == pytest.approx(1 - 0.35**2 / spread)
    assert int(table.sum()) == 4
    assert int(table[9, 6]) == 1


def test_updates_are_gradient_descent_of_torch():
    settings = replace(SETTINGS, steps=40)
    result = direction.measure_updates(settings, [4], label="test")
    stream = torch.Generator().manual_seed(4)
    data = model.split(5, 12, generator=stream)
    free = [part.requires_grad_() for part in model.start(5, 32, "torch", generator=stream)]
    optimiser = torch.optim.SGD(free, lr=1.0, weight_decay=1e-4)
    states = []
    for _ in range(41):
        states.append(torch.cat([part.detach().flatten() for part in free]))
        outputs = torch.relu(data.train.inputs @ free[0]) @ free[1]
        loss = (outputs - data.train.targets).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert result.steps.tolist() == [40]
    assert float(result.train_loss) == pytest.approx(float(loss.detach()), rel=1e-9)
    # the direction, from a point pulled by an optimiser with momentum
    first, second = states[40].split(5 * 32)
    free = [x.clone().requires_grad_() for x in (first.view(5, 32), second.view(32, 5))]
    optimiser = torch.optim.SGD(free, lr=1.0, momentum=0.9)
    for _ in range(settings.pull_steps):
        outputs = torch.relu(data.train.inputs @ free[0]) @ free[1]
        optimiser.zero_grad()
        (outputs - data.train.targets).square().mean().backward()
        optimiser.step()
    near = Layers(*(part.detach() for part in free))
    basis = scipy.linalg.null_space(dense_jacobian(near, data.train.inputs))
    tangent = -basis @ (basis.T @ states[40].numpy())
    update = (states[40] - states[40 - settings.window]).numpy()
    expected = update @ tangent / np.linalg.norm(update) / np.linalg.norm(tangent)
    assert float(result.cosine) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kill_after", [1, 40, 55])
def test_a_killed_direction_test_ends_in_the_same_bits(kill_after):
    """Measured at steps 40 and 60: killed before the first, around it, and between them."""
    assert_resumes(lambda: direction.measure_updates(SETTINGS, (0, 1), label="test"), kill_after)


SMALL = Simulation(modulus=7, hidden=48, steps=200, embedding_std=7**-0.5)  # 19 of 28 pairs


@pytest.fixture
def problem():
    return direction.instance(SMALL, 3)


@pytest.mark.parametrize("modulus", [2, 11])
def test_a_split_has_all_unordered_pairs(modulus):
    parts = model.split(modulus, 2, generator=torch.Generator().manual_seed(0))
    rows = torch.cat([part.inputs for part in parts])
    found = [tuple(row.nonzero().flatten().tolist()) for row in rows]
    expected = combinations_with_replacement(range(modulus), 2)
    assert sorted(found) == sorted((a,) if a == b else (a, b) for a, b in expected)


def test_network_and_its_gradient(problem, close):
    data, layers = problem
    slow = torch.relu(data.train.inputs @ layers.embeddings) @ layers.output
    close(model.network_output(layers, data.train), slow)
    free = [part.clone().requires_grad_() for part in layers]
    output = torch.relu(data.train.inputs @ free[0]) @ free[1]
    expected = torch.autograd.grad((output - data.train.targets).square().sum(), free)
    residual, gradient = model.residual_and_gradient(layers, data.train)
    close(residual, slow - data.train.targets)
    for actual, wanted in zip(gradient, expected, strict=True):
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


def test_the_cost_falls_along_the_flow_where_a_large_step_overshoots(problem, monkeypatch):
    data = problem[0].train
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


STEPS = np.array([10, 20, 40, 80, 160])


def test_the_stage_goes_from_the_last_chance_to_the_first_knowledge():
    accuracy = np.array([0.0, 0.3, 0.1, 0.5, 0.9, 0.2, 1.0])
    assert training.grokking_stage(accuracy) == (2, 4)
    assert training.grokking_stage(np.array([0.5, 0.9])) == (0, 1)
    never = training.grokking_stage(accuracy[:4])
    assert not never.happens


def test_means_during_a_stage_are_weighted_by_time():
    values = np.array([9.0, 1.0, 2.0, 4.0, 9.0])
    weights = [15, 30, 60]  # half the time between the neighbours
    expected = np.average(values[1:4], weights=weights)
    assert training.during(values, STEPS, training.LearningStage(1, 3)) == pytest.approx(expected)
    assert np.isnan(training.during(values, STEPS, training.LearningStage(-1, -1)))


def test_a_maximum_outside_the_stage_is_seen():
    values = np.array([0.1, 0.9, 0.5, 0.6, 0.2])
    assert training.shortfall(values, training.LearningStage(2, 4)) == pytest.approx(0.3)
    assert training.shortfall(values, training.LearningStage(1, 4)) == 0
