"""The order in which the stored runs learn their memories."""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.analysis import settled

from .attention import learnt, memory_sizes
from .stored import BirthRun

N_TOKENS = 65
LEVELS = np.arange(1, 10) / 10


class MemoryOrder(NamedTuple):
    """How often runs follow OV2, KQ2, KQ1; of the cases that their length decides, NaN for none."""

    begun: float  # runs
    half: float  # runs
    levels: float  # runs and levels
    output_first: float  # runs and levels: OV2 before KQ2
    match_first: float  # runs and levels: KQ2 before KQ1


def _memories(run: BirthRun, by_use: bool) -> dict[str, tuple[Float[np.ndarray, " probes"], int]]:
    """Of each memory its recall at each probe, and M."""
    settings, read = run.settings, run.curves
    asking = N_TOKENS if settings.random_triggers else settings.n_triggers
    ov2, kq2, kq1, early = memory_sizes(N_TOKENS, asking, settings.length)
    return {
        "ov2": (read.ov2, ov2),
        "kq2": (read.matched if by_use else read.kq2, kq2),
        "kq1": (read.kq1_early, early) if by_use else (read.kq1, kq1),
    }


def learned_shares(
    run: BirthRun, *, by_use: bool = False
) -> dict[str, Float[np.ndarray, " probes"]]:
    """The share of each memory that is learned, beyond chance, at each probe.

    `by_use` weighs what is used more: tokens by frequency in W_KQ^2, and of the positions in
    W_KQ^1 only the first quarter.
    """
    return {name: learnt(curve, m) for name, (curve, m) in _memories(run, by_use).items()}


class Arrivals(NamedTuple):
    """Steps of OV2, KQ2, KQ1; infinity for never."""

    begun: tuple[float, ...]
    half: tuple[float, ...]
    levels: tuple[tuple[float, ...], ...]  # one row a level of LEVELS


def arrivals(run: BirthRun, *, by_use: bool = False) -> Arrivals:
    """The steps from which each memory of a run stays above chance, one half and each level."""
    counts = [m for _, m in _memories(run, by_use).values()]
    curves = learned_shares(run, by_use=by_use).values()

    def reached(levels: Sequence[float]) -> tuple[float, ...]:
        pairs = zip(curves, levels, strict=True)
        return tuple(float(settled(run.probed, curve[None], at)[0]) for curve, at in pairs)

    return Arrivals(
        # three standard deviations of the mean of M draws with probability 1/M, as a share
        reached([3 / m / (1 - 1 / m) ** 0.5 for m in counts]),
        reached([0.5] * 3),
        tuple(reached([float(level)] * 3) for level in LEVELS),
    )


def follows(times: Sequence[float]) -> bool | None:
    """Whether times rise strictly; None if they may yet: only later ones are infinite, two or more.

    A time that never came is later than one that came.
    """
    for k, (earlier, other) in enumerate(itertools.pairwise(times)):
        if earlier == other == np.inf:
            return None if all(time == np.inf for time in times[k:]) else False
        if not earlier < other:
            return False
    return True


def compare(runs: Sequence[BirthRun], *, by_use: bool = False) -> MemoryOrder:
    """The order of the three memories, over runs and over nine levels."""
    times_of_runs = [arrivals(run, by_use=by_use) for run in runs]
    levels = [times for each in times_of_runs for times in each.levels]
    return MemoryOrder(
        _share(each.begun for each in times_of_runs),
        _share(each.half for each in times_of_runs),
        _share(levels),
        _share(times[:2] for times in levels),
        _share(times[1:] for times in levels),
    )


def _share(cases: Iterable[Sequence[float]]) -> float:
    """How often times rise, of the cases that are decided."""
    decided = [follows_law for follows_law in map(follows, cases) if follows_law is not None]
    return float(np.mean(decided)) if decided else float("nan")
