"""The trainings on long natural texts, as far as they have been run, and what was predicted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from emergence import clock

from . import natural_heads, natural_predictions, reading
from .corpora import Text
from .counted import Count, restored
from .natural_heads import NATURAL, head_training
from .reading import Run
from .training import Kind, Training


class Judged(NamedTuple):
    """How right a law is about trainings."""

    rank: float  # correlation of ranks, over trainings with a head; nan where nothing can be ranked
    ratio: float  # median of measured over predicted steps, over the same; nan without a head
    right: int  # trainings of which it says rightly whether the budget is enough


class Outcomes:
    """All declared trainings, those that have been run, and the predictions.

    Attributes:
        steps: of each training that has been run, at which each measure passes its level.
        runs: those of them that learn the whole head from a natural text.
    """

    def __init__(self, folder: Path) -> None:
        """Read both files in `data`; ValueError where one is damaged or has other runs."""
        texts = (folder / f"natural_{name}.json" for name in ("predictions", "heads"))
        predictions, heads = (path.read_text(encoding="utf-8") for path in texts)
        self._predictions = natural_predictions.RUNS.read(predictions)
        entries = natural_heads.RUNS.entries(heads)
        self.steps = {entry.configuration: passed(entry.result) for entry in entries}
        self._highest = {
            each: max(result["prefix"]) / result["ceiling"] for each, *_, result in entries
        }
        self.runs = [self._run(each) for each in NATURAL if each in self.steps]

    def prediction(self, text: Text) -> dict[str, Any]:
        """What was predicted of a text, as `natural_predictions.predict` says it."""
        return dict(self._predictions[Count(text, natural_predictions.CONTEXT)])

    def tokens(self, text: Text, kind: Kind, measure: str = "prefix") -> str:
        """Millions of tokens to a head by a measure, one number for each seed."""
        numbers = []
        for seed in (0, 1, 2) if kind == "whole" else (0,):
            training = Training(head_training(text, seed).cell, kind)
            if training in self.steps:
                cell, steps = training.cell, self.steps[training][measure]
                size = cell.batch_size * cell.context
                numbers.append(in_millions(steps * size) if np.isfinite(steps) else "none")
        return ", ".join(numbers) or "not run"

    def late(self) -> dict[str, float]:
        """By natural text, the first seed's time to a head over that with the previous token given.

        Texts that form no head even then are left out; elsewhere the budget stands for never.
        """
        ratios = {}
        for text in natural_predictions.TEXTS[1:]:
            training = head_training(text)
            given = Training(training.cell, "knock-in")
            if {training, given} <= self.steps.keys():
                alone, steps = (self.steps[each]["prefix"] for each in (training, given))
                if np.isfinite(steps):
                    ratios[reading.text_in_words(text)] = min(alone, training.cell.steps) / steps
        return ratios

    def late_bounds(self) -> int:
        """How many of these ratios are bounds, because without the knock-in no head formed."""
        late = self.late()
        unformed = [run for run in self.runs if run.cell.seed == 0 and not run.formed]
        return sum(reading.text_in_words(run.cell.text) in late for run in unformed)

    def at_all_levels(self) -> tuple[int, int, int]:
        """Runs with a head at every level from .1 to .3 of the ceiling, at none, and at some."""
        highest = [self._highest[each] for each in NATURAL if each in self._highest]
        formed, never = (sum(peak >= 0.3 for peak in highest), sum(peak < 0.1 for peak in highest))
        return formed, never, len(highest) - formed - never

    def errors(self) -> dict[str, float]:
        """The factor by which each prediction of a time is wrong, over runs with a head.

        It is the exponential of the root mean square of the logarithm. `the other texts` predict
        the geometric mean of their own times, so that they know nothing of the text.
        """
        runs = [run for run in self.runs if run.formed]
        times, texts = np.log([run.measured for run in runs]), [run.cell.text for run in runs]
        said = {
            "the clock": np.log([run.predicted for run in runs]),
            "the published constant": np.log([published_steps(run) for run in runs]),
            "the other texts": [times[[each != text for each in texts]].mean() for text in texts],
        }
        return {
            name: float(np.exp(np.mean((times - logs) ** 2) ** 0.5)) for name, logs in said.items()
        }

    def laws(self, earlier: Sequence[Run]) -> dict[str, Judged]:
        """How right each law is, by its name; rivals get their constants from earlier pilots."""
        by_law = {
            "the clock": [run.predicted for run in self.runs],
            "the published constant": [published_steps(run) for run in self.runs],
        }
        for name, law in reading.RIVALS.items():
            by_law[name] = reading.by_law(law, [*earlier, *self.runs])[len(earlier) :]
        return {name: judged(steps, self.runs) for name, steps in by_law.items()}

    def _run(self, training: Training) -> Run:
        cell = training.cell
        counts = restored(self.prediction(training.text)["counts"])
        steps = clock.steps_to_head(counts, cell.batch_size, learning_rate=cell.learning_rate)
        return Run(cell, counts, steps, self.steps[training])


def passed(result: dict[str, Any]) -> dict[str, float]:
    """Steps at which each measure passes its level, the score as a share of its ceiling.

    `previous` is attention of layer 1 to the previous token, whose level is one half.
    """
    share = [score / result["ceiling"] for score in result["prefix"]]
    halfway = reading.first_crossing(result["steps"], np.array(result["previous"]), 0.5)
    return reading.passed(result | {"prefix": share}) | {"previous": halfway}


def published_steps(run: Run) -> float:
    size = run.cell.batch_size * run.cell.context
    return clock.published_tokens(size) / size


def judged(steps: Sequence[float], runs: Sequence[Run]) -> Judged:
    pairs = list(zip(steps, runs, strict=True))
    right = sum((at <= run.cell.steps) == run.formed for at, run in pairs)
    at_head = [(at, run.measured) for at, run in pairs if run.formed]
    if not at_head:
        return Judged(np.nan, np.nan, right)
    said, measured = map(np.array, zip(*at_head, strict=True))
    ranked = len(set(said)) > 1 and len(set(measured)) > 1
    rank = reading.rank_correlation(said, measured) if ranked else np.nan
    return Judged(rank, float(np.median(measured / said)), right)


def in_millions(tokens: float | None) -> str:
    """Tokens as a table shows them; never for None."""
    return "never" if tokens is None else f"{tokens / 1e6:.1f}"
