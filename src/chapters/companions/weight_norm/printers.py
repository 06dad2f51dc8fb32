"""Networks that print a given string: any one, a periodic one, or one that spells permutations.

The addresses of the last spell the permutations: this is why the bound needs its logarithm.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8

from .model import End, Network, Wiring, add_and, add_toggle, started


def literal(bits: Sequence[int]) -> Network:
    """Prints the bits and falls silent: one weight a bit and six more."""
    wiring = started()
    _add_program(wiring, bits, "start")
    return _printing(wiring)


def ring(period: Sequence[int]) -> Network:
    """Prints the bits again and again: one weight a bit of the period and seven more."""
    wiring = started()
    last = _add_program(wiring, period, "start")
    wiring.wire(("high" if period[0] else "low", 0), last)
    return _printing(wiring)


def _printing(wiring: Wiring) -> Network:
    """The network that prints a bit whenever the pulse is at its unit: three weights more."""
    wiring.share("out", "high", "pool")
    wiring.share("gate", "high", "pool")
    wiring.share("gate", "low", "pool")
    return wiring.build()


def _add_program(wiring: Wiring, bits: Sequence[int], source: End) -> End:
    """A chain of one weight a bit; a pulse of the source runs along it. Returns its last unit.

    Bit k is unit k of species `high` or `low`. All its weights are +1: the bit is in the address.
    """
    end = source
    for k, bit in enumerate(bits):
        unit = ("high" if bit else "low", k)
        wiring.wire(unit, end)
        end = unit
    return end


def permutation_network(permutations: Sequence[Sequence[int]]) -> Network:
    """Prints k permutations of N things, which share a chain and a delay line of N units each.

    A token waits in cell i. When it is told to leave it sends a pulse to unit pi(i) of the line
    and one to the line's top; the first is printed after pi(i) steps, the second after N + 1, and
    that one, every second pulse, tells the token to leave its next cell.
    """
    k, n = len(permutations), len(permutations[0])
    if any(sorted(p) != list(range(n)) for p in permutations):
        raise ValueError("these are not permutations of equally many things")
    wiring = started()
    for first in (("stay0", 0), ("line", 0), "odd"):
        wiring.wire(first, "start")
    top = n + 1
    for j in range(top):
        wiring.wire(("line", j), ("line", j + 1))
    wiring.wire("out", "line")
    add_toggle(wiring, "out")
    for m, permutation in enumerate(permutations):
        stay, leave = f"stay{m}", f"leave{m}"
        wiring.share(stay, stay)
        wiring.share(stay, "carry", "broadcast", -1)
        add_and(wiring, leave, stay, "each", "carry")
        wiring.share("mark", leave, "pool")
        if m:
            wiring.share(stay, f"leave{m - 1}")
        for i, j in enumerate(permutation):
            wiring.wire(("line", j), (leave, i))
    wiring.wire(("line", top), "mark")
    for i in range(n - 1):
        wiring.wire(("stay0", i + 1), (f"leave{k - 1}", i))
    return wiring.build()


def weight_count(n: int, k: int = 1) -> int:
    """W of `permutation_network`: (k + 2) N and a constant."""
    return (k + 2) * n + 7 * k + 15


def printing_steps(n: int, k: int = 1) -> int:
    """Steps until `permutation_network` has printed all."""
    return 3 + (n + 6) * (k * n + 1)


def read_permutations(string: UInt8[np.ndarray, " bits"], n: int) -> list[list[int]]:
    """The permutations that a string of `permutation_network` spells."""
    ones = np.flatnonzero(string)
    marks, pulses = ones[::2], ones[1::2]
    gaps = pulses - marks[: len(pulses)]
    return (gaps - gaps.min()).reshape(n, -1).T.tolist()  # cell by cell, in each k rounds


def log2_factorial(n: int) -> float:
    """log2 N!, for any N that a float can hold."""
    return math.lgamma(n + 1) / math.log(2)


def ratio(n: int, k: int = 1) -> float:
    """k log2 N! / (W log2 W): information over weights times their logarithm."""
    weights = weight_count(n, k)
    return k * log2_factorial(n) / (weights * math.log2(weights))
