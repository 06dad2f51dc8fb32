"""A second code of networks: a weight names the distance between its cells, not their numbers.

Cells may be numbered in any order, and in a good one most weights join neighbours. Symbols are
coded adaptively: each has a context and costs -log2 of the share that the symbol has had of it so
far. An arithmetic coder spends less than two bits more in all.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from .codec import gamma, read_gamma
from .model import LINKS, Network, Private, Shared, Unit


class Symbol(NamedTuple):
    """A symbol of an alphabet; without a context all are equally likely."""

    value: int
    size: int
    context: tuple[int | str, ...] | None = None


def encode(network: Network) -> list[Symbol]:
    """The symbols of a network. A cell tells its weights to itself and to cells before it."""
    species, cells = network.species_count, network.cell_count
    bits = [*gamma(species), *gamma(cells), *gamma(len(network.shared) + 1)]
    bits += [int(s in network.tapes) for s in range(species)]
    symbols = [Symbol(bit, 2) for bit in bits]
    for target, source, link, sign in sorted(network.shared):
        symbols += [Symbol(target, species), Symbol(source, species)]
        symbols += [Symbol(LINKS.index(link), len(LINKS)), Symbol(int(sign > 0), 2)]
    told: list[list[Private]] = [[] for _ in range(cells)]
    for weight in sorted(network.private, key=_place):
        told[max(weight.target.index, weight.source.index)].append(weight)
    entered = species  # the last target before this cell: where a chain goes on
    for at, here in enumerate(told):
        last = species
        for count, (goal, origin, plus) in enumerate(here):
            symbols.append(_more(1, count, last))
            symbols.append(Symbol(origin.species, species, ("source", last, entered)))
            last = origin.species
            way = 1 + (goal.index > origin.index) - (goal.index < origin.index)
            symbols.append(Symbol(way, 3, ("way", last)))
            if way != 1:
                back = at - min(goal.index, origin.index)
                power = back.bit_length() - 1
                symbols.append(Symbol(power, cells.bit_length(), ("power", last, way)))
                symbols.append(Symbol(back - (1 << power), 1 << power))
            symbols.append(Symbol(goal.species, species, ("target", last, way)))
            symbols.append(Symbol(int(plus > 0), 2, ("sign", last, goal.species)))
        symbols.append(_more(0, len(here), last))
        entered = here[-1].target.species if here else species
    return symbols


def decode(values: Sequence[int]) -> Network:
    """The network whose symbols have these values."""
    stream = iter(values)
    species, cells, shared_count = (read_gamma(stream) for _ in range(3))
    tapes = frozenset(s for s in range(species) if next(stream))
    shared = [
        Shared(next(stream), next(stream), LINKS[next(stream)], 2 * next(stream) - 1)
        for _ in range(shared_count - 1)
    ]
    private = []
    for at in range(cells):
        while next(stream):
            source, way = next(stream), next(stream)
            ends = [at, at]
            if way != 1:
                ends[way // 2] -= (1 << next(stream)) + next(stream)  # 0: target, 1: source
            target, sign = next(stream), 2 * next(stream) - 1
            private.append(Private(Unit(target, ends[0]), Unit(source, ends[1]), sign))
    return Network(frozenset(private), frozenset(shared), tapes)


def length(symbols: Sequence[Symbol]) -> float:
    """Bits of these symbols, with two for the arithmetic coder."""
    seen: dict[tuple[int | str, ...], Counter[int]] = defaultdict(Counter)
    bits = 2.0
    for value, size, context in symbols:
        if context is None:
            bits += math.log2(size)
            continue
        before = seen[context]
        unseen = 0.5 if size == 2 else 1 / size  # what a symbol counts before it is seen
        bits -= math.log2((before[value] + unseen) / (before.total() + unseen * size))
        before[value] += 1
    return bits


def _more(value: int, count: int, last: int) -> Symbol:
    """Whether a cell has another weight to tell."""
    return Symbol(value, 2, ("more", min(count, 9), last))


def _place(weight: Private) -> tuple[int, ...]:
    (target, i), (source, j) = ((end.species, end.index) for end in weight[:2])
    return source, target, i, j
