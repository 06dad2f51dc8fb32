"""Medians with their spread, of steps that take turns."""

import time
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float

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


def spread(values: Float[np.ndarray, " repeats"]) -> Spread:
    """Median and quartiles of the repeats."""
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Spread(float(median), float(low), float(high), len(values))


def seconds(step: Step, device: torch.device, least: float) -> float:
    """The wall time of one call among calls that take at least so long, as in training.

    One more call before them refills the caches.
    """
    step()
    _synchronise(device)
    start, calls = time.perf_counter(), 0
    while not calls or time.perf_counter() - start < least:
        step()
        _synchronise(device)
        calls += 1
    return (time.perf_counter() - start) / calls


def take_turns(
    steps: Mapping[Name, Step], device: torch.device, budget: float
) -> dict[Name, Float[np.ndarray, " repeats"]]:
    """Time each step in turn, round after round, so that a drift of the machine meets all alike.

    The number of rounds, at least three, is what `budget` seconds allow. In a round each step is
    repeated for as long as the slowest one takes, so that all meet the same stretch of the machine.
    """
    least = budget / (ROUNDS * len(steps))

    def one_round(least: float) -> dict[Name, float]:
        return {name: seconds(step, device, least) for name, step in steps.items()}

    least = max(least, *one_round(least).values())
    start = time.perf_counter()
    rows = [one_round(least)]
    rounds = int(np.clip(budget / (time.perf_counter() - start), 2, MOST_REPEATS - 1))
    rows += [one_round(least) for _ in range(rounds)]
    return {name: np.array([row[name] for row in rows]) for name in steps}


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()
