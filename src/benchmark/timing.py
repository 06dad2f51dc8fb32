"""Medians with their spread, of steps that take turns."""

import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from benchmark.cases import Step

MOST_REPEATS = 41


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


def seconds(step: Step, device: torch.device) -> float:
    """The wall time of one call, after one that refills the caches, as in training."""
    step()
    _synchronise(device)
    start = time.perf_counter()
    step()
    _synchronise(device)
    return time.perf_counter() - start


def take_turns(
    steps: Mapping[str, Step], device: torch.device, budget: float
) -> dict[str, Float[np.ndarray, " repeats"]]:
    """Time each step in turn, round after round, so that a drift of the machine meets all alike.

    The number of rounds, at least three, is what `budget` seconds allow.
    """
    first = {name: seconds(step, device) for name, step in steps.items()}
    rounds = int(np.clip(budget / sum(first.values()), 2, MOST_REPEATS - 1))
    rows = [first] + [
        {name: seconds(step, device) for name, step in steps.items()} for _ in range(rounds)
    ]
    return {name: np.array([row[name] for row in rows]) for name in steps}


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()
