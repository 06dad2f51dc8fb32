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

from .model import Shape
from .queries import Cell
from .stored import RUNS, at_equal_tokens
from .trained import SHARES, TESTS

Claim = Literal["fewer", "more", "as many", "no fewer"]  # steps than the control needs
Bound = Literal["", "at least", "at most"]  # where runs without a head count as they ended
Verdict = Literal["stands", "fails", "too few sizes"]
SIZES = (4, 8, 16, 32, 64)
PREDICTED = Path("data/practice_predictions.yml")
LEAST = 8  # pairs from which on exponents are fitted
ENOUGH = 3  # sizes at which a sentence has to hold
ALIKE = 1.25  # the largest factor, up or down, of what counts as many
Settings = Mapping[str, Any]
CHANGES: dict[str, tuple[Settings, Settings]] = {  # of a control, and into what
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
KINDS = {
    "one": "one query of the full context",
    "random": "one query of a random prefix",
    "full": "$N$ queries of the full context",
    "every": "a query of each prefix",
    "inverse": "a query of each prefix, with weights $1/n$",
    "prefix": "$N$ queries of one random prefix",
    "full redrawn": "$N$ queries of the full context, drawn one by one",
    "random redrawn": "queries of $N$ random prefixes",
    "upper": "queries of the longer half of the prefixes",
    "short": "queries of $N$ random prefixes, with chances $1/n$",
    "end": "a query of each prefix, at the place of the last",
    "not last": "a query of each prefix, never for its last pair",
    "repeats last": "all repeats after the pairs",
    "repeats mixed": "repeats among the pairs",
}
PLACES = {
    "tied": "at the beginning of the block",
    "free": "anywhere in the block",
    "by 1": "from place 0 or 1",
    "by 2": "from place 0 or 2",
}
CLAIMS: dict[str, Claim] = {  # what the sentences on a change say
    "N queries": "fewer",
    "N queries of prefixes": "fewer",
    "prefixes": "fewer",
    "prefixes at one place": "no fewer",
    "weights 1/n": "more",
    "repeats anywhere": "fewer",
    "free place": "fewer",
}


class Effect(NamedTuple):
    """By what factor a change divides steps: above 1 it saves some."""

    factor: float  # the geometric mean over seeds
    low: float  # of Student's interval of the mean of its logarithm, at 95%
    high: float
    bound: Bound

    def __str__(self) -> str:
        return f"{self.bound} {self.factor:.2f} ({self.low:.2f} to {self.high:.2f})".strip()


class Trainings:
    """The stored trainings.

    Attributes:
        rows: what is stored of each seed, by cell; limits and seeds are left out of the cells.
    """

    def __init__(self, entries: Mapping[Cell, list[dict[str, Any]]]) -> None:
        self.rows = {bare(cell): rows for cell, rows in entries.items()}

    @classmethod
    def read(cls, path: Path) -> "Trainings":
        """Those of a file; ValueError where it is damaged or has other runs."""
        return cls(RUNS.read(path.read_text(encoding="utf-8")))

    def steps(self, cell: Cell, test: str = TESTS[0]) -> tuple[dict[int, float], bool]:
        """Steps to half of the loss without a head, by seed, and whether some end before.

        Those count as long as they are, and runs that diverge are left out.
        """
        found: dict[int, float] = {}
        censored = False
        for row in self.rows.get(bare(cell), []):
            reached = row[test][SHARES.index(0.5)]
            if reached is not None or row["losses"] is not None:
                found[row["seed"]] = float(row["updates"] if reached is None else reached)
                censored |= reached is None
        return found, censored

    def effect(self, change: str, control: Cell, test: str = TESTS[0]) -> Effect | None:
        """The effect of a change of a control; None for fewer than two seeds or two bounds."""
        before, after = CHANGES[change]
        control = replace(control, **before)
        slow, slow_bound = self.steps(control, test)
        fast, fast_bound = self.steps(replace(control, **after), test)
        seeds = sorted(slow.keys() & fast.keys())
        if len(seeds) < 2 or (slow_bound and fast_bound):
            return None
        logs = np.log([slow[seed] / fast[seed] for seed in seeds])
        half = stats.t.ppf(0.975, len(seeds) - 1) * logs.std(ddof=1) / math.sqrt(len(seeds))
        factor, low, high = np.exp(logs.mean() + half * np.array([0, -1, 1])).tolist()
        bound: Bound = "at least" if slow_bound else "at most" if fast_bound else ""
        return Effect(factor, low, high, bound)

    def exponent(self, like: Cell) -> analysis.Exponent:
        """The exponent of steps in N from 8 pairs on, every seed a point.

        Cells have the settings of `like`, or as many queries if its contexts are 32N. A size at
        which not all runs have a head is left out. ValueError for fewer than three points.
        """
        grows = like.contexts == 32 * like.n_pairs
        points: list[tuple[float, float]] = []
        for n in SIZES[SIZES.index(LEAST) :]:
            cell = replace(like, n_pairs=n, contexts=32 * n if grows else like.contexts)
            steps, censored = self.steps(cell)
            if not censored and len(steps) == len(self.rows.get(bare(cell), [])):
                points += [(n, each) for each in steps.values()]
        return analysis.exponent(*np.array(points, dtype=float).reshape(-1, 2).T)


class Row(NamedTuple):
    """A change in a setting: its words, what a sentence claims of it, and the control by size."""

    change: str
    what: str
    control: str
    setting: str
    claim: Claim | None
    cells: dict[int, Cell]

    def effects(self, trainings: Trainings) -> dict[int, Effect]:
        """The effect at each size that is stored."""
        found = {n: trainings.effect(self.change, cell) for n, cell in sorted(self.cells.items())}
        return {n: effect for n, effect in found.items() if effect is not None}

    def holds_at(self, effect: Effect) -> bool:
        """Whether the whole interval of an effect is on the side that is claimed."""
        if self.claim == "fewer":
            return effect.low > 1 and effect.bound != "at most"
        if self.claim == "as many":
            return effect.low > 1 / ALIKE and effect.high < ALIKE and not effect.bound
        most = 1 if self.claim == "more" else ALIKE
        return effect.high < most and effect.bound != "at least"

    def verdict(self, effects: Mapping[int, Effect]) -> Verdict:
        """Whether the sentence stands.

        It does if it holds at three sizes, and at every larger one than the first of them. It fails
        if it does not hold at a larger one, or nowhere among three.
        """
        held = [n for n, effect in effects.items() if self.holds_at(effect)]
        if held and all(n in held for n in effects if n > held[0]):
            return "stands" if len(held) >= ENOUGH else "too few sizes"
        return "fails" if held or len(effects) >= ENOUGH else "too few sizes"

    def sentence(self, effects: Mapping[int, Effect]) -> str:
        """A claim with its control, and with all factors from the first that holds, or with all."""
        held = [n for n, effect in effects.items() if self.holds_at(effect)]
        sizes = [n for n in effects if not held or n >= held[0]]
        where = self.setting or "at equal contexts"
        return (
            f"{where[0].upper()}{where[1:]}, training with {self.what} needs {self.claim} steps"
            f" {'as' if self.claim == 'as many' else 'than'} with {self.control}; the factors"
            f" are {', '.join(str(effects[n]) for n in sizes)} at $N={', '.join(map(str, sizes))}$."
        )


def rows() -> list[Row]:
    """All changes in all settings that are declared."""
    found: dict[tuple[str, ...], Row] = {}
    declared = dict.fromkeys(bare(cell) for cell in RUNS.cells)
    for change, (before, after) in CHANGES.items():
        for control in declared:
            changed = replace(control, **after)
            if control == replace(control, **before) and changed in declared:
                what, other = KINDS[changed.kind], KINDS[control.kind]
                if control.place != changed.place:
                    what, other = (
                        f"{what} {PLACES[changed.place]}",
                        f"the same {PLACES[control.place]}",
                    )
                row = Row(
                    change, what, other, setting_of(control, changed), claimed(change, control), {}
                )
                found.setdefault(row[:4], row).cells[control.n_pairs] = control
    return list(found.values())


def claimed(change: str, control: Cell) -> Claim | None:
    """What a sentence says of a change; None for a change that is in the table alone."""
    tied = control.place != "free" and control.shape.positions == "learned"
    if change.startswith("N queries") and control.contexts == 32 * control.n_pairs:
        return "as many"
    if change == "free place":
        own: Claim = "as many" if control.given else CLAIMS[change]
        return own if control.kind == "every" else None
    if change == "prefixes" and tied:
        return "more" if control.place == "tied" and not control.given else None
    return None if tied else CLAIMS.get(change)


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


def sentences(trainings: Trainings) -> dict[Verdict, list[str]]:
    """The sentences of all rows that have been measured, by what becomes of them."""
    found: dict[Verdict, list[str]] = {"stands": [], "fails": [], "too few sizes": []}
    for row in rows():
        if row.claim and (effects := row.effects(trainings)):
            found[row.verdict(effects)].append(row.sentence(effects))
    return found


class Predicted(NamedTuple):
    """A range in which a factor or an exponent was predicted to lie, before the trainings."""

    effect: str  # a change, or the test on which steps have an exponent in N
    cell: Cell  # the control, or one of the cells of the exponent
    low: float
    high: float
    test: str  # by which steps are counted

    def holds(self, effect: Effect) -> bool | None:
        """Whether a factor lies in the range; None where a bound leaves it open."""
        above, below = effect.factor >= self.low, effect.factor <= self.high
        if effect.bound:
            return None if (below if effect.bound == "at least" else above) else False
        return above and below


def predictions(name: Literal["factors", "exponents"], path: Path = PREDICTED) -> list[Predicted]:
    """What was predicted; what a setting leaves out is as `Cell` has it."""
    found = []
    for row in json.loads(path.read_text(encoding="utf-8"))[name]:  # JSON is YAML, too
        setting = row["setting"] | {"shape": Shape(**row["setting"].get("shape", {}))}
        cell = bare(Cell(**{**CHANGES.get(row["effect"], ({},))[0], **setting}))
        test = row.get("test", TESTS[0])
        found.append(Predicted(row["effect"], cell, row["low"], row["high"], test))
    return found


def judged(trainings: Trainings, path: Path = PREDICTED) -> list[tuple[Predicted, Effect, bool]]:
    """The predicted factors that are measured, and whether they lie in their range."""
    found = []
    for each in predictions("factors", path):
        effect = trainings.effect(each.effect, each.cell, each.test)
        if effect and (right := each.holds(effect)) is not None:
            found.append((each, effect, right))
    return found


def bare(cell: Cell) -> Cell:
    """A cell without its limit and its seeds, which do not tell it from others."""
    return replace(cell, limit=0, seeds=())
