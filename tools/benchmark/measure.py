"""What one run measures: the machine's rates, and dense against fast at each size, in rows."""

import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch.utils.benchmark import Measurement, Timer, timer
from torch.utils.flop_counter import FlopCounterMode

from bookbuild.results.machine import machine_name
from emergence import analysis, theory
from emergence.training import Method

from .cases import Case, Section4, Step
from .footprint import peak

Name = TypeVar("Name", bound=str)
Row = dict[str, Any]

METHODS: tuple[Method, ...] = ("dense", "fast")
MOST_REPEATS = 41
ROUNDS = 10  # of quick steps


class Spread(NamedTuple):
    """Median and quartiles, in seconds or as a ratio."""

    median: float
    low: float
    high: float
    repeats: int


def spread(values: Sequence[float] | Float[np.ndarray, " repeats"]) -> Spread:
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


def describe_machine(budget: float, *, size: int, count: int) -> Row:
    """Name, threads and versions of this machine, and its rates in operations and bytes a second.

    The rates are those of a square product of this size, in which a multiplication and an addition
    are two operations, and of a copy of so many numbers, which are read and written.
    """
    left, right, out = (torch.randn(size, size) for _ in range(3))
    source, copy = torch.zeros(count), torch.zeros(count)
    product = measured(lambda: torch.mm(left, right, out=out), budget).median
    return {
        "device": "cpu",
        "name": machine_name(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "product_rate": 2 * size**3 / product,
        "copy_rate": 2 * 4 * count / measured(lambda: copy.copy_(source), budget).median,
    }


def operations(step: Step) -> int:
    """Operations of the matrix products of a step; a multiplication and an addition are two."""
    with FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


def compared(cases: Sequence[Case], machine: Mapping[str, Any], budget: float) -> list[Row]:
    """Dense against fast at each size, and, when all is timed, the memory of both, two at once."""
    rows = [_turns(case, machine, budget) for case in cases]
    both = [(case, method) for case in cases for method in METHODS]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda one: peak(*one), both)
        return [row | {"peak_bytes": {m: next(found) for m in METHODS}} for row in rows]


def _turns(case: Case, machine: Mapping[str, Any], budget: float) -> Row:
    """Dense against fast at one size, with the floor that the machine's rates imply.

    The floor is the fast step's products at the rate of a large product, plus its arrays once at
    the rate of a copy.
    """
    both = {method: case.step(method) for method in METHODS}
    counted = {method: operations(step) for method, step in both.items()}
    times = take_turns(both, budget)
    floor = counted["fast"] / machine["product_rate"] + case.array_bytes() / machine["copy_rate"]
    return {
        "case": case.name,
        "sizes": vars(case),
        **{method: spread(values)._asdict() for method, values in times.items()},
        "ratio": spread(times["dense"] / times["fast"])._asdict(),
        "operations": counted,
        "floor": floor,
        "over_floor": float(np.median(times["fast"])) / floor,
    }


def emergence(n_pairs: int, budget: float) -> Row:
    """All emergence times of the reduced model at one N."""
    times = measured(lambda: theory.emergence_times(n_pairs), budget).times
    return {"n_pairs": n_pairs, "times": spread(times)._asdict()}


def scaling(cases: Sequence[Section4], over: str, budget: float) -> Row:
    """Time of a step of §4 against one size, with the exponents of a fit."""
    rows = [take_turns({m: case.step(m) for m in METHODS}, budget) for case in cases]
    medians = {m: [float(np.median(times[m])) for times in rows] for m in METHODS}
    sizes = np.array([getattr(case, over) for case in cases])
    fits = {m: analysis.exponent(sizes, np.array(v))._asdict() for m, v in medians.items()}
    return {"over": over, "sizes": sizes.tolist(), "medians": medians, "exponents": fits}
