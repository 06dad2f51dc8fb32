"""Medians with their spread, of steps that take turns."""

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch.utils.benchmark import Measurement, Timer, timer

from .cases import Step

Name = TypeVar("Name", bound=str)

MOST_REPEATS = 41
ROUNDS = 10  # of quick steps


class Spread(NamedTuple):
    """Median and quartiles, in seconds or as a ratio."""

    median: float
    low: float
    high: float
    repeats: int


def spread(values: list[float] | Float[np.ndarray, " repeats"]) -> Spread:
    """Median and quartiles of the repeats."""
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Spread(float(median), float(low), float(high), len(values))


def measured(step: Step, least: float) -> Measurement:
    """The seconds of a call, among calls that take at least so long, as in training.

    One more call before them refills the caches.
    """
    threads = torch.get_num_threads()  # a Timer would take one
    clock = Timer("step()", globals={"step": step}, num_threads=threads)
    return clock.blocked_autorange(min_run_time=least)


def take_turns(
    steps: Mapping[Name, Step], budget: float
) -> dict[Name, Float[np.ndarray, " repeats"]]:
    """Time each step in turn, round after round, so that a drift of the machine meets all alike.

    The number of rounds, at least three, is what `budget` seconds allow. In a round each step is
    repeated for as long as the slowest one takes, so that all meet the same stretch of the machine.
    """
    least = budget / (ROUNDS * len(steps))
    least = max(least, *(measured(step, least).mean for step in steps.values()))
    end = timer() + budget
    rows: list[list[float]] = []
    while len(rows) < 3 or (timer() < end and len(rows) < MOST_REPEATS):
        rows.append([measured(step, least).mean for step in steps.values()])
    return dict(zip(steps, np.transpose(rows), strict=True))
