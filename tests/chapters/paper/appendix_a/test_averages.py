"""Theorem 1 without sampling error, by finite averages, and what leaves when an assumption goes."""

import contextlib

import pytest
import torch

from chapters.paper.appendix_a import averages
from emergence.models import Weights
from emergence.subspace import NAMES, project
from interruption import Interrupting, Killed, assert_resumes
from running import cache

IDLE = [NAMES.index(f"beta_{i}") for i in (3, 4, 5, 6)]


def streams(count=2, first=0):
    return [torch.Generator().manual_seed(first + i) for i in range(count)]


def turned(dim=4, count=2, group=None):
    inputs, target = averages.gaussian(streams(count), 2, 2, dim)
    return averages.orbit(inputs, target, group or averages.pauli_group(dim))


def outside(data, start=None, steps=8, rate=0.25):
    start = averages.zero_weights(2, 4) if start is None else start
    return averages.descend(start, data, steps, rate)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_paulis_average_to_a_multiple_of_the_identity(close, size):
    """With size^2 elements, the least number that can; one fewer does not."""
    elements = averages.real_paulis(size)
    assert len(elements) == size**2
    identity = torch.eye(size, dtype=torch.float64)
    assert (elements @ elements.mT == identity).all()
    matrix = torch.randn(size, size, generator=streams()[0], dtype=torch.float64)
    images = elements @ matrix @ elements.mT
    close(images.mean(dim=0), matrix.trace() / size * identity)
    if size > 1:
        assert (images[1:].mean(dim=0) - matrix.trace() / size * identity).abs().max() > 1e-3


@pytest.mark.parametrize("dim", [2, 4, 8])
def test_the_group_averages_as_propositions_1_to_3_say(close, dim):
    """The averages of E A E^T, F A F^T, E A F^T and F A E^T over the pairs."""
    group = averages.pauli_group(dim)
    assert len(group.e) == dim**4
    matrix = torch.randn(dim, dim, generator=streams()[0], dtype=torch.float64)
    identity = torch.eye(dim, dtype=torch.float64)
    swap = identity.roll(dim // 2, dims=0)
    contents = matrix.trace() / dim * identity
    positions = contents + (matrix @ swap).trace() / dim * swap
    for left, right, expected in (
        (group.e, group.e, contents),
        (group.f, group.f, positions),
        (group.e, group.f, 0 * identity),
        (group.f, group.e, 0 * identity),
    ):
        close((left @ matrix @ right.mT).mean(dim=0), expected)


@pytest.mark.parametrize("size", [0, 3, 6])
def test_sizes_that_have_no_such_group_raise(size):
    with pytest.raises(ValueError, match="powers of two"):
        averages.real_paulis(size)


@pytest.mark.parametrize("dim", [2, 4])
def test_averaged_gradient_is_structured(dim):
    weights = averages.structured_weights(streams(2, 10), dim)
    gradient, _ = averages.mean_gradient(weights, *turned(dim))
    pseudo, rest = project(gradient)
    assert rest.max() < 1e-12
    assert pseudo.stacked().abs().max() > 0.01


def test_averaged_gradient_of_unstructured_weights_is_not():
    gradient, _ = averages.mean_gradient(averages.random_weights(streams(2, 10), 4, 0.3), *turned())
    assert project(gradient)[1].min() > 0.01


def test_induction_over_steps():
    result = outside(turned(), steps=20)
    assert result.outside.max() < 1e-12
    assert (result.pseudo[-1, :, IDLE] == 0).all()
    awake = [i for i in range(19) if i not in IDLE]
    assert result.pseudo[-1][:, awake].abs().max(dim=0).values.min() > 1e-6
    assert (result.loss[-1] < result.loss[0]).all()


def test_a_query_with_a_position_stays_inside_and_wakes_the_idle_four():
    inputs, target = averages.gaussian(streams(), 2, 2, 4)
    inputs = averages.give_query_position(inputs, streams(1, 5)[0])
    result = outside(averages.orbit(inputs, target, averages.pauli_group(4)), steps=20)
    assert result.outside.max() < 1e-12
    assert result.pseudo[-1][:, IDLE].abs().min() > 1e-6


def stretched(part):
    inputs, target = turned()
    factors = torch.tensor([0.5, 0.8, 1.2, 1.5], dtype=torch.float64)
    return part(inputs, factors), target


@pytest.mark.parametrize("part", [averages.stretch_items, averages.stretch_positions])
def test_stretched_data_leave(part):
    assert outside(stretched(part)).outside[-1].min() > 1e-4


@pytest.mark.parametrize("part", [averages.stretch_items, averages.stretch_positions])
def test_stretching_by_one_changes_nothing(part):
    inputs, _ = turned()
    assert (part(inputs, torch.ones(4, dtype=torch.float64)) == inputs).all()


def test_stretched_positions_are_still_linked_by_m():
    """Sabotage: stretching label positions by the same factors would not be Eq. 3."""
    inputs, _ = stretched(averages.stretch_positions)
    items, labels = inputs[..., 0:-1:2, 4:], inputs[..., 1:-1:2, 4:]
    assert (labels == items.roll(2, dims=-1)).all()


def test_one_rotation_for_contents_and_positions_is_not_enough():
    group = averages.one_rotation(averages.pauli_group(4))
    assert len(group.e) == 16
    assert outside(turned(group=group)).outside[-1].min() > 0.01


def test_sampled_batches_leave():
    result = averages.descend(
        averages.zero_weights(2, 4), averages.Fresh(tuple(streams()), 64, 2, 4), 5, 0.25
    )
    assert result.outside[-1].min() > 0.01


def test_random_start_stays_outside():
    start = averages.random_weights(streams(2, 20), 4, 0.01)
    result = outside(turned(), start=start)
    ratio = result.outside[-1] / result.outside[0]
    assert ratio.min() > 0.3
    assert ratio.max() < 3


def test_independent_signs_are_enough():
    """Not isotropic, yet inside: invariance under a finite group is all that the proof uses."""
    inputs, target = averages.all_signs(2, 2)
    assert len(inputs) == 2 * 2**12
    result = averages.descend(averages.zero_weights(1, 2), (inputs[None], target[None]), 10, 0.5)
    assert result.outside.max() < 1e-12
    assert result.pseudo[-1, 0].norm() > 0.1


def sampled():
    return averages.Fresh(tuple(streams()), 8, 2, 4)


@pytest.mark.parametrize("kill_after", [1, 7])
@pytest.mark.parametrize("data", [turned, sampled])
def test_a_killed_descent_ends_in_the_same_bits(data, kill_after):
    assert_resumes(lambda: outside(data()), kill_after)


def test_a_killed_descent_leaves_the_streams_where_they_would_be():
    left = []
    for kill_after in (0, 3):
        with cache.attached(Interrupting(kill_after)):
            for _ in range(2):
                data = sampled()
                with contextlib.suppress(Killed):
                    outside(data)
        left.append([stream.get_state() for stream in data.streams])
    assert all(map(torch.equal, *left))


def test_a_descent_is_known_by_its_data_and_start():
    interrupting = Interrupting(0)
    zero = averages.zero_weights(2, 4)
    ones = Weights(*(torch.ones_like(w) for w in zero))
    one_rotation = averages.one_rotation(averages.pauli_group(4))
    with cache.attached(interrupting):
        for start in (zero, ones):
            for data in (
                turned(),
                turned(group=one_rotation),
                averages.Fresh(tuple(streams()), 8, 2, 4),
                averages.Fresh(tuple(streams(first=5)), 8, 2, 4),
                averages.Fresh(tuple(streams()), 9, 2, 4),
            ):
                interrupting.states.clear()
                averages.descend(start, data, 2, 1e-3)
    assert len(set(map(repr, interrupting.tasks))) == len(interrupting.tasks) == 10


def test_a_descent_that_diverges_is_an_error():
    with pytest.raises(ArithmeticError, match="the loss is not finite"):
        outside(turned(), steps=40, rate=1e9)
