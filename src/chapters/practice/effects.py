"""The effects of the experiment: by what factor a change of a training saves steps or tokens."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats

from emergence import analysis

from .model import Shape
from .queries import Cell
from .stored import RUNS, at_equal_tokens
from .trained import SHARES, TESTS

Unit = Literal["steps", "tokens", "queries"]
LEAST = 8  # pairs from which on exponents are fitted
CHANGES: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {  # of a control, and into what
    "N queries": ({"kind": "one"}, {"kind": "full", "contexts": 32}),
    "N queries of prefixes": ({"kind": "random"}, {"kind": "every", "contexts": 32}),
    "prefixes": ({"kind": "full"}, {"kind": "every"}),
    "prefixes, one query": ({"kind": "one"}, {"kind": "random"}),
    "prefixes, drawn alike": ({"kind": "full redrawn"}, {"kind": "random redrawn"}),
    "one prefix a context": ({"kind": "full"}, {"kind": "prefix"}),
    "the longer prefixes": ({"kind": "full"}, {"kind": "upper"}),
    "prefixes without their last pair": ({"kind": "full"}, {"kind": "not last"}),
    "prefixes at one place": ({"kind": "full"}, {"kind": "end"}),
    "weights 1/n": ({"kind": "every"}, {"kind": "inverse"}),
    "lengths as 1/n": ({"kind": "random redrawn"}, {"kind": "short"}),
    "repeats anywhere": ({"kind": "repeats last"}, {"kind": "repeats mixed"}),
    "free place": ({"place": "tied"}, {"place": "free"}),
    "both parities": ({"place": "by 2"}, {"place": "by 1"}),
}


class Measured(NamedTuple):
    """Steps of the runs of a cell by seed; of a run that ended without a head, those it made."""

    steps: dict[int, float]
    censored: bool
    diverged: int  # runs, which are left out


class Effect(NamedTuple):
    """By what factor a change divides steps, tokens or queries: above 1 it saves some."""

    name: str  # of the change
    control: Cell
    factor: float  # the geometric mean over seeds
    low: float  # of Student's interval of the mean of its logarithm, at 95%
    high: float
    bound: Literal["", "at least", "at most"]  # where runs without a head count as they ended
    diverged: int  # runs left out

    @property
    def budget(self) -> Unit | None:
        """What control and change have equally many of in a step; None for unequal sizes."""
        n, contexts = self.control.n_pairs, self.control.contexts
        sizes: dict[int, Unit] = {at_equal_tokens(n): "tokens", 32 * n: "queries"}
        return "steps" if contexts == 32 else sizes.get(contexts)


class Trainings:
    """The stored trainings.

    Attributes:
        rows: what is stored of each seed, by cell; limits and seeds are left out of the cells.
    """

    def __init__(self, entries: Mapping[Cell, list[dict[str, Any]]]) -> None:
        self.rows = {_bare(cell): rows for cell, rows in entries.items()}

    @classmethod
    def read(cls, path: Path) -> "Trainings":
        """Those of a file; ValueError where it is damaged or has other runs."""
        return cls(RUNS.read(path.read_text(encoding="utf-8")))

    def measured(self, cell: Cell, test: str = TESTS[0], share: float = SHARES[-1]) -> Measured:
        """Steps to a share of the loss without a head; KeyError for a cell that is not stored."""
        level = SHARES.index(share)
        rows = self.rows[_bare(cell)]
        kept = [row for row in rows if row["losses"] is not None or row[test][level] is not None]
        steps = {
            row["seed"]: row["updates"] if row[test][level] is None else row[test][level]
            for row in kept
        }
        censored = any(row[test][level] is None for row in kept)
        return Measured(steps, censored, len(rows) - len(kept))

    def effects(
        self,
        names: Iterable[str] = tuple(CHANGES),
        *,
        test: str = TESTS[0],
        share: float = SHARES[-1],
        unit: Unit = "steps",
        best: bool = False,
    ) -> list[Effect]:
        """Every effect whose control and whose change are stored, at any setting.

        With `best`, each of the two has the learning rate at which it is fastest.
        """
        found = []
        for name in names:
            before, after = CHANGES[name]
            for control in self.rows:
                changed = replace(control, **after)
                fits = all(getattr(control, field) == value for field, value in before.items())
                if not fits or changed not in self.rows:
                    continue
                if best:
                    if control != self.fastest(control, test, share):
                        continue
                    changed = self.fastest(changed, test, share)
                one, other = [self.measured(cell, test, share) for cell in (control, changed)]
                price = _price(control, unit) / _price(changed, unit)
                found += _effect(name, control, one, other, price)
        return sorted(found, key=lambda effect: (effect.name, effect.control.n_pairs))

    def fastest(self, cell: Cell, test: str = TESTS[0], share: float = SHARES[-1]) -> Cell:
        """The cell with the learning rate at which its runs are fastest, all of them with a head.

        Where there is no such rate, it is the first that is stored.
        """

        def mean(rival: Cell) -> float:
            measured = self.measured(rival, test, share)
            whole = not (measured.censored or measured.diverged)
            return float(np.log([*measured.steps.values()]).mean()) if whole else math.inf

        bare = _bare(cell)
        rivals = (
            each for each in self.rows if each == replace(bare, learning_rate=each.learning_rate)
        )
        return min(rivals, key=mean)

    def exponent(self, like: Cell, test: str = TESTS[0]) -> analysis.Exponent:
        """The exponent of steps in N from 8 pairs on, every seed a point.

        Cells have the settings of `like`, or as many queries if its contexts are 32N. ValueError
        for fewer than three points, or for runs without a head.
        """
        grows = like.contexts == 32 * like.n_pairs
        sizes: list[int] = []
        times: list[float] = []
        for cell in self.rows:
            contexts = 32 * cell.n_pairs if grows else like.contexts
            if cell.n_pairs >= LEAST and cell == replace(
                _bare(like), n_pairs=cell.n_pairs, contexts=contexts
            ):
                measured = self.measured(cell, test)
                if measured.censored or measured.diverged:
                    raise ValueError(f"not all runs with {cell.n_pairs} pairs have a head")
                sizes += [cell.n_pairs] * len(measured.steps)
                times += measured.steps.values()
        return analysis.exponent(np.array(sizes), np.array(times))


class Predicted(NamedTuple):
    """A range in which a factor or an exponent was predicted to lie, before the trainings."""

    effect: str  # a change, or the test on which steps have an exponent in N
    cell: Cell  # the control, or one of the cells of the exponent
    low: float
    high: float
    test: str  # by which steps are counted


def predictions(path: Path) -> dict[str, list[Predicted]]:
    """The predicted `factors` and `exponents`; what a setting leaves out is as `Cell` has it."""
    told = json.loads(path.read_text(encoding="utf-8"))
    return {name: [_predicted(row) for row in told[name]] for name in ("factors", "exponents")}


def judged(
    predicted: Iterable[Predicted], trainings: Trainings
) -> list[tuple[Predicted, Effect | None, bool | None]]:
    """Each predicted factor, the measured one, and whether that lies in the predicted range.

    None stands for a factor that is not stored, and for a bound that leaves it open.
    """
    rows = []
    for each in predicted:
        effects = trainings.effects([each.effect], test=each.test)
        found = next((effect for effect in effects if effect.control == each.cell), None)
        rows.append((each, found, None if found is None else holds(each, found)))
    return rows


def holds(predicted: Predicted, effect: Effect) -> bool | None:
    """Whether the factor lies in the predicted range; None where a bound leaves it open."""
    above, below = effect.factor >= predicted.low, effect.factor <= predicted.high
    if effect.bound == "at least":
        return None if below else False
    if effect.bound == "at most":
        return None if above else False
    return above and below


def _predicted(row: Mapping[str, Any]) -> Predicted:
    before = CHANGES.get(row["effect"], ({}, {}))[0]
    setting = row["setting"] | {"shape": Shape(**row["setting"].get("shape", {}))}
    cell = _bare(Cell(**{**before, **setting}))
    return Predicted(row["effect"], cell, row["low"], row["high"], row.get("test", TESTS[0]))


def _bare(cell: Cell) -> Cell:
    return replace(cell, limit=0, seeds=())


def _price(cell: Cell, unit: Unit) -> int:
    return {"steps": 1, "tokens": cell.tokens, "queries": cell.queries}[unit]


def _effect(
    name: str, control: Cell, before: Measured, after: Measured, price: float
) -> list[Effect]:
    """The effect by the seeds that both have; none for fewer than two, or where both are bounds."""
    seeds = sorted(before.steps.keys() & after.steps.keys())
    if not seeds or (before.censored and after.censored):
        return []
    logs = np.log([price * before.steps[seed] / after.steps[seed] for seed in seeds])
    half = math.inf
    if len(seeds) > 1:
        half = stats.t.ppf(0.975, len(seeds) - 1) * logs.std(ddof=1) / math.sqrt(len(seeds))
    mean = float(logs.mean())
    bound: Any = "at least" if before.censored else "at most" if after.censored else ""
    ends = (math.exp(mean + sign * half) if half < math.inf else sign * half for sign in (-1, 1))
    low, high = ends
    diverged = before.diverged + after.diverged
    return [Effect(name, control, math.exp(mean), max(0.0, low), high, bound, diverged)]
