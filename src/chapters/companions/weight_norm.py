"""Neural weight norm and Kolmogorov complexity: looped networks of ternary weights.

Units are 0 or 1 and weights are -1, 0 or 1. All units start at 0, but for a constant one, and step
together: a unit is 1 if its weighted inputs sum to more than 0. Only weights that are not 0 are
listed; a weight that many units share is one parameter.

A unit has a species and an index. Units of equal index make a cell; cells are interchangeable. In
a species that is a tape the index is a place on an endless line, and private weights touch place 0
only: otherwise the address of one weight could hold any number of bits.

Only an abstract of the source is known, so all definitions and sizes are ours.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Real, UInt8
from scipy.stats import rankdata
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import resumable

Link = Literal["each", "left", "right", "broadcast", "pool"]
LINKS: tuple[Link, ...] = get_args(Link)
NAMED = "one", "out", "gate"  # species whose unit 0 is constant, is printed, says when to print


class Unit(NamedTuple):
    """A unit of a looped network."""

    species: str
    cell: int = 0


class Private(NamedTuple):
    """A weight of one connection."""

    target: Unit
    source: Unit
    sign: int = 1


class Shared(NamedTuple):
    """A weight that all units of the target species share.

    `each`, `left`, `right`: from the source of the same index, one less, one more. `broadcast`:
    from the source's unit 0. `pool`: into the target's unit 0 alone, from all sources.
    """

    target: str
    source: str
    link: Link = "each"
    sign: int = 1


@dataclass(frozen=True)
class LoopedNetwork:
    """A looped network as the set of its weights that are not 0."""

    private: frozenset[Private]
    shared: frozenset[Shared]
    tapes: frozenset[str]

    @property
    def weight_count(self) -> int:
        """W, the number of weights that are not 0."""
        return len(self.private) + len(self.shared)

    @property
    def species_count(self) -> int:
        """S, the number of species."""
        units = {unit.species for weight in self.private for unit in weight[:2]}
        ends = {species for weight in self.shared for species in weight[:2]}
        return len(units | ends | self.tapes | {*NAMED})

    @property
    def cell_count(self) -> int:
        """One more than the greatest index that a private weight touches."""
        touched = (unit.cell for weight in self.private for unit in weight[:2])
        return 1 + max(touched, default=0)


# A universal machine of constant weight: a cyclic tag system that prints, on a shared tape.
#
# The data are a queue of bits, at first a single 1. A program is a list of commands, some run once
# and the rest for ever. All but one read the front of the queue, which is place 0 of the tape, and
# do nothing if it is 0. Deleting moves all data one place down.
Command = Literal["del", "add0", "add1", "say0", "say1"]
COMMANDS: tuple[Command, ...] = get_args(Command)
PERIOD = 3  # steps a command
TAPES = frozenset({"data", "end", "zero", "fill", "set", "back", "on", "off"})


def _both(target: str, source: str, link: Link, signal: str) -> list[Shared]:
    """The target is on, a step later, where the source's linked unit and the signal's unit 0 are.

    Three weights that the target's units share.
    """
    on, bias = Shared(target, signal, "broadcast"), Shared(target, "one", "broadcast", -1)
    return [Shared(target, source, link), on, bias]


# What the pulse in the program says, a step later; all but `delete` if the front is 1.
SIGNALS = {
    "append": ("add0", "add1"),
    "append1": ("add1",),
    "gate": ("say0", "say1"),
}
MACHINE = (
    *(Shared("wait1", command) for command in COMMANDS),
    Shared("wait", "wait1"),
    Shared("delete", "del", "pool"),
    *(Shared(signal, command, "pool") for signal in SIGNALS for command in SIGNALS[signal]),
    Shared("out", "say1", "pool"),
    # a bit a place: it stays, takes its right neighbour's value, or is set beyond the end
    *(Shared("data", source) for source in ("data", "fill", "set")),
    Shared("data", "zero", sign=-1),
    *_both("fill", "data", "right", "delete"),
    Shared("zero", "delete", "broadcast"),
    Shared("zero", "data", "right", -1),
    *_both("set", "end", "left", "append1"),
    # a mark at the last place of the queue
    *(Shared("end", source) for source in ("end", "back", "on")),
    Shared("end", "off", sign=-1),
    *_both("back", "end", "right", "delete"),
    *_both("on", "end", "left", "append"),
    *_both("off", "end", "each", "delete"),
    Shared("off", "append", "broadcast"),
)


def tag_machine(once: Sequence[Command], loop: Sequence[Command]) -> LoopedNetwork:
    """A network that runs `once`, then `loop` for ever: one weight per command and 51 more.

    Raises ValueError if there is no loop.
    """
    if not loop:
        raise ValueError("a program needs a loop")
    program = [*once, *loop]
    ends = [Unit("start"), *(Unit("wait", k) for k in range(len(program)))]
    entered = [*(Unit(command, k) for k, command in enumerate(program)), Unit(loop[0], len(once))]
    named = [("begun", "one", 1), ("data", "start", 1), ("end", "start", 1)]
    named += [("start", "one", 1), ("start", "begun", -1)]  # on at time 1 and never again
    for signal in SIGNALS:
        named += [(signal, "data", 1), (signal, "one", -1)]
    private = [Private(Unit(target), Unit(source), sign) for target, source, sign in named]
    private += map(Private, entered, ends)
    return LoopedNetwork(frozenset(private), frozenset(MACHINE), TAPES)


def surprise(weights: int, species: int, cells: int, *, copies: bool) -> float:
    """An upper bound on -log2 Q of what a network prints, in bits, from the network alone.

    Q draws every weight of an architecture with so many species and cells from {-1, 0, 1} with
    probability proportional to exp(-lambda |w|), where lambda = ln(2 S^2 N). With `copies` all
    (N - 1)! relabellings count, which is exact for a network that no relabelling leaves alone.
    """
    ratio = 1 / (2 * species**2 * cells)  # exp(-lambda)
    slots = (species * cells) ** 2 + len(LINKS) * species**2
    bits = -weights * math.log2(ratio) + slots * math.log1p(2 * ratio) / math.log(2)
    return bits - (math.lgamma(cells) / math.log(2) if copies else 0.0)


def per_command(species: int) -> float:
    """The limit of `surprise` a cell, copies counted, where W = N + O(1)."""
    return 2 * math.log2(species) + 1 + 2 / math.log(2)


# Enumeration of all small looped networks, and the prior over strings that they give.
#
# Networks of ternary weights on a few units with biases, all starting at 0; unit 0 prints at every
# step. A unit's row of weights matters through its truth table alone, so a network runs as a walk
# over states with four look-ups a step.
def all_rows(
    units: int,
) -> tuple[Int[np.ndarray, " rows"], UInt8[np.ndarray, "rows states"]]:
    """Of every ternary row of weights and bias its number of non-zeros, and its truth table."""
    weights = np.array(list(product((-1, 0, 1), repeat=units + 1)))
    states = np.arange(2**units)[:, None] >> np.arange(units) & 1
    total = weights[:, :-1] @ states.T + weights[:, -1:]
    return np.abs(weights).sum(axis=1), (total > 0).astype(np.uint8)


def networks(
    prices: Int[np.ndarray, " rows"], units: int, most: int
) -> Iterator[tuple[int, Int[np.ndarray, "units n"]]]:
    """All networks of at most so many weights: W and, unit by unit, the number of its row."""
    by_price = [np.flatnonzero(prices == price) for price in range(prices.max() + 1)]
    for each in product(range(len(by_price)), repeat=units):
        if sum(each) <= most:
            grid = np.meshgrid(*(by_price[price] for price in each), indexing="ij")
            yield sum(each), np.stack([part.ravel() for part in grid])


def walk(
    tables: UInt8[np.ndarray, "rows states"], chosen: Int[np.ndarray, "units n"], n_bits: int
) -> Int[np.ndarray, " n"]:
    """What each network prints at times 1 to `n_bits`, as a number, the first bit the highest."""
    state = np.zeros(chosen.shape[1], dtype=np.intp)
    word = np.zeros(chosen.shape[1], dtype=np.int64)
    for _ in range(n_bits):
        state = sum(
            (tables[row, state].astype(np.intp) << unit for unit, row in enumerate(chosen)),
            start=np.zeros_like(state),
        )
        word = 2 * word + (state & 1)
    return word


@resumable
def networks_per_string(units: int, most: int, n_bits: int) -> Int[np.ndarray, "weights strings"]:
    """How many networks of each W print each string."""
    prices, tables = all_rows(units)
    table = np.zeros((most + 1, 2**n_bits), dtype=np.int64)
    batches = list(networks(prices, units, most))
    shared = torch.from_numpy(table)  # the same memory
    for i in loop.steps(len(batches), "small networks", table=shared):
        weights, chosen = batches[i]
        table[weights] += np.bincount(walk(tables, chosen, n_bits), minlength=2**n_bits)
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


@dataclass(frozen=True)
class TrainedPrinters:
    """Looped networks of real weights that learn to print strings."""

    units: int = 6
    runs: int = 4  # a string; the least norm counts
    trained_steps: int = 1000  # three times as many change no median norm by more than 3%
    learning_rate: float = 0.03
    decay: float = 1e-3  # the least that leaves nearly all strings learned


class TrainedNetworks(NamedTuple):
    """At the end of training: the sum of squared weights, and which print all bits right."""

    norm: Float[Tensor, "strings runs"]
    printed: Bool[Tensor, "strings runs"]


def unit_logits(
    weights: Float[Tensor, "nets units units"], bias: Float[Tensor, "nets units"], n_bits: int
) -> Float[Tensor, "nets bits"]:
    """What unit 0 is about to show at times 1 to `n_bits`; units are sigmoids and start at 0."""
    state = torch.zeros_like(bias)
    columns = []
    for _ in range(n_bits):
        field = torch.baddbmm(bias[..., None], weights, state[..., None])[..., 0]
        columns.append(field[:, 0])
        state = field.sigmoid()
    return torch.stack(columns, dim=1)


@resumable
def train_looped(
    strings: Sequence[int], n_bits: int, settings: TrainedPrinters, *, decay: float, seed: int
) -> TrainedNetworks:
    """Adam on mean cross-entropy plus `decay` times the sum of squared weights, all nets at once.

    A string is a number whose highest bit is printed first. Weights start as N(0, 1).
    """
    stream = torch.Generator().manual_seed(seed)
    units, runs = settings.units, settings.runs
    nets, steps = len(strings) * runs, settings.trained_steps
    weights = torch.randn(nets, units, units, generator=stream).requires_grad_()
    bias = torch.randn(nets, units, generator=stream).requires_grad_()
    wanted = bits_of(strings, n_bits).repeat_interleave(runs, dim=0)
    optimiser = torch.optim.Adam((weights, bias), lr=settings.learning_rate)
    for step in loop.steps(steps, "strings", weights=weights, bias=bias, optimiser=optimiser):
        optimiser.zero_grad()
        shown = unit_logits(weights, bias, n_bits)
        fit = torch.nn.functional.binary_cross_entropy_with_logits(shown, wanted, reduction="none")
        loss = fit.mean(dim=1).sum() + decay * (weights.square().sum() + bias.square().sum())
        loss.backward()
        optimiser.step()
        loop.check_finite(loss.item(), "strings", step)
    with torch.no_grad():
        right = ((unit_logits(weights, bias, n_bits) > 0) == (wanted == 1)).all(dim=1)
        norm = weights.square().sum(dim=(1, 2)) + bias.square().sum(dim=1)
    return TrainedNetworks(norm.view(-1, runs), right.view(-1, runs))


def bits_of(strings: Sequence[int], n_bits: int) -> Float[Tensor, "strings bits"]:
    """The bits of each string, the highest first."""
    numbers: Int[Tensor, " strings"] = torch.tensor(strings)
    return (numbers[:, None] >> torch.arange(n_bits - 1, -1, -1) & 1).float()
