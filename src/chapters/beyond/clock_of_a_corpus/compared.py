"""Trainings that differ in the seed alone."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .reading import Run, text_in_words
from .stored import Cell


def by_setting(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs that differ in the seed alone, together."""
    settings: dict[Cell, list[Run]] = {}
    for run in runs:
        settings.setdefault(replace(run.cell, seed=0), []).append(run)
    return list(settings.values())


def spread(runs: Iterable[Run]) -> dict[str, float]:
    """By made-up text in which a head formed, the slowest of its seeds over the fastest."""
    spreads = {}
    for seeds in by_setting(run for run in runs if not run.natural):
        measured = [run.measured for run in seeds]
        if len(seeds) > 2 and np.isfinite(min(measured)):
            cell = seeds[0].cell
            name = f"{text_in_words(cell.text)}, C = {cell.context}, B = {cell.batch_size}"
            spreads[name] = max(measured) / min(measured)
    return spreads
