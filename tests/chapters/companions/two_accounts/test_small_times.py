"""The theorem of small times against integration of the flow."""

import numpy as np
import pytest
import torch

from chapters.companions.birth import task
from chapters.companions.birth.model import Frozen, initial
from chapters.companions.two_accounts import small_times
from emergence import tasks
from emergence.models import Weights, disentangled_output

pytestmark = pytest.mark.usefixtures("unchecked")


def minimal(leaks=True):
    draw = torch.Generator().manual_seed(1)
    batch = tasks.gaussian_pairs(64, 3, 4, generator=draw)
    return small_times.minimal(batch.inputs, batch.target, leaks=leaks)


def stream():
    draw = torch.Generator().manual_seed(2)
    tokens = torch.randint(5, (16, 7), generator=draw)
    batch = task.Batch(
        tokens, torch.randint(5, (16, 7), generator=draw), torch.ones(16, 7, dtype=torch.bool)
    )
    frozen, _ = initial(5, 7, 6, 2, generator=draw)
    return small_times.stream(Frozen(*(part.double() for part in frozen)), batch)


@pytest.mark.parametrize("problem", [minimal(), minimal(leaks=False), stream()])
def test_moments_are_the_beginning_of_the_flow(problem):
    result = small_times.moments([problem.linear], problem.zero)
    times = [0.001, 0.002]
    flown = small_times.flow(problem.loss, problem.zero, times)
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
    problem = small_times.minimal(batch.inputs, batch.target)
    shapes = (part.shape for part in problem.zero)
    parts = small_times.Parts(*(torch.randn(each, generator=draw).double() for each in shapes))
    wanted = (disentangled_output(Weights(*parts), batch.inputs) - batch.target).square().mean()
    assert float(problem.loss(parts)) == pytest.approx(float(wanted))
