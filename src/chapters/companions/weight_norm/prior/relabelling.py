"""Relabelled copies of a network, and what they add to its weight in the prior of weight decay."""

import math
from collections.abc import Sequence
from itertools import permutations

from ..model import LINKS, Network, Private, Unit, printed
from ..permutations import log2_factorial


def relabelled(network: Network, places: Sequence[int]) -> Network:
    """The network with cell i moved to `places[i]`; ValueError unless cell 0 stays.

    Cells are interchangeable but for cell 0, which holds the constant, `out`, `gate` and the tapes.
    """
    if places[0] != 0 or sorted(places) != list(range(network.cell_count)):
        raise ValueError("a relabelling is a permutation of the cells that leaves cell 0")

    def moved(unit: Unit) -> Unit:
        return Unit(unit.species, places[unit.index])

    private = frozenset(Private(moved(t), moved(s), sign) for t, s, sign in network.private)
    return Network(private, network.shared, network.tapes, network.names)


def surprise(weights: int, species: int, cells: int, *, copies: bool) -> float:
    """An upper bound on -log2 Q of what a network prints, in bits, from the network alone.

    Q draws every weight of an architecture with so many species and cells from {-1, 0, 1} with
    probability proportional to exp(-lambda |w|), where lambda = ln(2 S^2 N). With `copies` all
    (N - 1)! relabellings count, which is exact for a network that no relabelling leaves alone.
    """
    ratio = 1 / (2 * species**2 * cells)  # exp(-lambda)
    slots = (species * cells) ** 2 + len(LINKS) * species**2
    bits = -weights * math.log2(ratio) + slots * math.log1p(2 * ratio) / math.log(2)
    return bits - (log2_factorial(cells - 1) if copies else 0.0)


def per_command(species: int) -> float:
    """The limit of `surprise` a cell, copies counted, where W = N + O(1)."""
    return 2 * math.log2(species) + 1 + 2 / math.log(2)


def count_copies(network: Network, steps: int) -> tuple[int, int]:
    """Of all relabellings: how many print the same in so many steps, how many networks they are."""
    wanted = printed(network, steps).tolist()
    copies = [
        relabelled(network, (0, *places)) for places in permutations(range(1, network.cell_count))
    ]
    return sum(printed(copy, steps).tolist() == wanted for copy in copies), len(set(copies))
