"""Looped networks of fixed precision: their parameters, what they print and weigh, their wiring.

Units are 0 or 1 and weights are -1, 0 or 1. All units start at 0, but for a constant one, and step
together: a unit is 1 if its weighted inputs sum to more than 0. Only weights that are not 0 are
listed; a weight that many units share is one parameter.

A unit has a species and an index. Units of equal index make a cell; cells are interchangeable. In
a species that is a tape the index is a place on an endless line, and private weights touch place 0
only: otherwise the address of one weight could hold any number of bits.

Enumeration of all small looped networks, and the prior over strings that they give.

Networks of ternary weights on a few units with biases, all starting at 0; unit 0 prints at every
step. A unit's row of weights matters through its truth table alone, so a network runs as a walk
over states with four look-ups a step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float, Int, Real, UInt8
from scipy.sparse import csr_array
from scipy.stats import rankdata

from emergence.running import loop
from emergence.running.memo import resumable

Link = Literal["each", "left", "right", "broadcast", "pool"]
LINKS: tuple[Link, ...] = get_args(Link)

ONE, OUT, GATE = 0, 1, 2  # species whose unit 0 is constant, is printed, says when to print


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its species and its index."""

    species: int
    index: int


class Private(NamedTuple):
    """A weight of one connection."""

    target: Unit
    source: Unit
    sign: int


class Shared(NamedTuple):
    """A weight that all units of the target species share.

    `each`, `left`, `right`: from the source of the same index, one less, one more. `broadcast`:
    from the source's unit 0. `pool`: into the target's unit 0 alone, from all sources.
    """

    target: int
    source: int
    link: Link
    sign: int


@dataclass(frozen=True)
class LoopedNetwork:
    """A looped network as the list of its weights; ValueError for one that breaks a rule."""

    private: frozenset[Private]
    shared: frozenset[Shared]
    tapes: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if any(weight.sign not in (-1, 1) for weight in self.weights):
            raise ValueError("a listed weight is -1 or 1")
        if len({weight[:2] for weight in self.private}) < len(self.private):
            raise ValueError("a connection has one private weight")
        if len({weight[:3] for weight in self.shared}) < len(self.shared):
            raise ValueError("a connection has one shared weight")
        units = [unit for weight in self.private for unit in weight[:2]]
        if any(unit.species in self.tapes and unit.index for unit in units):
            raise ValueError("private weights touch a tape at its place 0 only")
        if any(unit.index < 0 or unit.species < 0 for unit in units):
            raise ValueError("a species or an index is negative")
        for weight in self.shared:
            self._check(weight)

    def _check(self, weight: Shared) -> None:
        ends = {weight.target in self.tapes, weight.source in self.tapes}
        if weight.link in ("each", "left", "right") and len(ends) == 2:
            raise ValueError(f"{weight} joins a tape and cells place by place")
        if weight.link in ("left", "right") and ends == {False}:
            raise ValueError(f"{weight} needs an order, and cells have none")
        if weight.link == "pool" and weight.source in self.tapes:
            raise ValueError(f"{weight} sums an endless tape")

    @property
    def weights(self) -> tuple[Private | Shared, ...]:
        """All weights that are not 0, private ones first."""
        return (*self.private, *self.shared)

    @property
    def weight_count(self) -> int:
        """W, the number of weights that are not 0."""
        return len(self.private) + len(self.shared)

    @property
    def species_count(self) -> int:
        """S, the number of species."""
        ends = [unit.species for weight in self.private for unit in weight[:2]]
        ends += [species for weight in self.shared for species in weight[:2]]
        return 1 + max((GATE, *ends, *self.tapes))

    @property
    def cell_count(self) -> int:
        """One more than the greatest index that a private weight touches."""
        touched = (unit.index for weight in self.private for unit in weight[:2])
        return 1 + max(touched, default=0)


def states_over_time(
    network: LoopedNetwork, steps: int, watch: Sequence[int] = (OUT,), *, reach: int | None = None
) -> list[UInt8[np.ndarray, "times units"]]:
    """The states of the watched species at times 0 to `steps`.

    A tape is cut off `reach` places (default: `steps`) from its middle. Influence moves one place
    a step, so place p is exact up to time reach - |p|.
    """
    reach = steps if reach is None else reach
    cells = np.arange(network.cell_count), np.arange(2 * reach + 1)
    places: list[Int[np.ndarray, " _"]] = []  # of each species in the state
    for species in range(network.species_count):
        first = places[-1][-1] + 1 if places else 0
        places.append(first + cells[species in network.tapes])
    matrix = _connections(network, places, reach)
    state = np.zeros(places[-1][-1] + 1, dtype=np.int32)
    seen = [np.zeros((steps + 1, len(places[species])), dtype=np.uint8) for species in watch]
    for time in range(steps + 1):
        state = (matrix @ state > 0).astype(np.int32)  # all 0 before time 0
        state[places[ONE][0]] = 1
        for record, species in zip(seen, watch, strict=True):
            record[time] = state[places[species]]
    return seen


def _connections(
    network: LoopedNetwork, places: Sequence[Int[np.ndarray, " _"]], reach: int
) -> csr_array:
    """All connections as a sparse matrix, target by source; weights on one connection add up."""
    none = places[ONE][:0]
    joined: list[tuple[np.ndarray, np.ndarray, int]] = [(none, none, 0)]

    def place(unit: Unit) -> np.ndarray:
        middle = reach if unit.species in network.tapes else 0
        return places[unit.species][middle + unit.index, None]

    for target, source, sign in network.private:
        joined.append((place(target), place(source), sign))
    for link in network.shared:
        to, of = places[link.target], places[link.source]
        if link.link == "broadcast":
            of = np.full_like(to, place(Unit(link.source, 0)))
        elif link.link == "pool":
            to = np.full_like(of, place(Unit(link.target, 0)))
        elif link.link == "left":
            to, of = to[1:], of[:-1]
        elif link.link == "right":
            to, of = to[:-1], of[1:]
        joined.append((to, of, link.sign))
    size = places[-1][-1] + 1
    rows, columns = (np.concatenate([each[i] for each in joined]) for i in (0, 1))
    signs = np.concatenate([np.full(len(to), sign, dtype=np.int32) for to, _, sign in joined])
    return csr_array((signs, (rows, columns)), shape=(size, size))


def printed_string(network: LoopedNetwork, steps: int) -> UInt8[np.ndarray, " bits"]:
    """The string printed in so many steps: `out` when `gate` is on, or always if none sets it."""
    out, gate = (states[1:, 0] for states in states_over_time(network, steps, (OUT, GATE)))
    targets = {weight.target.species for weight in network.private}
    targets |= {weight.target for weight in network.shared}
    return out[gate == 1] if GATE in targets else out


End = str | tuple[str, int]  # a species' unit 0, or a species and an index


class Wiring:
    """A network under construction: species have names and are numbered as they appear."""

    def __init__(self, tapes: Sequence[str]) -> None:
        self._names = ["one", "out", "gate", *tapes]
        self._tapes = frozenset(range(3, 3 + len(tapes)))
        self._private: list[Private] = []
        self._shared: list[Shared] = []

    def wire(self, target: End, source: End, sign: int = 1) -> None:
        """Add a weight of one connection."""
        self._private.append(Private(self._unit(target), self._unit(source), sign))

    def share(self, target: str, source: str, link: Link = "each", sign: int = 1) -> None:
        """Add a weight that all units of the target share."""
        self._shared.append(Shared(self._number(target), self._number(source), link, sign))

    def build(self) -> LoopedNetwork:
        """The network."""
        return LoopedNetwork(frozenset(self._private), frozenset(self._shared), self._tapes)

    def _number(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def _unit(self, end: End) -> Unit:
        name, index = (end, 0) if isinstance(end, str) else end
        return Unit(self._number(name), index)


def add_and(wiring: Wiring, target: str, source: str, link: Link, signal: str) -> None:
    """The target is on, a step later, where the source's linked unit and the signal's unit 0 are.

    Three weights that the target's units share.
    """
    wiring.share(target, source, link)
    wiring.share(target, signal, "broadcast")
    wiring.share(target, "one", "broadcast", -1)


class Rows(NamedTuple):
    """All rows of weights of one unit: one weight a unit and the bias."""

    weights: Int[np.ndarray, "rows inputs"]
    price: Int[np.ndarray, " rows"]
    tables: UInt8[np.ndarray, "rows states"]


def all_rows(units: int) -> Rows:
    """Every ternary row, its number of non-zeros, and its next state by state."""
    weights = np.array(list(product((-1, 0, 1), repeat=units + 1)))
    states = np.arange(2**units)[:, None] >> np.arange(units) & 1
    total = weights[:, :-1] @ states.T + weights[:, -1:]
    return Rows(weights, np.abs(weights).sum(axis=1), (total > 0).astype(np.uint8))


Batch = tuple[int, Int[np.ndarray, "units n"]]


def networks(rows: Rows, units: int, most: int) -> Iterator[Batch]:
    """All networks of at most so many weights: W and, unit by unit, the number of its row."""
    by_price = [np.flatnonzero(rows.price == p) for p in range(rows.price.max() + 1)]
    for prices in product(range(len(by_price)), repeat=units):
        if sum(prices) <= most:
            grid = np.meshgrid(*(by_price[p] for p in prices), indexing="ij")
            yield sum(prices), np.stack([part.ravel() for part in grid])


def walk(rows: Rows, chosen: Int[np.ndarray, "units n"], n_bits: int) -> Int[np.ndarray, " n"]:
    """What each network prints at times 1 to `n_bits`, as a number, the first bit the highest."""
    state = np.zeros(chosen.shape[1], dtype=np.intp)
    word = np.zeros(chosen.shape[1], dtype=np.int64)
    for _ in range(n_bits):
        state = sum(
            (rows.tables[row, state].astype(np.intp) << unit for unit, row in enumerate(chosen)),
            start=np.zeros_like(state),
        )
        word = 2 * word + (state & 1)
    return word


@resumable
def networks_per_string(units: int, most: int, n_bits: int) -> Int[np.ndarray, "weights strings"]:
    """How many networks of each W print each string."""
    rows = all_rows(units)
    table = np.zeros((most + 1, 2**n_bits), dtype=np.int64)
    batches = list(networks(rows, units, most))
    shared = torch.from_numpy(table)  # the same memory
    for i in loop.steps(len(batches), "small networks", table=shared):
        weights, chosen = batches[i]
        table[weights] += np.bincount(walk(rows, chosen, n_bits), minlength=2**n_bits)
    return table


class Prior(NamedTuple):
    """Of each string that is printed: itself, the least W that prints it, and -log2 Q."""

    strings: Int[np.ndarray, " printed"]
    least: Int[np.ndarray, " printed"]
    surprise: Float[np.ndarray, " printed"]


def prior(table: Int[np.ndarray, "weights strings"], decay: float) -> Prior:
    """The prior over strings when a network of W weights has weight exp(-decay W)."""
    strings = np.flatnonzero(table.any(axis=0))
    shares = np.exp(-decay * np.arange(len(table))) @ table[:, strings]
    return Prior(strings, (table[:, strings] > 0).argmax(axis=0), -np.log2(shares / shares.sum()))


def spearman(x: Real[np.ndarray, " n"], y: Real[np.ndarray, " n"]) -> float:
    """Spearman's rank correlation, ties at their mean rank."""
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
