"""The effects of the experiment: by what factor a change of a training saves steps."""

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
from .stored import RUNS
from .trained import SHARES, TESTS

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


class Effect(NamedTuple):
    """By what factor a change divides steps: above 1 it saves some."""

    name: str  # of the change
    control: Cell
    factor: float  # the geometric mean over seeds
    low: float  # of Student's interval of the mean of its logarithm, at 95%
    high: float
    bound: Literal["", "at least", "at most"]  # where runs without a head count as they ended


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

    def steps(self, cell: Cell, test: str = TESTS[0]) -> tuple[dict[int, float], bool]:
        """Steps to half of the loss without a head, by seed, and whether some end before.

        Those count as long as they are, and runs that diverge are left out. KeyError for a cell
        that is not stored.
        """
        level, censored = SHARES.index(0.5), False
        found: dict[int, float] = {}
        for row in self.rows[_bare(cell)]:
            reached = row[test][level]
            if reached is not None or row["losses"] is not None:
                found[row["seed"]] = float(row["updates"] if reached is None else reached)
                censored |= reached is None
        return found, censored

    def effect(self, name: str, control: Cell, test: str = TESTS[0]) -> Effect | None:
        """The effect of a change of a control.

        None where one of both is not stored, and for fewer than two seeds that both have or two
        bounds.
        """
        before, after = CHANGES[name]
        control = replace(_bare(control), **before)
        changed = replace(control, **after)
        if not {control, changed} <= self.rows.keys():
            return None
        slow, slow_bound = self.steps(control, test)
        fast, fast_bound = self.steps(changed, test)
        seeds = sorted(slow.keys() & fast.keys())
        if len(seeds) < 2 or (slow_bound and fast_bound):
            return None
        logs = np.log([slow[seed] / fast[seed] for seed in seeds])
        half = stats.t.ppf(0.975, len(seeds) - 1) * logs.std(ddof=1) / math.sqrt(len(seeds))
        factor, low, high = np.exp(logs.mean() + half * np.array([0, -1, 1])).tolist()
        return Effect(name, control, factor, low, high, _bound(slow_bound, fast_bound))

    def exponent(self, like: Cell, test: str = TESTS[0]) -> analysis.Exponent:
        """The exponent of steps in N from 8 pairs on, every seed a point.

        Cells have the settings of `like`, or as many queries if its contexts are 32N. ValueError
        for fewer than three points, or for runs without a head.
        """
        grows = like.contexts == 32 * like.n_pairs
        points: list[tuple[float, float]] = []
        for cell in self.rows:
            n = cell.n_pairs
            same = replace(_bare(like), n_pairs=n, contexts=32 * n if grows else like.contexts)
            if n >= LEAST and cell == same:
                steps, censored = self.steps(cell, test)
                if censored or len(steps) < len(self.rows[cell]):
                    raise ValueError(f"not all runs with {n} pairs have a head")
                points += [(n, each) for each in steps.values()]
        return analysis.exponent(*np.array(points, dtype=float).reshape(-1, 2).T)


class Predicted(NamedTuple):
    """A range in which a factor or an exponent was predicted to lie, before the trainings."""

    effect: str  # a change, or the test on which steps have an exponent in N
    cell: Cell  # the control, or one of the cells of the exponent
    low: float
    high: float
    test: str  # by which steps are counted


def predictions(path: Path) -> dict[str, list[Predicted]]:
    """The predicted `factors` and `exponents`; what a setting leaves out is as `Cell` has it."""
    told = json.loads(path.read_text(encoding="utf-8"))  # what is written in JSON is YAML, too
    return {name: [_predicted(row) for row in told[name]] for name in ("factors", "exponents")}


def judged(
    predicted: Iterable[Predicted], trainings: Trainings
) -> list[tuple[Predicted, Effect | None, bool | None]]:
    """Each predicted factor, the measured one, and whether that lies in the predicted range.

    None stands for a factor that is not stored, and for a bound that leaves it open.
    """
    rows = []
    for each in predicted:
        found = trainings.effect(each.effect, each.cell, each.test)
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


def _bound(slow: bool, fast: bool) -> Literal["", "at least", "at most"]:
    return "at least" if slow else "at most" if fast else ""


def _predicted(row: Mapping[str, Any]) -> Predicted:
    before = CHANGES.get(row["effect"], ({}, {}))[0]
    setting = row["setting"] | {"shape": Shape(**row["setting"].get("shape", {}))}
    cell = _bare(Cell(**{**before, **setting}))
    return Predicted(row["effect"], cell, row["low"], row["high"], row.get("test", TESTS[0]))


def _bare(cell: Cell) -> Cell:
    return replace(cell, limit=0, seeds=())
