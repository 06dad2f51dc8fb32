"""The stored runs, data/companions/birth.json, and the order in which they learn their memories.

They take about an hour on one core.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from emergence.analysis import settled
from running.cache import plain
from running.records import StoredRuns

from .. import bigrams
from ..memories import entries, learnt
from . import cells

RUNS = StoredRuns(
    cells.measure, cells.CELLS, tables={"bigrams": ("data/shakespeare_bigrams.csv", bigrams.read)}
)


class Curves(NamedTuple):
    """Readings of the simplified transformer during training, as `RecallsAndFocus` takes them."""

    ov2: Float[np.ndarray, " probes"]
    kq2: Float[np.ndarray, " probes"]
    kq1: Float[np.ndarray, " probes"]
    kq1_early: Float[np.ndarray, " probes"]
    previous: Float[np.ndarray, " probes"]
    previous_top: Float[np.ndarray, " probes"]
    match: Float[np.ndarray, " probes"]
    match_top: Float[np.ndarray, " probes"]
    matched: Float[np.ndarray, " probes"]  # recall of W_KQ^2 by frequency


class BirthRun(NamedTuple):
    """A stored run; the generic transformer has no readings."""

    name: str
    seed: int
    settings: dict[str, Any]
    loss: Float[np.ndarray, " steps"]
    accuracy: Float[np.ndarray, " steps"]
    tested: dict[str, float]  # as `cells.accuracies` gives it
    probed: Int[np.ndarray, " probes"]
    curves: Curves
    maps: dict[str, Float[np.ndarray, "M M"]]


def read(text: str) -> list[BirthRun]:
    """The runs of a file; ValueError for other runs, and for other readings than are taken."""
    n_readings, found = len(Curves._fields), []
    for cell, entry in RUNS.read(text).items():
        readings = np.array(entry.get("readings", np.zeros((n_readings, 0))), dtype=float)
        if len(readings) != n_readings:
            raise ValueError(f"a run has {len(readings)} readings a step, expected {n_readings}")
        settings = {name: value for name, value in plain(cell.settings).items() if name}
        maps = {name: np.array(values) for name, values in entry.get("maps", {}).items()}
        found.append(
            BirthRun(
                cell.name,
                cell.seed,
                settings,
                np.array(entry["loss"]),
                np.array(entry["accuracy"]),
                entry["tested"],
                np.array(entry.get("probed", []), dtype=int),
                Curves(*readings),
                maps,
            )
        )
    return found


N_TOKENS = 65
LEVELS = np.arange(1, 10) / 10


class Order(NamedTuple):
    """How often runs follow OV2, KQ2, KQ1; of the cases that their length decides, NaN for none."""

    begun: float  # runs
    half: float  # runs
    levels: float  # runs and levels
    output_first: float  # runs and levels: OV2 before KQ2
    match_first: float  # runs and levels: KQ2 before KQ1


def _memories(run: BirthRun, by_use: bool) -> dict[str, tuple[Float[np.ndarray, " probes"], int]]:
    """Of each memory its recall at each probe, and M."""
    settings, read = run.settings, run.curves
    asking = N_TOKENS if settings["random_triggers"] else settings["n_triggers"]
    ov2, kq2, kq1, early = entries(N_TOKENS, asking, settings["length"])
    return {
        "ov2": (read.ov2, ov2),
        "kq2": (read.matched if by_use else read.kq2, kq2),
        "kq1": (read.kq1_early, early) if by_use else (read.kq1, kq1),
    }


def shares(run: BirthRun, *, by_use: bool = False) -> dict[str, Float[np.ndarray, " probes"]]:
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
    curves = shares(run, by_use=by_use).values()

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
    for k, (one, other) in enumerate(itertools.pairwise(times)):
        if one == other == np.inf:
            return None if all(time == np.inf for time in times[k:]) else False
        if not one < other:
            return False
    return True


def compare(runs: Sequence[BirthRun], *, by_use: bool = False) -> Order:
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
