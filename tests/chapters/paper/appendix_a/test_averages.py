"""Finite averages in the place of all rotations, and descent on them that may be killed."""

import contextlib

import pytest
import torch

from chapters.paper.appendix_a import averages
from emergence.models import Weights
from emergence.running import cache
from emergence.subspace import project
from interruption import Interrupting, Killed, assert_resumes


def streams(count=2, first=0):
    return [torch.Generator().manual_seed(first + i) for i in range(count)]


def turned():
    return averages.orbit(*averages.gaussian(streams(), 2, 2, 4), averages.pauli_group(4))


def outside(data, start=None, steps=8, rate=0.25):
    start = averages.zero_weights(2, 4) if start is None else start
    return averages.descend_on_samples(start, data, steps, rate)


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


def test_averaged_gradients_of_structured_weights_alone_are_structured():
    for weights, inside in (
        (averages.structured_weights(streams(2, 10), 4), True),
        (averages.random_weights(streams(2, 10), 4, 0.3), False),
    ):
        outside = project(averages.mean_gradient(weights, *turned())[0])[1]
        assert (outside < 1e-12).all() if inside else (outside > 0.01).all()


def test_descent_from_zero_stays_inside():
    assert outside(turned(), steps=20).outside.max() < 1e-12


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
    with cache.attached(interrupting):
        for start in (zero, ones):
            for data in (
                turned(),
                averages.Fresh(tuple(streams()), 8, 2, 4),
                averages.Fresh(tuple(streams(first=5)), 8, 2, 4),
                averages.Fresh(tuple(streams()), 9, 2, 4),
            ):
                interrupting.states.clear()
                averages.descend_on_samples(start, data, 2, 1e-3)
    assert len(set(map(repr, interrupting.tasks))) == len(interrupting.tasks) == 8


def test_a_descent_that_diverges_is_an_error():
    with pytest.raises(ArithmeticError, match="the loss is not finite"):
        outside(turned(), steps=40, rate=1e9)
