"""In which order stored runs learn their memories: shares learnt, arrivals, pairs."""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.analysis.curves import settled

from ..memories import entries, learnt
from .record import Run

N_TOKENS = 65
LEVELS = np.arange(1, 10) / 10


class Order(NamedTuple):
    """How often runs follow OV2, KQ2, KQ1; of the cases that their length decides, NaN for none."""

    begun: float  # runs
    half: float  # runs
    levels: float  # runs and levels
    output_first: float  # runs and levels: OV2 before KQ2
    match_first: float  # runs and levels: KQ2 before KQ1


def _counts(run: Run, by_use: bool) -> dict[str, int]:
    """M of each memory of a run."""
    settings = run.settings
    asking = N_TOKENS if settings["random_triggers"] else settings["n_triggers"]
    m = entries(N_TOKENS, asking, settings["length"])
    return {
        "ov2": int(m.ov2),
        "kq2": int(m.kq2),
        "kq1": int(m.kq1_early if by_use else m.kq1),
    }


def shares(run: Run, *, by_use: bool = False) -> dict[str, Float[np.ndarray, " probes"]]:
    """The share learnt of each memory, beyond chance, at each probe.

    `by_use` weighs what is used more: tokens by frequency in W_KQ^2, and of the positions in
    W_KQ^1 only the first quarter.
    """
    m, read = _counts(run, by_use), run.curves
    return {
        "ov2": learnt(read.ov2, m["ov2"]),
        "kq2": learnt(read.matched if by_use else read.kq2, m["kq2"]),
        "kq1": learnt(read.kq1_early if by_use else read.kq1, m["kq1"]),
    }


class Arrivals(NamedTuple):
    """Steps of OV2, KQ2, KQ1; infinity for never."""

    begun: tuple[float, ...]
    half: tuple[float, ...]
    levels: tuple[tuple[float, ...], ...]  # one row a level of LEVELS


def arrivals(run: Run, *, by_use: bool = False) -> Arrivals:
    """From which step on each memory of a run stays above chance, half learnt, at each level."""
    m, of = _counts(run, by_use), shares(run, by_use=by_use)
    # three standard deviations of the mean of M draws with probability 1/M, as a share
    chance = {name: 3 / count / (1 - 1 / count) ** 0.5 for name, count in m.items()}

    def reached(levels: dict[str, float]) -> tuple[float, ...]:
        return tuple(
            float(settled(run.probed, curve[None], levels[name])[0]) for name, curve in of.items()
        )

    return Arrivals(
        reached(chance),
        reached(dict.fromkeys(of, 0.5)),
        tuple(reached(dict.fromkeys(of, float(level))) for level in LEVELS),
    )


def follows(times: Sequence[float]) -> bool | None:
    """Whether times rise strictly; None if they may yet: only later ones are infinite, two or more.

    A time that never came is later than one that came.
    """
    for k, (one, other) in enumerate(itertools.pairwise(times)):
        if one == other == np.inf:
            return None if all(time == np.inf for time in times[k:]) else False
        if not one < other:
            return False
    return True


def compare(runs: Sequence[Run], *, by_use: bool = False) -> Order:
    """The order of the three memories, over runs and over nine levels."""
    found = [arrivals(run, by_use=by_use) for run in runs]
    levels = [times for each in found for times in each.levels]
    return Order(
        _share(each.begun for each in found),
        _share(each.half for each in found),
        _share(levels),
        _share(times[:2] for times in levels),
        _share(times[1:] for times in levels),
    )


def _share(cases: Iterable[Sequence[float]]) -> float:
    """How often times rise, of the cases that are decided."""
    decided = [found for found in map(follows, cases) if found is not None]
    return float(np.mean(decided)) if decided else float("nan")
