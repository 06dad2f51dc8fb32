"""Times of stored runs: a training's first steps stand for all of them."""

import time
from types import SimpleNamespace

import pytest

from running import loop
from running.cache import Task
from tools.records.timing import Shortened, estimated

TASK = Task("here", "descent", {})


def spin(seconds: float) -> None:
    """Keep a core busy."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def trained(steps: int) -> int:
    """Train for so many steps of five milliseconds; fail where not all of them were made."""
    made = [spin(0.005) for _ in loop.steps(TASK, steps, "descent")]
    if len(made) < steps:
        raise ValueError("too few")
    return steps


def run(steps: int) -> SimpleNamespace:
    entry = SimpleNamespace(configuration=steps, result=None)
    return SimpleNamespace(file="data/long.json", entry=entry, function=trained)


def test_a_long_run_is_estimated_and_a_short_one_timed_whole() -> None:
    taken, said = estimated(run(200), 0.05)
    assert taken == pytest.approx(1.0, rel=0.3)
    assert said == "from the first steps, ended by ValueError"
    taken, said = estimated(run(4), 0.5)
    assert taken == pytest.approx(0.02, abs=0.02)
    assert said == "whole"
    assert list(loop.steps(TASK, 3, "descent")) == [0, 1, 2]  # put back in its place


def test_a_training_that_ended_early_counts_the_steps_that_it_took() -> None:
    assert list(Shortened(1.0, 4)(TASK, 10, "descent")) == [0, 1, 2, 3]
    shortened = Shortened(0.0, 100)
    for _ in shortened(TASK, 10_000, "descent"):
        spin(0.005)
    assert shortened.cut
    assert shortened.saved == pytest.approx(0.485, rel=0.3)  # of 97 steps that were not made
