"""Ends of stored runs, computed again: python -m evidence.ends FILE [PLACE ...].

That runs the entries at some places of a file, from 0, and keeps states near their ends.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args
from unittest.mock import patch

import numpy as np
import torch

from bookbuild.costs import run_costs
from bookbuild.execution.runs import File
from bookbuild.results.keys import digest
from bookbuild.source.book import read_book
from chapters.beyond.clock_of_a_corpus.corpora import Natural
from chapters.beyond.every_position.stored import WeightsCell
from emergence.running import cache as caches
from emergence.running import loop
from emergence.running.records import Entry

from . import states
from .book import JudgedBook

Kind = Literal["whole", "seed", "state", "beginning", "none"]
Leaf = tuple[str, Any, Any]  # the way to a value of a result, what is stored, and what is found
ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "data" / "ends"
FILES = {Path(path).stem: path for path in read_book(ROOT).stored_runs}
COSTS = run_costs(ROOT)
CHEAP = 4.0  # seconds of a core for an entry, or for one of its runs

# How far a number may be from another one, on every machine: as a share, as it is, and as a count.
# Rounding grows with every step, and a beginning has few. A state has fewer bits than its network.
TOLERANCE: Mapping[Kind, tuple[float, float, int]] = {
    "whole": (0.05, 0.01, 3),
    "seed": (0.05, 0.01, 3),
    "state": (0.05, 0.02, 10),
    "beginning": (0.01, 0.001, 3),
}
# How many steps before the ends states are kept, at least; 0 where the last network is measured.
BACK = {"birth": 0, "distributional": 0, "factual_recall": 32}
NOT_AT = {"factual_recall": "steps"}  # its states stand before the most right answers
ALONE = "every_position", "grokking", "token_grid"  # runs end on their own
# No beginning says anything of a search, or of results that have no curves over training.
SEARCHES = ("associative_memories",)
CURVELESS = "clock_counts", "every_position", "factual_recall", "natural_predictions", "token_grid"
OTHERWISE = ("token_grid 5",)  # it ends with the loss of eight sequences, which processors decide
SLOW = "distributional 1", "distributional 4", "distributional 5"  # minutes to measure anything
# Steps of each training in a beginning, at which two rows are there.
STEPS = dict.fromkeys(FILES, 51) | {"birth": 6, "birth 8": 3, "birth 18": 3, "distributional": 3}
STEPS |= {"grokking": 101} | {f"grokking {n}": 301 for n in range(1, 6)}  # the small networks


@dataclass(frozen=True)
class End:
    """One stored run, and how much of it is computed again."""

    file: str  # of stored runs, without its folder and ending
    place: int  # of the entry in its file, from 0
    kind: Kind  # the whole entry, its first run, from states, its beginning, or nothing
    configuration: Any  # of what is computed

    @property
    def name(self) -> str:
        """What messages call it: the file and the place of the entry there, from 1."""
        return f"{self.file} {self.place + 1}"

    def again(self, kept: Any = None) -> Any:
        """What the computation gives, as a file has it; other states may be given."""
        using, steps = caches.current(), math.inf
        if self.kind == "state":
            using = states.Resuming(kept or states_of(self.file, self.place))
        elif self.kind == "beginning":
            steps = STEPS.get(self.name, STEPS[self.file])
        with caches.attached(using), shortened(steps):
            again = json.loads(
                json.dumps(stored_file(self.file).runs.bound(ROOT)(self.configuration))
            )
        if self.kind == "state":
            again.pop(NOT_AT.get(self.file), None)
        return again

    def compared(self, stored: Any, again: Any) -> list[Leaf]:
        """The leaves that are compared."""
        return list(_walk(stored, again, self.kind, "", self.kind != "beginning"))

    def slack(self, value: float) -> float:
        """How far a number may be from this one."""
        relative, absolute, counts = TOLERANCE[self.kind]
        return counts if isinstance(value, int) else absolute + relative * abs(value)

    def disagreements(self, stored: Any, again: Any) -> list[str]:
        """A sentence for each leaf that is not what it was; one where no number is compared."""
        pairs = self.compared(stored, again)
        apart = [pair for pair in pairs if not self._near(*pair[1:])]
        said = [f"{self.name}: {way} is stored as {was}, found {now}" for way, was, now in apart]
        some = any(is_number(value) for _, _, value in pairs)
        return said if some else [f"{self.name}: no number is compared", *said]

    def _near(self, kept: Any, found: Any) -> bool:
        if is_number(kept) and is_number(found):
            return abs(kept - found) <= self.slack(found)
        return type(kept) is type(found) and bool(kept == found)


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number."""
    return type(value) in (int, float)


def _walk(kept: Any, found: Any, kind: Kind, path: str, counts: bool) -> Iterator[Leaf]:
    """Both results side by side; where the computed list is shorter, a part of the stored one.

    It is the last part for what began at a state, else the first. Of a beginning only such lists
    count, since all else, and the last number of a curve, may be read from the network at its end.
    """
    less = len(kept) - len(found) if isinstance(kept, list) and isinstance(found, list) else 0
    match kept, found:
        case dict(), dict() if kept.keys() >= found.keys() or kind in ("state", "beginning"):
            for name in (name for name in kept if name in found):  # the oldest have more curves
                yield from _walk(kept[name], found[name], kind, f"{path}/{name}", counts)
        case list(), list() if less == 0 or (less > 0 and kind != "whole"):
            cut = less > 0 and kind == "beginning"
            last = -1 if cut and any(map(is_number, found)) else None
            for place, part in enumerate(found[:last], less if kind == "state" else 0):
                yield from _walk(kept[place], part, kind, f"{path}/{place}", counts or cut)
        case (dict() | list(), _) | (_, dict() | list()):
            yield path, f"{kept!r:.40}", f"not {found!r:.40}"
        case _ if counts:
            yield path, kept, found


def narrowed(configuration: Any) -> Any:
    """The configuration of the first of several runs: one seed, and one learning rate."""

    def first(name: str, value: Any) -> Any:
        if name in ("seeds", "rates") and isinstance(value, tuple):
            return value[:1]
        return 1 if name == "n_seeds" else narrowed(value) if is_dataclass(value) else value

    names = [field.name for field in fields(configuration)]
    return replace(configuration, **{x: first(x, getattr(configuration, x)) for x in names})


@contextmanager
def shortened(limit: float) -> Iterator[None]:
    """Have every training end after so many steps at most, however long it takes."""

    def shorter(training: Callable[..., Any]) -> Callable[..., Any]:
        return lambda total, *a, **parts: training(min(total, limit), *a, **parts)

    with patch.multiple(loop, steps=shorter(loop.steps), descend=shorter(loop.descend)):
        yield


def end_of(file: str, place: int) -> End:
    """How one entry is covered: by a state, else by as much of it as is cheap."""
    cell, name = entries(file)[place].configuration, f"{file} {place + 1}"
    seconds = COSTS[FILES[file]][name].seconds
    if isinstance(cell, WeightsCell):  # not all are timed
        seconds = cell.n_pairs**3 * cell.batch_size * cell.steps * len(cell.seeds) / 1.5e8
    alone = narrowed(cell) if file in ALONE else cell
    share = math.prod(1 / len(getattr(cell, name, "1")) for name in ("seeds", "rates"))
    if states_of(file, place):
        return End(file, place, "state", cell)
    if file in SEARCHES or name in OTHERWISE or isinstance(getattr(cell, "text", None), Natural):
        return End(file, place, "none", cell)
    if seconds <= CHEAP:
        return End(file, place, "whole", cell)
    if alone != cell and seconds * share <= CHEAP:
        return End(file, place, "seed", alone)
    short = file not in CURVELESS and name not in SLOW
    return End(file, place, "beginning" if short else "none", alone if short else cell)


def ends_of(file: str) -> list[End]:
    """How each entry of a file of stored runs is covered."""
    return [end_of(file, place) for place in range(len(entries(file)))]


@cache
def stored_file(file: str) -> File:
    """A file of stored runs by its name, with its declaration and its code."""
    return File(FILES[file], ROOT, ROOT / "src")


@cache
def entries(file: str) -> tuple[Entry, ...]:
    """The entries of a file of stored runs, by its name."""
    return tuple(stored_file(file).entries.values())


def key_of(entry: Entry) -> str:
    """The name of an entry's states in their file."""
    return str(digest(caches.plain(entry.configuration)))[:12]


def states_of(file: str, place: int) -> Any:
    """The states of an entry's trainings, in their order; none where there are none."""
    return states.unpacked(arrays(file), key_of(entries(file)[place]))


@cache
def arrays(file: str) -> dict[str, Any]:
    """The states that belong to a file, packed; to be written as they are."""
    path = FOLDER / f"{file}.npz"
    return dict(np.load(path)) if path.is_file() else {}


def make_states(file: str, place: int) -> bool:
    """Run one entry and keep its states if its end is found again from there; say so."""
    entry, keeping = entries(file)[place], states.Keeping(BACK[file])
    with caches.attached(keeping):
        stored_file(file).runs.bound(ROOT)(entry.configuration)
    for state in keeping.states:
        state["parts"].pop("pool", None)  # nothing reads it after the end
    key, end = key_of(entry), End(file, place, "state", entry.configuration)
    packed = states.state_arrays(keeping.states, key)
    apart = end.disagreements(entry.result, end.again(states.unpacked(packed, key)))
    print(f"{end.name}: {sum(x.nbytes for x in packed.values())} bytes", *apart[:4], flush=True)
    if not apart:
        arrays(file).update(packed)
        np.savez_compressed(FOLDER / f"{file}.npz", **arrays(file))
    return not apart


def follow(book: JudgedBook) -> None:
    """Have files of stored runs go on whose code changed, if it ends cheap runs as they ended."""
    for file, path in FILES.items():
        runs, code = book.record.runs[path], stored_file(file).code
        if code == runs.same[-1]:
            continue
        ends = sorted(ends_of(file), key=lambda end: get_args(Kind).index(end.kind))
        least = min(ends, key=lambda end: COSTS[path][end.name].seconds)
        tried = [end for end in ends if end.kind != "none"][:3] or [replace(least, kind="whole")]
        apart = [e for e in tried if e.disagreements(entries(file)[e.place].result, e.again())]
        print(f"{path}: {'its code ends runs otherwise' if apart else 'as before'}")
        if not apart:
            book.keep(replace(runs, same=(*runs.same, code)))


def main(file: str, *places: str) -> int:
    """Make states; return how many disagree."""
    torch.set_num_threads(1)
    wanted = places or [end.place for end in ends_of(file) if end.kind == "none"]
    return sum(not make_states(file, int(place)) for place in wanted)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
