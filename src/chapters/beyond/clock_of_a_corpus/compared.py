"""Trainings that differ in one thing: the seed or the learning rate."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .reading import Run, text_in_words
from .stored import BUDGET, SMALLER_RATES, Cell


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


def smaller_rates(runs: Iterable[Run]) -> dict[str, tuple[Run, Run]]:
    """By text, the training at the rate of the others and the one at a smaller rate."""
    by_cell = {run.cell: run for run in runs}
    return {
        text_in_words(cell.text): (by_cell[usual], by_cell[cell])
        for cell in SMALLER_RATES
        if cell in by_cell
        and (usual := replace(cell, budget=BUDGET, learning_rate=Cell.learning_rate)) in by_cell
    }
