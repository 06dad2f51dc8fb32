"""The tangent directions of the zero-loss set and the direction test."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import torch

from chapters.companions.grokking import Direction, direction, model
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
    assert bool((result.known == held).all())
    z = data.inputs @ layers.embeddings
    gate = torch.where(held, result.predicted, (z > 0).double())
    push = projection.multipliers @ layers.output.mT
    moved = data.inputs.T @ (gate * push) - theta.embeddings
    close((data.inputs @ moved)[held], torch.zeros(3), 1e-6)
    close(moved, projection.direction.embeddings, 1e-6)


def test_agreement_of_shares():
    solved = torch.tensor([[True, True, True, True, False]])
    predicted = torch.tensor([[0.05, 0.35, 0.95, 1.25, float("nan")]]).double()
    measured = torch.tensor([[0.05, 0.35, 0.95, 0.65, 0.5]]).double()
    result = direction.time_share_agreement(direction.Gates(predicted, solved), measured)
    assert float(result.inside) == pytest.approx(0.75)
    spread = float((measured[0, :4] - 0.5).square().sum())
    assert float(result.explained) == pytest.approx(1 - 0.35**2 / spread)
    assert int(result.table.sum()) == 4
    assert int(result.table[9, 6]) == 1


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
