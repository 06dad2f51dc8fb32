"""The runs of the experiment, stored in data/practice.json, in the order in which they decide."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from emergence.running.records import StoredRuns

from .model import PLAIN, Positions, Shape
from .queries import Cell, Kind, Place
from .trained import run

TWO: tuple[Kind, ...] = ("full", "every")
REPEATS: tuple[Kind, ...] = ("repeats last", "repeats mixed")
REDRAWN: tuple[Kind, ...] = ("full redrawn", "random redrawn", "upper")
BOTH: tuple[Place, ...] = ("tied", "free")
SMALL, MIDDLE, LARGE = (4, 8, 16), (8, 16, 32), 64
PER_PAIR_AND_RATE = {"adamw": 1.2, "practice": 1.2, "sgd": 150.0}  # limits: updates per pair / rate
STRICT, ROTARY = Shape(mask="strict"), Shape(positions="rotary")


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


def descent(n_pairs: int) -> dict[str, Any]:
    """Plain gradient descent; with 16 pairs some runs diverge at twice this rate."""
    return {"optimiser": "sgd", "learning_rate": 2 / n_pairs}


def _cells(
    kinds: Iterable[Kind], sizes: Iterable[int], places: Iterable[Place] = ("free",), **more: Any
) -> Iterator[Cell]:
    for n, kind, place in product(sizes, kinds, places):
        yield declared(kind, n, **{"place": place} | more)


def _all() -> Iterator[Cell]:
    yield from _cells(TWO, (4, *MIDDLE), BOTH)
    for n in SMALL:
        for contexts in (32, at_equal_tokens(n), 32 * n):
            yield from _cells(("one", "random"), (n,), contexts=contexts)
    yield from _cells(("inverse",), (4, *MIDDLE))
    yield from _cells(("end", "not last"), SMALL[1:], BOTH)
    yield from _cells(TWO, MIDDLE, BOTH, given=True)
    yield from _cells(("end",), (32,))
    yield from _cells(TWO, (4, *MIDDLE), learning_rate=1e-2)
    yield from _cells(TWO, SMALL, learning_rate=1e-3)
    yield from _cells(TWO, MIDDLE, shape=STRICT)
    yield from _cells((*TWO, "inverse"), SMALL, optimiser="practice")
    yield from _cells((*TWO, *REPEATS), SMALL[1:], ("tied",), shape=ROTARY)
    yield from _cells(REPEATS, MIDDLE)
    yield from _cells(TWO, (32,), optimiser="practice")
    yield from _cells(TWO, (LARGE,))
    yield from _cells(TWO, (LARGE,), learning_rate=1e-2)
    for n in SMALL[:2]:
        yield from _cells(TWO, (n,), **descent(n))
    for layers, n in product((4, 2, 6), SMALL[1:]):
        yield from _cells(TWO, (n,), **deep(layers, "rotary"))
    yield from _cells(TWO, (32,), **deep(2, "rotary"))
    yield from _cells(TWO, (LARGE,), optimiser="practice")
    yield from _cells(TWO, (LARGE,), ("tied",))
    yield from _cells(TWO, (LARGE,), shape=STRICT)
    yield from _cells(TWO, (32,), learning_rate=1e-3)
    yield from _cells(REPEATS, SMALL[1:], **deep(4, "rotary"))
    yield from _cells(TWO, (16,), **descent(16))
    yield from _cells(("inverse",), (LARGE,))
    yield from _cells(TWO, MIDDLE, ("by 1", "by 2"))
    yield from _cells((*TWO, *REPEATS), (32,), **deep(4, "rotary"))
    yield from _cells((*TWO, *REPEATS), (32,), ("tied",), shape=ROTARY)
    yield from _cells(TWO, (LARGE,), learning_rate=1e-3)
    # these decide no sentence, but were predicted
    for contexts in (32, at_equal_tokens(32), 32 * 32):
        yield from _cells(("one",), (32,), contexts=contexts)
    yield from _cells(REDRAWN, MIDDLE)
    yield from _cells(("end",), SMALL[1:], BOTH, given=True)
    yield from _cells(("short",), SMALL[1:])
    yield from _cells(("inverse", "prefix"), SMALL, BOTH)
    yield from _cells(TWO, SMALL[1:], ("tied",), shape=STRICT)
    yield from _cells(TWO, (4, *MIDDLE), ("tied",), optimiser="practice")
    for rate in (1e-2, 1e-3):
        yield from _cells(TWO, SMALL, ("tied",), learning_rate=rate)
    yield from _cells(TWO, (8,), ("tied",), **descent(8))
    for n, layers in product(SMALL[1:], (2, 4, 6)):
        yield from _cells(TWO, (n,), **deep(layers, "learned"))


RUNS = StoredRuns(run, tuple(dict.fromkeys(_all())))
