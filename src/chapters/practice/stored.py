"""The runs of the experiment, stored in data/practice.json, short contexts before long ones."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from emergence.running.records import StoredRuns

from .training import Cell, Kind, Place, Shape, run

TWO: tuple[Kind, ...] = ("full", "every")
REPEATS: tuple[Kind, ...] = ("repeats last", "repeats mixed")
SIZES, SMALL, MIDDLE = (4, 8, 16, 32, 64), (4, 8, 16), (8, 16, 32)
PER_PAIR_AND_RATE = {"adamw": 1.2, "practice": 1.2, "sgd": 150.0}  # limits: updates per pair / rate
STRICT, ROTARY = Shape(mask="strict"), Shape(positions="rotary")


def at_equal_tokens(n_pairs: int) -> int:
    """Contexts with one query each that hold as many tokens as 32 with N queries."""
    return round(32 * 3 * n_pairs / (2 * n_pairs + 1))


def cells(
    kinds: tuple[Kind, ...], sizes: tuple[int, ...], *places: Place, **more: Any
) -> Iterator[Cell]:
    """Cells with limits that suit their rate, and five seeds where the place is tied, else three.

    Where all rests on the place, single runs differ more.
    """
    for n, kind, place in product(sizes, kinds, places or ("free",)):
        cell = Cell(kind, n, place, **more)
        limit = round(PER_PAIR_AND_RATE[cell.optimiser] * n / cell.learning_rate)
        several = place != "free" and cell.shape == Shape() and cell.optimiser != "sgd"
        several = several and n < 64 and not cell.given
        yield replace(cell, limit=limit, seeds=cell.seeds if several else cell.seeds[:3])


def _all() -> Iterator[Cell]:
    yield from cells(TWO, SIZES, "tied", "free")
    for n in (4, *MIDDLE):
        for contexts in (32, at_equal_tokens(n), 32 * n):
            yield from cells(("one", "random") if n < 32 else ("one",), (n,), contexts=contexts)
    yield from cells(("inverse",), SIZES)
    yield from cells(("inverse", "prefix"), SMALL, "tied", "free")
    yield from cells(("full redrawn", "random redrawn", "upper", "end"), MIDDLE)
    yield from cells(("short",), MIDDLE[:2])
    yield from cells(("end", "not last"), MIDDLE[:2], "tied", "free")
    yield from cells(TWO, MIDDLE, "by 1", "by 2")
    yield from cells(TWO, MIDDLE, "tied", "free", given=True)
    yield from cells(("end",), MIDDLE[:2], "tied", "free", given=True)
    yield from cells(REPEATS, MIDDLE)
    for rate in (1e-2, 1e-3):
        yield from cells(TWO, SIZES, learning_rate=rate)
        yield from cells(TWO, SMALL, "tied", learning_rate=rate)
    yield from cells(TWO, SIZES, optimiser="practice")
    yield from cells(TWO, SIZES[:4], "tied", optimiser="practice")
    yield from cells(("inverse",), SMALL, optimiser="practice")
    for n in SMALL:  # with 16 pairs some runs diverge at twice this rate
        places: tuple[Place, ...] = ("tied", "free") if n == 8 else ("free",)
        yield from cells(TWO, (n,), *places, optimiser="sgd", learning_rate=2 / n)
    yield from cells(TWO, SIZES[1:], shape=STRICT)
    yield from cells(TWO, MIDDLE[:2], "tied", shape=STRICT)
    yield from cells((*TWO, *REPEATS), MIDDLE, "tied", shape=ROTARY)  # which knows no place
    for layers in (2, 4, 6):
        kinds, sizes = (*TWO, *REPEATS) if layers == 4 else TWO, MIDDLE[: 2 if layers == 6 else 3]
        yield from cells(kinds, sizes, "tied", shape=Shape(layers, True, "rotary"))
        yield from cells(TWO, MIDDLE[:2], shape=Shape(layers, blocks=True))


RUNS = StoredRuns(run, tuple(sorted(dict.fromkeys(_all()), key=lambda cell: cell.n_pairs)))
