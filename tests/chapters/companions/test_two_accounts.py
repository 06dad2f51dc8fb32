"""Both probes of a memory, read in training, and the theorem of small times against the flow."""

import numpy as np
import pytest
import torch

from chapters.companions import two_accounts
from chapters.companions.birth import task
from chapters.companions.birth.model import Frozen, initial
from chapters.companions.two_accounts import AssociativeMemory, Reading, read_memory
from emergence import tasks
from emergence.models import Weights, disentangled_output
from emergence.subspace import INDUCTION_HEAD, NAMES, project


def drawn(size=7, n=20, m=24, seed=0):
    stream = torch.Generator().manual_seed(seed)
    make = {"generator": stream, "dtype": torch.float64}
    return AssociativeMemory(
        torch.randn(n, m, **make), torch.randn(size, n, **make), torch.randn(size, m, **make)
    )


def test_coefficient_is_the_orthogonal_projection():
    some = drawn()
    square = some.target.square().sum()
    rest = some.weight - (some.weight * some.target).sum() / square * some.target
    mixed = some._replace(weight=0.7 * some.target + rest)
    result = read_memory(mixed)
    assert result.coefficient == pytest.approx(0.7)
    rms = (rest.square().sum() / (rest.numel() - 1)).sqrt()
    assert result.contrast == pytest.approx(float(0.7 * square.sqrt() / rms))
    assert read_memory(some._replace(weight=rest)).coefficient == pytest.approx(0, abs=1e-12)


def test_coefficients_of_the_minimal_model_are_pseudo_parameters(random_weights):
    weights = random_weights(torch.Generator().manual_seed(0), 6)
    pseudo = project(weights)[0].stacked()
    result = [read_memory(part).coefficient for part in two_accounts.minimal_head(weights)]
    wanted = [float(pseudo[NAMES.index(name)]) for name in reversed(INDUCTION_HEAD)]
    assert result == pytest.approx(wanted)


def hand_made(sizes=(4, 5, 20), **probes):
    """Curves of one seed, three readings, in which only these probes matter."""
    values = np.zeros((1, 3, 3, len(Reading._fields)))
    for name, part in probes.items():
        values[0, :, :, Reading._fields.index(name)] = np.array(part).T
    return two_accounts.Curves(np.array([0, 10, 20]), values, sizes)


def test_arrivals_by_hand():
    some = hand_made(
        recall=[[0.2, 0.9, 1.0], [0.9, 0.3, 0.5], [0.1, 0.3, 0.4]],
        coefficient=[[0, 3, 6], [0, 2.9, 6], [0.5, 1, 1]],
        contrast=[[4, 2, 3], [-5, 4, 9], [0, 1, 2]],
        strength=[[0.6, 0.4, 0.3], [0.1, 0.5, 0.6], [0.6, 0.6, 0.6]],
    )
    expected = {
        ("recall", "half"): [10, 20, np.inf],
        # chance 1/20 plus three standard deviations is 0.196
        ("recall", "begun"): [10, np.inf, 10],
        ("coefficient", "half"): [np.inf, 10, 0],
        ("coefficient", "begun"): [20, 10, np.inf],
    }
    for reading, steps in expected.items():
        assert two_accounts.arrivals(some, *reading)[:, 0].tolist() == steps


def minimal(leaks=True):
    batch = tasks.gaussian_pairs(64, 3, 4, generator=torch.Generator().manual_seed(1))
    return two_accounts.minimal_problem(batch.inputs, batch.target, leaks=leaks)


def stream():
    draw = torch.Generator().manual_seed(2)
    tokens, targets = (torch.randint(5, (16, 7), generator=draw) for _ in range(2))
    frozen, _ = initial(5, 7, 6, 2, generator=draw)
    frozen = Frozen(*(part.double() for part in frozen))
    scored = torch.ones(16, 7, dtype=torch.bool)
    return two_accounts.stream_problem(frozen, task.Batch(tokens, targets, scored))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("problem", [minimal(), minimal(leaks=False), stream()])
def test_moments_are_the_beginning_of_the_flow(problem):
    result = two_accounts.small_time_moments([problem.linear], problem.zero)
    times = [0.001, 0.002]
    flown = two_accounts.flow(problem.loss, problem.zero, times)
    errors = np.array([
        [float((moment - other).norm() / other.norm())
         for moment, other in zip(result.at(time), weights, strict=True)]
        for time, weights in zip(times, flown, strict=True)
    ])  # fmt: skip
    assert (errors < 0.02).all()
    # the first term left out is smaller by one power of t
    assert (errors[1] / errors[0]).tolist() == pytest.approx([2, 2, 2], rel=0.2)


def test_problems_are_the_models():
    draw = torch.Generator().manual_seed(4)
    batch = tasks.gaussian_pairs(8, 2, 4, generator=draw)
    problem = two_accounts.minimal_problem(batch.inputs, batch.target)
    shapes = (part.shape for part in problem.zero)
    parts = Weights(*(torch.randn(each, generator=draw).double() for each in shapes))
    wanted = (disentangled_output(parts, batch.inputs) - batch.target).square().mean()
    assert float(problem.loss(parts)) == pytest.approx(float(wanted))
