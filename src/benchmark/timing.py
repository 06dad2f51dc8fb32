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
SLOW = 1.0  # seconds


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


def seconds(step: Step, device: torch.device, least: float, warm: bool = True) -> float:
    """The wall time of one call among calls that take at least so long, as in training.

    One more call before them, unless told otherwise, refills the caches.
    """
    if warm:
        step()
        synchronise(device)
    start, calls = time.perf_counter(), 0
    while not calls or time.perf_counter() - start < least:
        step()
        synchronise(device)
        calls += 1
    return (time.perf_counter() - start) / calls


def take_turns(
    steps: Mapping[Name, Step], device: torch.device, budget: float
) -> dict[Name, Float[np.ndarray, " repeats"]]:
    """Time each step in turn, round after round, so that a drift of the machine meets all alike.

    The number of rounds, at least three, is what `budget` seconds allow. In a round each step is
    repeated for as long as the slowest one takes, so that all meet the same stretch of the machine.
    A step that takes longer than SLOW fills the caches itself.
    """
    least = budget / (ROUNDS * len(steps))
    first = {name: seconds(step, device, least) for name, step in steps.items()}
    least = max(least, *first.values())

    def one_round() -> dict[Name, float]:
        return {
            name: seconds(step, device, least, warm=first[name] < SLOW)
            for name, step in steps.items()
        }

    start = time.perf_counter()
    rows = [one_round()]
    rounds = int(np.clip(budget / (time.perf_counter() - start), 2, MOST_REPEATS - 1))
    rows += [one_round() for _ in range(rounds)]
    return {name: np.array([row[name] for row in rows]) for name in steps}


def synchronise(device: torch.device) -> None:
    """Wait for a GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize()
