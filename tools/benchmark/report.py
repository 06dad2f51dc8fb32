"""The measurements of one run as rows: what was timed, what it implies, or why it was not."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from emergence import analysis, theory
from emergence.training import Method
from running import devices

from . import peers
from .cases import Case, Section2, Section4, Step
from .footprint import peak
from .timing import measured, spread, take_turns

SECTION2 = (256, 1024, 2048)
SECTION4 = ((4, 16, 512), (16, 16, 512), (32, 16, 512), (16, 32, 256), (64, 64, 256))
PAIRS = (10, 10**3, 10**5, 10**6)
OVER_PAIRS = tuple(Section4(n, 16, 128) for n in (8, 16, 32, 64))
OVER_DIMENSIONS = tuple(Section4(16, d, 128) for d in (16, 32, 64, 128))
METHODS: tuple[Method, ...] = ("dense", "fast")
Row = dict[str, Any]


def operations(step: Step) -> int:
    """Operations of the matrix products of a step; a multiplication and an addition are two."""
    with FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


def steps(case: Case, machine: Mapping[str, Any], device: torch.device, budget: float) -> Row:
    """Dense against fast at one size, with the floor that the machine's rates imply.

    The floor is the fast step's products at the rate of a large product, plus its arrays once at
    the rate of a copy.
    """
    both = {method: case.step(method, device) for method in METHODS}
    counted = {method: operations(step) for method, step in both.items()}
    times = take_turns(both, budget)
    floor = counted["fast"] / machine["product_rate"] + case.array_bytes() / machine["copy_rate"]
    ratio = spread(times["dense"] / times["fast"])
    return {
        "case": case.name,
        "sizes": vars(case),
        **{method: spread(values)._asdict() for method, values in times.items()},
        "ratio": ratio._asdict(),
        "steady": bool(ratio.high < 2 * ratio.low),
        "operations": counted,
        "array_bytes": case.array_bytes(),
        "floor": floor,
        "over_floor": float(np.median(times["fast"])) / floor,
    }


def compared(
    cases: Sequence[Case], machine: Mapping[str, Any], device: torch.device, budget: float
) -> list[Row]:
    """Dense against fast at each size, and, when all is timed, the memory of both, two at once."""
    rows = [steps(case, machine, device, budget) for case in cases]
    both = [(case, method, device) for case in cases for method in METHODS]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda one: peak(*one), both)
        return [row | {"peak_bytes": {m: next(found) for m in METHODS}} for row in rows]


def sampling(case: Section4, device: torch.device, budget: float) -> Row:
    """Drawing the batch of a step, which both methods share."""
    stream = devices.generator(0, device)
    times = measured(lambda: case.sample(stream), budget).times
    return {"case": case.name, "sample": spread(times)._asdict()}


def emergence(n_pairs: int, budget: float) -> Row:
    """All emergence times of the reduced model at one N."""
    times = measured(lambda: theory.emergence_times(n_pairs), budget).times
    return {"n_pairs": n_pairs, "times": spread(times)._asdict()}


def scaling(cases: tuple[Section4, ...], over: str, device: torch.device, budget: float) -> Row:
    """Time of a step of §4 against one size, with the exponents of a fit."""
    rows = [take_turns({m: case.step(m, device) for m in METHODS}, budget) for case in cases]
    medians = {m: [float(np.median(times[m])) for times in rows] for m in METHODS}
    sizes = np.array([getattr(case, over) for case in cases])
    fits = {m: analysis.exponent(sizes, np.array(v))._asdict() for m, v in medians.items()}
    return {"over": over, "sizes": sizes.tolist(), "medians": medians, "exponents": fits}


def tried(device: torch.device, budget: float, quick: bool) -> list[Row]:
    """Other ways to compute the same, each against the way the book takes."""
    small, large = (
        (Section4(2, 4, 8), Section2(32)) if quick else (Section4(32, 16, 512), Section2(1024))
    )
    ways = {
        f"TransformerLens, {large.name}": partial(peers.transformer_lens, large, device),
        **{
            f"torch.compile, {method}, {small.name}": partial(
                peers.with_compiler, small, method, device
            )
            for method in METHODS
        },
        f"scaled_dot_product_attention, layer 1, {small.name}": partial(
            peers.attention_steps, small, device
        ),
    }
    return [_against(name, build, budget) for name, build in ways.items()]


def _against(name: str, build: Callable[[], dict[str, Step]], budget: float) -> Row:
    try:
        times = take_turns(build(), budget)
    except peers.NotMeasured as reason:
        return {"name": name, "not_measured": str(reason)}
    return {
        "name": name,
        **{side: spread(values)._asdict() for side, values in times.items()},
        "ratio": spread(times["theirs"] / times["ours"])._asdict(),
    }
