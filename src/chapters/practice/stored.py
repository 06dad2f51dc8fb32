"""The runs of the experiment, stored in data/practice.json, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from emergence.running.records import StoredRuns

from .model import PLAIN, Positions, Shape
from .queries import Cell, Kind, Place
from .trained import run

FOUR: tuple[Kind, ...] = ("full", "every", "inverse", "prefix")
TWO: tuple[Kind, ...] = FOUR[:2]
ONE: tuple[Kind, ...] = ("one", "random")
REPEATS: tuple[Kind, ...] = ("repeats last", "repeats mixed")
PLACES: tuple[Place, ...] = ("tied", "free")
MIDDLE, LARGE = (8, 16, 32), 64
ADAMW, OTHERS = 3e-3, (1e-2, 1e-3)
SGD = {8: 0.25, 16: 0.125}  # with 16 pairs some runs diverge at twice this rate
PER_PAIR_AND_RATE = {"adamw": 1.2, "practice": 1.2, "sgd": 150.0}  # limits: updates per pair / rate
ROTARY = Shape(positions="rotary")


def declared(kind: Kind, n_pairs: int, place: Place = "free", **more: Any) -> Cell:
    """A cell with a limit that suits its rate, and five seeds where the place is tied, else three.

    Where all rests on the place, single runs differ more.
    """
    cell = Cell(kind, n_pairs, place, **more)
    limit = round(PER_PAIR_AND_RATE[cell.optimiser] * n_pairs / cell.learning_rate)
    several = place != "free" and cell.shape == PLAIN and cell.optimiser != "sgd"
    several = several and n_pairs < LARGE and not cell.given
    return replace(cell, limit=limit, seeds=cell.seeds if several else cell.seeds[:3])


def at_equal_tokens(n_pairs: int) -> int:
    """Contexts with one query each that hold as many tokens as 32 with N queries."""
    return round(32 * 3 * n_pairs / (2 * n_pairs + 1))


def deep(layers: int, positions: Positions) -> dict[str, Any]:
    """A transformer with MLPs and norms; rotary positions tell nothing of the place."""
    place = "tied" if positions == "rotary" else "free"
    return {"place": place, "shape": Shape(layers, blocks=True, positions=positions)}


def _sizes() -> Iterator[Cell]:
    for kind, n, place in product(FOUR, (4, *MIDDLE), PLACES):
        yield declared(kind, n, place)
        if kind in TWO or n < MIDDLE[-1]:
            yield declared(kind, n, place, optimiser="practice")
        for rate in OTHERS:
            if kind in TWO and (n < MIDDLE[-1] or place == "free"):
                yield declared(kind, n, place, learning_rate=rate)
    for kind, place in product(FOUR[:3], PLACES):
        yield declared(kind, LARGE, place)
    for kind in TWO:
        yield declared(kind, LARGE, optimiser="practice")


def _budgets() -> Iterator[Cell]:
    for n in (4, *MIDDLE):
        for kind, contexts in product(ONE, (32, at_equal_tokens(n), 32 * n)):
            yield declared(kind, n, contexts=contexts)
            if n < MIDDLE[1]:
                yield declared(kind, n, contexts=contexts, optimiser="practice")


def _optimisers_and_masks() -> Iterator[Cell]:
    strict = Shape(mask="strict")
    for kind, n, place in product(TWO, SGD, PLACES):
        yield declared(kind, n, place, shape=strict)
        yield declared(kind, n, place, optimiser="practice", shape=strict)
        if n == MIDDLE[0]:
            slow = declared(kind, n, place, optimiser="sgd", learning_rate=SGD[n])
            yield from (slow, replace(slow, shape=strict))
    for kind in TWO:
        yield declared(kind, 16, optimiser="sgd", learning_rate=SGD[16])


def _controls() -> Iterator[Cell]:
    kinds: tuple[Kind, ...] = ("full redrawn", "random redrawn", "upper", "short", "end")
    by: tuple[Place, ...] = ("by 1", "by 2")
    for n in MIDDLE:
        for kind in kinds:
            yield declared(kind, n)
        yield declared("end", n, "tied")
        for kind, place in product(TWO, by):
            yield declared(kind, n, place)
        for kind, place in product(TWO, PLACES):
            yield declared(kind, n, place, given=True)
    for n, place in product(MIDDLE[:2], PLACES):
        yield declared("not last", n, place)
        yield declared("end", n, place, given=True)


def _ordinary() -> Iterator[Cell]:
    for kind, n in product(REPEATS, MIDDLE):
        yield declared(kind, n)
    for kind, n in product((*TWO, *REPEATS), MIDDLE):
        yield declared(kind, n, "tied", shape=ROTARY)


def _depths() -> Iterator[Cell]:
    positions: tuple[Positions, ...] = ("learned", "rotary")
    for kind, n, layers in product((*TWO, *REPEATS), MIDDLE[:2], (2, 4, 6)):
        for how in positions:
            if layers < 6 or kind in TWO:
                yield declared(kind, n, **deep(layers, how))
    for kind in (*TWO, *REPEATS):
        yield declared(kind, 32, **deep(4, "rotary"))
        yield declared(kind, 16, learning_rate=OTHERS[0], **deep(4, "rotary"))


def effort(cell: Cell) -> float:
    """About what a cell costs, in units of its own; AdamW at its main rate comes earlier."""
    per_layer = 3 if cell.shape.blocks else 1
    steps = cell.n_pairs * (10.0 if cell.optimiser == "sgd" else ADAMW / cell.learning_rate)
    few = 32 * cell.n_pairs / cell.queries  # so many fewer queries than with N of each context
    cost = per_layer * cell.shape.layers * cell.tokens * steps * few**0.7 * len(cell.seeds)
    main = (cell.optimiser, cell.learning_rate, cell.shape) == ("adamw", ADAMW, PLAIN)
    return cost if main else 10 * cost


PARTS = _sizes, _budgets, _optimisers_and_masks, _controls, _ordinary, _depths
RUNS = StoredRuns(
    run, tuple(sorted(dict.fromkeys(cell for part in PARTS for cell in part()), key=effort))
)
