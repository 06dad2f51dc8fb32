"""What a step of a training asks for, counted by hand, and where its loop is left."""

import pytest
import torch

from running import loop
from running.cache import Task
from tools.benchmark import trainings
from tools.benchmark.operations import Operation, Operations

CPU = torch.device("cpu")
MACHINE = {
    "half_product_rate": 2e9, "product_rate": 1e9, "double_product_rate": 0.5e9,
    "copy_rate": 1e6, "cached_rate": 1e7, "call": 1e-6,
}  # fmt: skip


def test_each_array_of_an_operation_is_counted_once():
    left, right = torch.ones(4, 5), torch.ones(5, 6)
    with Operations() as counted:
        product = left @ right
        product.T.view(6, 4)  # nothing is computed
        product += product
        torch.ones(()).expand(4, 6) + product.double()
    assert counted.seen == [
        Operation(2 * 4 * 5 * 6, 4 * (20 + 30 + 24), 4),
        Operation(0, 4 * 24 * 2, 0),
        Operation(0, 4, 0),
        Operation(0, (4 + 8) * 24, 0),
        Operation(0, 4 + (8 + 8) * 24, 0),
    ]


@pytest.mark.parametrize(
    ("operation", "seconds"),
    [
        (Operation(10**6, 10, 4), 1e-3),
        (Operation(10**6, 10, 8), 2e-3),
        (Operation(10**6, 10, 2), 5e-4),
        (Operation(0, 10**5, 0), 1e-2),  # from the cache
        (Operation(0, 10**6, 0), 1.0),
        (Operation(1, 1, 4), 1e-6),
    ],
)
def test_the_floor_is_the_longest_of_product_arrays_and_call(operation, seconds):
    assert operation.least(MACHINE) == pytest.approx(seconds)


def left_after(steps, period, budget):
    """A training that records every other step: what is said of it, and its steps taken."""
    taken = []

    def train(device):
        part = torch.ones(3, 3, device=device)
        for step in loop.steps(Task("here", "train", {}), steps, "test", part=part):
            taken.append(step)
            for _ in range(2 if step % 2 else 1):
                torch.mm(part, part)

    found = trainings.row("it", period, train, MACHINE, CPU, budget)
    return found, taken


def test_a_step_is_the_mean_of_whole_periods():
    found, taken = left_after(10**6, 2, 0.0)
    assert found["calls"] == 1.5
    assert found["operations"] == 1.5 * 2 * 27
    assert found["bytes"] == 1.5 * 2 * 36  # the one array read, and the product
    assert found["floor"] == pytest.approx(1.5 * 2 * 36 / MACHINE["cached_rate"])
    assert found["over_floor"] == pytest.approx(found["step"]["median"] / found["floor"])
    assert found["step"]["repeats"] == trainings.ROUNDS
    # timed once, counted in rounds, timed in rounds; each time from the start
    rounds = 2 * trainings.ROUNDS
    seen = [trainings.FIRST + count for count in (2, rounds, rounds)]
    assert taken == [step for count in seen for step in range(count)]


def test_what_all_operations_of_a_name_lose_is_added():
    seen = [
        Operation(0, 10**6, 0, name, seconds)
        for name, seconds in [("exp", 1.5), ("mul", 1.7), ("exp", 1.5), ("add", 1.1), ("sub", 1.0)]
    ]
    found = dict(trainings.most_lost(seen, MACHINE))
    assert list(found) == ["exp", "mul", "add"]
    assert found == pytest.approx({"exp": 1.0, "mul": 0.7, "add": 0.1})


def test_what_an_operation_took_is_kept():
    with Operations() as counted:
        torch.ones(4).exp()
    assert [one.name for one in counted.seen] == ["ones", "exp"]
    assert min(one.seconds for one in counted.seen) > 0


def test_only_whole_periods_are_counted():
    counted = Operations()
    for size in range(1, 6):
        with counted:
            torch.ones(size).exp()
    seen, times = counted.whole(2)
    assert times == 4
    assert [one.bytes for one in seen] == [4, 8, 8, 16, 12, 24, 16, 32]


def test_a_short_training_is_seen_to_its_end():
    found, _ = left_after(trainings.FIRST + 5, 2, 1.0)
    assert found["step"]["repeats"] == 2


def test_the_loop_is_as_before():
    before = loop.steps
    left_after(10, 1, 0.0)
    assert loop.steps is before
