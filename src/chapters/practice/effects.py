"""The effects of the experiment: by what factor a change saves steps, and which sentences stand."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats

from emergence import analysis

from .stored import RUNS, SIZES, at_equal_tokens
from .training import KINDS, PLACES, TESTS, Cell, Shape

Claim = Literal["fewer", "more", "as many", "no fewer"]  # steps than the control needs
Stored = Mapping[Cell, list[dict[str, Any]]]  # what is stored of each seed, by `bare` cell
PREDICTED = Path("data/practice_predictions.yml")
ENOUGH = 3  # sizes at which a sentence has to hold
ALIKE = 1.25  # the largest factor, up or down, of what counts as many
# What is changed of a control, and into what; what a sentence says of it.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], Claim | None]] = {
    "N queries": ({"kind": "one"}, {"kind": "full", "contexts": 32}, "fewer"),
    "N queries of prefixes": ({"kind": "random"}, {"kind": "every", "contexts": 32}, "fewer"),
    "prefixes": ({"kind": "full"}, {"kind": "every"}, "fewer"),
    "prefixes, one query": ({"kind": "one"}, {"kind": "random"}, None),
    "prefixes, drawn alike": ({"kind": "full redrawn"}, {"kind": "random redrawn"}, None),
    "one prefix a context": ({"kind": "full"}, {"kind": "prefix"}, None),
    "the longer prefixes": ({"kind": "full"}, {"kind": "upper"}, None),
    "prefixes without their last pair": ({"kind": "full"}, {"kind": "not last"}, None),
    "prefixes at one place": ({"kind": "full"}, {"kind": "end"}, "no fewer"),
    "weights 1/n": ({"kind": "every"}, {"kind": "inverse"}, "more"),
    "lengths as 1/n": ({"kind": "random redrawn"}, {"kind": "short"}, None),
    "repeats anywhere": ({"kind": "repeats last"}, {"kind": "repeats mixed"}, "fewer"),
    "free place": ({"place": "tied"}, {"place": "free"}, "fewer"),
    "both parities": ({"place": "by 2"}, {"place": "by 1"}, None),
}


class Effect(NamedTuple):
    """By what factor a change divides steps: above 1 it saves some."""

    factor: float  # the geometric mean over seeds
    low: float  # of Student's interval of the mean of its logarithm, at 95%
    high: float
    bound: str  # `at least` or `at most` where runs without a head count as they ended

    def __str__(self) -> str:
        return f"{self.bound} {self.factor:.2f} ({self.low:.2f} to {self.high:.2f})".strip()


def bare(cell: Cell) -> Cell:
    """A cell without its limit and its seeds, which do not tell it from others."""
    return replace(cell, limit=0, seeds=())


def read(path: Path) -> Stored:
    """The stored trainings; ValueError where the file is damaged or has other runs."""
    found = RUNS.read(path.read_text(encoding="utf-8"))
    return {bare(cell): rows for cell, rows in found.items()}


def steps(stored: Stored, cell: Cell, test: str = TESTS[0]) -> tuple[dict[int, float], bool]:
    """Steps to half of the loss without a head, by seed, and whether some end before.

    Those count as long as they are, and runs that diverge are left out.
    """
    rows = [row for row in stored.get(bare(cell), []) if row["losses"] or row[test][-1]]
    found = {row["seed"]: row[test][-1] for row in rows}
    ends = {row["seed"]: row["updates"] for row in rows}
    return {seed: float(found[seed] or ends[seed]) for seed in found}, None in found.values()


def effect_of(stored: Stored, change: str, control: Cell, test: str = TESTS[0]) -> Effect | None:
    """The effect of a change of a control; None for fewer than two seeds or two bounds."""
    before, after, _ = CHANGES[change]
    control = replace(control, **before)
    slow, slow_bound = steps(stored, control, test)
    fast, fast_bound = steps(stored, replace(control, **after), test)
    logs = np.log([slow[seed] / fast[seed] for seed in sorted(slow.keys() & fast.keys())])
    if len(logs) < 2 or (slow_bound and fast_bound):
        return None
    half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
    factor, low, high = np.exp(logs.mean() + half * np.array([0, -1, 1])).tolist()
    return Effect(factor, low, high, "at least" if slow_bound else "at most" if fast_bound else "")


def exponent(stored: Stored, like: Cell) -> analysis.Exponent:
    """The exponent of steps in N from 8 pairs on, every seed a point.

    Cells have the settings of `like`, or as many queries if its contexts are 32N. A size at which
    not all runs have a head is left out. ValueError for fewer than three points.
    """
    points: list[tuple[float, float]] = []
    for n in SIZES[1:]:
        contexts = 32 * n if like.contexts == 32 * like.n_pairs else like.contexts
        cell = bare(replace(like, n_pairs=n, contexts=contexts))
        formed, censored = steps(stored, cell)
        if not censored and len(formed) == len(stored.get(cell, [])):
            points += [(n, each) for each in formed.values()]
    return analysis.exponent(*np.array(points, dtype=float).reshape(-1, 2).T)


class Row(NamedTuple):
    """A change in a setting: its words, what a sentence claims of it, and the control by size."""

    change: str
    what: str
    control: str
    setting: str
    claim: Claim | None
    cells: dict[int, Cell]

    def effects(self, stored: Stored) -> dict[int, Effect]:
        """The effect at each size that is stored."""
        found = {n: effect_of(stored, self.change, self.cells[n]) for n in sorted(self.cells)}
        return {n: effect for n, effect in found.items() if effect is not None}

    def held(self, effects: Mapping[int, Effect]) -> list[int]:
        """The sizes at which the claim holds, if it does so at all that follow the first."""
        sizes = [n for n, effect in effects.items() if self._holds(effect)]
        return sizes if sizes == [n for n in effects if sizes and n >= sizes[0]] else []

    def _holds(self, effect: Effect) -> bool:
        """Whether the whole interval of an effect is on the side that is claimed."""
        if self.claim == "fewer":
            return effect.low > 1 and effect.bound != "at most"
        if self.claim == "as many":
            return effect.low > 1 / ALIKE and effect.high < ALIKE and not effect.bound
        return effect.high < (1 if self.claim == "more" else ALIKE) and effect.bound != "at least"

    def sentence(self, effects: Mapping[int, Effect]) -> str:
        """A claim with its control and all factors, and from which size on it holds."""
        held, where = self.held(effects), self.setting or "at equal contexts"
        since = f" and from {held[0]} pairs on" if held and held[0] > min(effects) else ""
        return (
            f"{where[0].upper()}{where[1:]}{since}, training with {self.what} needs {self.claim}"
            f" steps {'as' if self.claim == 'as many' else 'than'} with {self.control}; the factors"
            f" are {', '.join(map(str, effects.values()))} at $N={', '.join(map(str, effects))}$."
        )


def rows() -> list[Row]:
    """All changes in all settings that are declared."""
    found: dict[tuple[str, ...], Row] = {}
    declared = dict.fromkeys(bare(cell) for cell in RUNS.cells)
    for change, (before, after, _) in CHANGES.items():
        for control in declared:
            changed = replace(control, **after)
            if control == replace(control, **before) and changed in declared:
                what, other = KINDS[changed.kind], KINDS[control.kind]
                if control.place != changed.place:
                    what = f"{what} {PLACES[changed.place]}"
                    other = f"the same {PLACES[control.place]}"
                words = change, what, other, setting_of(control, changed)
                row = Row(*words, claimed(change, control), {})
                found.setdefault(words, row).cells[control.n_pairs] = control
    return list(found.values())


def claimed(change: str, control: Cell) -> Claim | None:
    """What a sentence says of a change; None for a change that is in the table alone."""
    tied = control.place != "free" and control.shape.positions == "learned"
    if change == "free place":
        if control.kind != "every":
            return None
        return "as many" if control.given else "fewer"
    if change == "prefixes" and tied:
        return "more" if control.place == "tied" and not control.given else None
    if change.startswith("N queries") and control.contexts == 32 * control.n_pairs:
        return "as many"
    return None if tied else CHANGES[change][2]


def setting_of(control: Cell, changed: Cell) -> str:
    """What differs from AdamW at a rate of 0.003 with 32 contexts, in words."""
    shape, n, rate = control.shape, control.n_pairs, control.learning_rate
    tied = shape.positions == "learned" and control.place == changed.place != "free"
    words = (
        "with the practice of trainers" if control.optimiser == "practice" else "",
        "under plain gradient descent" if control.optimiser == "sgd" else "",
        f"at a rate of {rate:g}" if control.optimiser != "sgd" and rate != 3e-3 else "",
        {at_equal_tokens(n): "at equal tokens", 32 * n: "at equal queries"}.get(control.contexts),
        "under the strict mask" if shape.mask == "strict" else "",
        PLACES[control.place] if tied else "",
        f"in {shape.layers} layers with MLPs" if shape.blocks else "",
        "with rotary positions" if shape.positions == "rotary" else "",
        "with the previous place given" if control.given else "",
    )
    return ", ".join(filter(None, words))


def sentences(stored: Stored) -> list[tuple[Row, str, bool]]:
    """All sentences, and whether they hold at three sizes and at every larger one."""
    measured = [(row, effects) for row in rows() if row.claim and (effects := row.effects(stored))]
    return [(row, row.sentence(of), len(row.held(of)) >= ENOUGH) for row, of in measured]


def predictions(name: str, path: Path = PREDICTED) -> list[tuple[Cell, dict[str, Any]]]:
    """The predicted `factors` or `exponents`: a control, or one of the cells, and the range.

    What a setting leaves out is as `Cell` has it.
    """
    found = []
    for row in json.loads(path.read_text(encoding="utf-8"))[name]:  # JSON is YAML, too
        setting = row["setting"] | {"shape": Shape(**row["setting"].get("shape", {}))}
        control = CHANGES[row["effect"]][0] if name == "factors" else {}
        found.append((bare(Cell(**{**control, **setting})), row))
    return found


def judged(
    stored: Stored, path: Path = PREDICTED
) -> list[tuple[Cell, dict[str, Any], Effect, bool]]:
    """The predicted factors that are measured, and whether they lie in their range.

    A bound that leaves this open is left out.
    """
    found = []
    for cell, row in predictions("factors", path):
        if effect := effect_of(stored, row["effect"], cell, row.get("test", TESTS[0])):
            below, above = effect.factor < row["low"], effect.factor > row["high"]
            if {"": True, "at least": above, "at most": below}[effect.bound]:
                found.append((cell, row, effect, not (below or above)))
    return found
