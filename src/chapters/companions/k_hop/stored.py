"""Stored trainings: their arrays by configuration, and times of which some may be censored."""

from typing import Any

import numpy as np

from running.records import StoredRuns

from . import phases


def run(cell: phases.Cell) -> dict[str, Any]:
    """What is stored of a cell of the phase diagram: right answers by run, time and hops."""
    record = phases.measure(cell)
    return {"moments": record.moments.tolist(), "right": record.right.tolist()}


RUNS = StoredRuns(run, phases.CELLS)


def read(runs: StoredRuns, made: Any, text: str) -> dict[Any, Any]:
    """What was measured of each configuration of a file, as the named tuple `made`.

    Raises ValueError for a file of other runs.
    """
    names = made._fields[1:]
    return {
        cell: made(cell, *(np.array(arrays[name]) for name in names))
        for cell, arrays in runs.read(text).items()
    }


def median_wait(measured: Any) -> float:
    """The median of the `waits` of runs, in steps; a censored one counts as its limit."""
    return float(np.median(np.minimum(measured.waits, measured.moments[-1])))


def in_words(measured: Any) -> str:
    """The `waits` of all runs as text, such as 75, 100, > 2000."""
    limit = measured.moments[-1]
    return ", ".join(f"{w:.0f}" if np.isfinite(w) else f"> {limit}" for w in measured.waits)
