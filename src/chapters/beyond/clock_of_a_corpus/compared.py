"""Trainings that differ in one thing: seed, batch, vocabulary, rate or optimiser."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from emergence.clock import Pulls
from running.devices import generator

from . import counted, sgd
from .counted import Count, restored
from .network import CorpusTransformer
from .reading import Run, passed, text_in_words
from .sgd import Descent
from .stored import BUDGET, SMALLER_RATES, TWINS, Cell, read
from .training import DIM, NORM, windows


class Descended(NamedTuple):
    """A stored training by gradient descent and what was said of it.

    Attributes:
        cell: its configuration.
        pulls: the counts of its text.
        predicted: steps by the clock.
        measured: steps until the prefix score is at its level, infinite for never.
    """

    cell: Descent
    pulls: Pulls
    predicted: float
    measured: float

    @property
    def formed(self) -> bool:
        """Whether a head was there within the budget."""
        return bool(np.isfinite(self.measured))

    @property
    def pilot(self) -> bool:
        """Whether its text, context and batch are those from which the constant was read."""
        size = self.cell.text, self.cell.context, self.cell.batch_size
        return size in {(p.text, p.context, p.batch_size) for p in sgd.PILOTS}


Either = TypeVar("Either", Run, Descended)


def descents(folder: Path) -> tuple[list[Descended], list[str], float]:
    """The stored trainings, those that are declared and not stored in words, and the minutes."""
    counts = counted.RUNS.read((folder / "clock_counts.json").read_text(encoding="utf-8"))
    entries = sgd.RUNS.entries((folder / "clock_sgd.json").read_text(encoding="utf-8"))
    results = {entry.configuration: entry.result for entry in entries}
    runs = []
    for cell in (cell for cell in sgd.CELLS if cell in results):
        pulls = restored(counts[Count(cell.text, cell.context)])
        predicted = sgd.steps_to_head(pulls, cell.learning_rate)
        runs.append(Descended(cell, pulls, predicted, passed(results[cell])["prefix"]))
    lacking = [in_words(cell) for cell in sgd.CELLS if cell not in results]
    return runs, lacking, sum(entry.seconds or 0.0 for entry in entries) / 60


def in_words(cell: Descent) -> str:
    """A training by gradient descent as the page names it."""
    size = f"C = {cell.context}, B = {cell.batch_size}"
    seed = f", seed {cell.seed}" if cell.seed else ""
    return f"{text_in_words(cell.text)}, {size}, gradient descent at {cell.learning_rate}{seed}"


def by_setting(runs: Iterable[Either]) -> list[list[Either]]:
    """Runs that differ in the seed alone, together."""
    found: dict[Cell | Descent, list[Either]] = {}
    for run in runs:
        found.setdefault(replace(run.cell, seed=0), []).append(run)
    return list(found.values())


def spread(runs: Iterable[Run]) -> dict[str, float]:
    """By made-up text in which a head formed, the slowest of its seeds over the fastest."""
    found = {}
    for seeds in by_setting(run for run in runs if not run.natural):
        measured = [run.measured for run in seeds]
        if len(seeds) > 2 and np.isfinite(min(measured)):
            cell = seeds[0].cell
            name = f"{text_in_words(cell.text)}, C = {cell.context}, B = {cell.batch_size}"
            found[name] = max(measured) / min(measured)
    return found


def power(measured: Mapping[int, Sequence[float]]) -> float:
    """The power of a size in the steps, between its least and its largest value.

    It is infinite where a seed has no head at one of them.

    Args:
        measured: by size, the steps of each seed.
    """
    first, last = min(measured), max(measured)
    steps = [np.mean(np.log(measured[size])) for size in (first, last)]
    if not np.isfinite(steps).all():
        return np.inf
    return float((steps[1] - steps[0]) / np.log(last / first))


def by_batch(
    runs: Iterable[Either],
    cells: Collection[Cell | Descent] = (*sgd.BATCHES, *TWINS[:3]),
    *,
    predicted: bool = False,
) -> dict[int, list[float]]:
    """The steps of each seed by batch, for cells that differ in nothing else."""
    chosen = [run for run in runs if replace(run.cell, seed=0) in cells]
    return {
        same[0].cell.batch_size: [run.predicted if predicted else run.measured for run in same]
        for same in by_setting(chosen)
    }


def by_vocabulary(runs: Iterable[Either]) -> dict[int, list[float]]:
    """The same by vocabulary."""
    cells = {*sgd.VOCABULARIES, TWINS[1], TWINS[3]}
    chosen = [run for run in runs if replace(run.cell, seed=0) in cells]
    return {s[0].cell.text.vocabulary: [run.measured for run in s] for s in by_setting(chosen)}


def smaller_rates(runs: Iterable[Run]) -> dict[str, tuple[Run, Run]]:
    """By text, the training at the rate of the others and the one at a smaller rate."""
    known = {run.cell: run for run in runs}
    return {
        text_in_words(cell.text): (known[usual], known[cell])
        for cell in SMALLER_RATES
        if cell in known
        and (usual := replace(cell, budget=BUDGET, learning_rate=Cell.learning_rate)) in known
    }


def copying_speed(cell: Descent, windows_of_a_step: int, step: float = 1e-4) -> float:
    """How fast the copying of an untrained network grows at a learning rate of one.

    Copying is by how much the logit of a token that layer 2 attends to rises above all others, and
    the speed is what a small step of gradient descent adds to it, per rate.
    """
    stream = generator(cell.seed, torch.device("cpu"))
    text = torch.as_tensor(read(cell.text))
    model = CorpusTransformer(DIM, cell.text.vocabulary, cell.context, norm=NORM, generator=stream)
    batch = windows(text, windows_of_a_step, cell.context, stream)
    cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten()).backward()
    before = _copying(model)
    torch.optim.SGD(model.parameters(), lr=step).step()
    return (_copying(model) - before) / step


@torch.no_grad()
def _copying(model: CorpusTransformer) -> float:
    copies = model.copies().double()
    return float(copies.diag().mean() - copies.mean())
