"""What the experiment advises: a sentence stands only where its effect holds at three sizes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .effects import Effect, Predicted, Trainings, judged, predictions
from .model import Shape
from .queries import Cell, Kind
from .stored import at_equal_tokens, deep

Claim = Literal["fewer", "more", "as many", "no fewer"]  # steps than the control needs
Verdict = Literal["stands", "fails", "too few sizes"]
SIZES = (4, 8, 16, 32, 64)
PREDICTED = Path("data/practice_predictions.yml")
ENOUGH = 3  # sizes at which a sentence has to hold
ALIKE = 1.25  # the largest factor, up or down, of what counts as many
SETTINGS: dict[str, Callable[[int], Mapping[str, Any]]] = {  # what differs from AdamW at 3e-3
    "": lambda n: {},
    "at equal tokens": lambda n: {"contexts": at_equal_tokens(n)},
    "at equal queries": lambda n: {"contexts": 32 * n},
    "with the practice of trainers": lambda n: {"optimiser": "practice"},
    "at a third of the rate": lambda n: {"learning_rate": 1e-3},
    "at three times the rate": lambda n: {"learning_rate": 1e-2},
    "under SGD": lambda n: {"optimiser": "sgd", "learning_rate": 2 / n},
    "under the strict mask": lambda n: {"shape": Shape(mask="strict")},
    "at a fixed place": lambda n: {"place": "tied"},
    "with rotary positions": lambda n: {"place": "tied", "shape": Shape(positions="rotary")},
    "in two layers with MLPs and rotary positions": lambda n: deep(2, "rotary"),
    "in four layers with MLPs and rotary positions": lambda n: deep(4, "rotary"),
    "in six layers with MLPs and rotary positions": lambda n: deep(6, "rotary"),
    "with the previous place given": lambda n: {"given": True},
}
CLAIMS: dict[Claim, str] = {
    "fewer": "fewer steps than",
    "more": "more steps than",
    "as many": "as many steps as",
    "no fewer": "no fewer steps than",
}
WORDS = {  # of a change: what is tried, and its control
    "N queries": ("$N$ queries of the full context", "one query of it"),
    "N queries of prefixes": ("a query of each prefix", "one query of a random prefix"),
    "prefixes": ("a query of each prefix", "$N$ queries of the full context"),
    "prefixes at one place": (
        "a query of each prefix, always at the place of the last,",
        "$N$ queries of the full context",
    ),
    "weights 1/n": ("weights $1/n$ of the prefixes", "equal weights"),
    "repeats anywhere": ("repeats among the pairs", "all repeats after the pairs"),
    "free place": ("a query of each prefix anywhere in the block", "the same at its beginning"),
}


class Row(NamedTuple):
    """A change in a setting, and what a sentence claims of it."""

    change: str
    setting: str
    claim: Claim


ROWS = (
    *(Row("N queries", each, "fewer") for each in ("", "at equal tokens")),
    Row("N queries", "at equal queries", "as many"),
    *(
        Row("prefixes", each, "fewer")
        for each in SETTINGS
        if each not in ("at a fixed place", "at equal tokens", "at equal queries")
    ),
    Row("prefixes", "at a fixed place", "more"),
    Row("prefixes at one place", "", "no fewer"),
    *(Row("weights 1/n", each, "more") for each in ("", "with the practice of trainers")),
    *(
        Row("repeats anywhere", each, "fewer")
        for each in ("", "with rotary positions", "in four layers with MLPs and rotary positions")
    ),
    Row("free place", "", "fewer"),
    Row("free place", "with the previous place given", "as many"),
)


def measured(row: Row, trainings: Trainings) -> dict[int, Effect]:
    """The effect of a row at each size that is stored."""
    kind: Any = "every" if row.change == "free place" else "full"
    found = {
        n: trainings.effect(row.change, Cell(kind, n, **SETTINGS[row.setting](n))) for n in SIZES
    }
    return {n: effect for n, effect in found.items() if effect is not None}


def holds_at(claim: Claim, effect: Effect) -> bool:
    """Whether the whole interval of an effect is on the side that is claimed."""
    if claim == "as many":
        return effect.low > 1 / ALIKE and effect.high < ALIKE and not effect.bound
    if claim == "no fewer":
        return effect.high < ALIKE and effect.bound != "at least"
    if claim == "fewer":
        return effect.low > 1 and effect.bound != "at most"
    return effect.high < 1 and effect.bound != "at least"


def verdict(row: Row, effects: Mapping[int, Effect]) -> Verdict:
    """Whether a sentence stands.

    It does if it holds at three sizes, and at every larger one than the first of them. It fails if
    it does not hold at a larger one, or nowhere among three.
    """
    held = [n for n, effect in effects.items() if holds_at(row.claim, effect)]
    if held and all(n in held for n in effects if n > held[0]):
        return "stands" if len(held) >= ENOUGH else "too few sizes"
    return "fails" if held or len(effects) >= ENOUGH else "too few sizes"


def in_figures(effect: Effect, *, inverted: bool = False) -> str:
    """A factor with its interval."""
    numbers, bound = (effect.low, effect.factor, effect.high), str(effect.bound)
    if inverted:
        numbers = (1 / effect.high, 1 / effect.factor, 1 / effect.low)
        bound = {"at least": "at most", "at most": "at least"}.get(bound, "")
    low, mid, high = (f"{number:.2f}" for number in numbers)
    return f"{bound} {mid} ({low} to {high})".strip()


def sentence(row: Row, effects: Mapping[int, Effect]) -> str:
    """A claim with its control, and with the intervals of all sizes from the first that holds."""
    what, control = WORDS[row.change]
    where = row.setting or "at equal contexts"
    held = [n for n, effect in effects.items() if holds_at(row.claim, effect)]
    shown = {n: effects[n] for n in effects if not held or n >= held[0]}
    fewer = row.claim == "fewer"
    numbers = ", ".join(in_figures(each, inverted=not fewer) for each in shown.values())
    return (
        f"{where[0].upper()}{where[1:]}, training with {what} needs {CLAIMS[row.claim]} with"
        f" {control}, {numbers} times {'fewer' if fewer else 'as many'} at"
        f" $N={', '.join(map(str, shown))}$."
    )


def table_of(trainings: Trainings) -> list[tuple[str, ...]]:
    """A row for each effect that is stored at some size: change, control, setting, factors."""
    rows = []
    for row in ROWS:
        effects = measured(row, trainings)
        figures = (in_figures(effects[n]) if n in effects else "" for n in SIZES)
        if effects:
            rows.append((*WORDS[row.change], row.setting or "AdamW", *figures))
    return rows


def sentences(trainings: Trainings) -> dict[Verdict, list[str]]:
    """The sentences of all rows that have been measured, by what becomes of them."""
    found: dict[Verdict, list[str]] = {"stands": [], "fails": [], "too few sizes": []}
    for row in ROWS:
        if effects := measured(row, trainings):
            found[verdict(row, effects)].append(sentence(row, effects))
    return found


def factor_of(trainings: Trainings, change: str, kind: Kind, n_pairs: int, **more: Any) -> str:
    """A factor with its interval at one size; empty where it is not stored."""
    effect = trainings.effect(change, Cell(kind, n_pairs, **more))
    return "" if effect is None else in_figures(effect)


def in_range(trainings: Trainings, path: Path = PREDICTED) -> tuple[list[Predicted], int, int]:
    """The predicted factors, how many lie in their range, and how many are measured."""
    told = predictions(path)["factors"]
    verdicts = [holds for *_, holds in judged(told, trainings) if holds is not None]
    return told, sum(verdicts), len(verdicts)
