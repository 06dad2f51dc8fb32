"""The stored trainings, compared with the predictions of the clock and of rival laws."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

from emergence import clock
from emergence.clock import Pulls

from . import counted, stored
from .corpora import SOURCES, Natural, Synthetic, Text
from .counted import Count, restored
from .stored import CELLS, PILOTS
from .training import LEVEL, Cell

SAVED = 0.5  # nats that the head has to save, by loss or by ablation, to be there
MEASURES = "prefix", "halves", "ablation"
Law = Callable[[Cell, Pulls], float]


class Run(NamedTuple):
    """A stored training and what was said of it."""

    cell: Cell  # its configuration
    pulls: Pulls  # the counts of its text
    predicted: float  # steps by the clock, infinite for never
    # at which each measure passes its level, infinite for a run that ended before
    steps: dict[str, float]

    @property
    def measured(self) -> float:
        """Steps until the prefix score is at its level."""
        return self.steps["prefix"]

    @property
    def formed(self) -> bool:
        """Whether a head was there within the budget."""
        return bool(np.isfinite(self.measured))

    @property
    def pilot(self) -> bool:
        """Whether the clock's constant was read from it, or from another seed of it."""
        return replace(self.cell, seed=0) in PILOTS


class StoredCells:
    """The stored cells.

    Attributes:
        runs: one per cell that has been run, in the order of the declaration.
        not_run: the declared cells that are not stored, in words.
        minutes: of one core that all runs took.
    """

    def __init__(self, folder: Path) -> None:
        """Read both files in `data`; ValueError where one is damaged or has other runs."""
        counts = counted.RUNS.read((folder / "clock_counts.json").read_text(encoding="utf-8"))
        self.counts = {question: restored(values) for question, values in counts.items()}
        text = (folder / "clock_of_a_corpus.json").read_text(encoding="utf-8")
        entries = stored.RUNS.entries(text)
        results = {entry.configuration: entry.result for entry in entries}
        self.runs = [self._run(c, results[c]) for c in CELLS if c in results]
        self.not_run = [cell_in_words(cell) for cell in CELLS if cell not in results]
        self.minutes = sum(entry.seconds or 0.0 for entry in entries) / 60

    def _run(self, cell: Cell, result: dict[str, Any]) -> Run:
        pulls = self.counts[Count(cell.text, cell.context)]
        predicted = clock.steps_to_head(pulls, cell.batch_size, learning_rate=cell.learning_rate)
        return Run(cell, pulls, predicted, passed(result))


def passed(result: dict[str, Any]) -> dict[str, float]:
    """Steps at which each measure of a run passes its level."""
    first, second, repeated, other, without, without_other = (
        np.array(result[name])
        for name in (
            "first", "second", "repeated", "other", "ablated_repeated", "ablated_other",
        )
    )  # fmt: skip
    curves = {
        "prefix": (np.array(result["prefix"]), LEVEL),
        "halves": (first - second, SAVED),
        "ablation": (without - repeated - (without_other - other), SAVED),
    }
    return {name: first_crossing(result["steps"], *curves[name]) for name in MEASURES}


def first_crossing(steps: Sequence[int], curve: Float[np.ndarray, " steps"], level: float) -> float:
    """Where a curve first passes a level, on a line between two looks; infinity for never."""
    above = np.flatnonzero(curve >= level)
    if not len(above):
        return np.inf
    after = int(above[0])
    if after == 0:
        return float(steps[0])
    part = (level - curve[after - 1]) / (curve[after] - curve[after - 1])
    return float(steps[after - 1] + part * (steps[after] - steps[after - 1]))


def by_setting(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs that differ in the seed alone, together."""
    settings: dict[Cell, list[Run]] = {}
    for run in runs:
        settings.setdefault(replace(run.cell, seed=0), []).append(run)
    return list(settings.values())


def rank_correlation(one: Iterable[float], other: Iterable[float]) -> float:
    """Spearman's correlation."""
    return float(np.corrcoef(rankdata(list(one)), rankdata(list(other)))[0, 1])


def told_apart(formed: Sequence[float], not_formed: Sequence[float]) -> float:
    """The share of pairs of which the one that formed was predicted earlier; ties count half."""
    early, late = np.array(formed)[:, None], np.array(not_formed)[None, :]
    return float(((early < late) + 0.5 * (early == late)).mean())


def batch_and_context(cell: Cell, _: Pulls) -> float:
    """Aoyama and others: tokens in proportion to the root of B C."""
    return float((cell.batch_size * cell.context) ** -0.5)


def steps_against_share(cell: Cell, pulls: Pulls) -> float:
    """Zucchet and others: steps fall with the share of the places that hold the answer."""
    return 1 / pulls.answers


def frontier(cell: Cell, pulls: Pulls) -> float:
    """Aoyama and others: the same, by frequency and reliability of bigrams that return."""
    return batch_and_context(cell, pulls) / (pulls.frequency * pulls.reliability)


RIVALS: dict[str, Law] = {
    "batch and context": batch_and_context,
    "repetition": steps_against_share,
    "frequency and reliability": frontier,
}


def by_law(law: Law, runs: Sequence[Run]) -> list[float]:
    """Steps that a rival law predicts, with a constant that is the median over the pilots."""
    pilots = [run for run in runs if run.cell in PILOTS and run.formed]
    constant = float(np.median([run.measured / law(run.cell, run.pulls) for run in pilots]))
    return [constant * law(run.cell, run.pulls) for run in runs]


def cell_in_words(cell: Cell) -> str:
    seed = f", seed {cell.seed}" if cell.seed else ""
    return f"{text_in_words(cell.text)}, C = {cell.context}, B = {cell.batch_size}{seed}"


def text_in_words(text: Text) -> str:
    if isinstance(text, Natural):
        unit = "bytes" if text.vocabulary == 256 else f"{text.vocabulary} pieces"
        return f"{SOURCES[text.name].title}, {unit}"
    if isinstance(text, Synthetic):
        return f"V = {text.vocabulary}, f = {text.repeats}, r = {text.reliability}"
    return f"a {text.kind} of {text.vocabulary} tokens"
