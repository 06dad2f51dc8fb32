"""The code of a network in bits: its non-zero weights by their addresses, and length bounds.

Private weights are numbered by their connection, sorted, and the gaps are written in Rice's code,
so that an address costs about log2 W bits instead of the 2 log2 W of its two ends. A network is
tidy if its cells and species are numbered without gaps and those without a weight are gone.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import count, pairwise

from .model import LINKS, Network, Private, Shared, Unit


def encode(network: Network) -> list[int]:
    """The network as bits that end themselves; names are left out."""
    species, cells = network.species_count, network.cell_count
    bits = [*gamma(species), *gamma(cells)]
    bits += [int(s in network.tapes) for s in range(species)]
    bits += gamma(len(network.shared) + 1)
    width = _width(species)
    for target, source, link, sign in sorted(network.shared):
        bits += [*_fixed(target, width), *_fixed(source, width)]
        bits += [*_fixed(LINKS.index(link), _width(len(LINKS))), int(sign > 0)]
    units = species * cells
    numbered = sorted(
        ((t.species * cells + t.index) * units + s.species * cells + s.index, sign)
        for t, s, sign in network.private
    )
    bits += gamma(len(numbered) + 1)
    rest = _rice_width(units, len(numbered))
    for (before, _), (address, sign) in pairwise([(-1, 0), *numbered]):
        bits += [*_rice(address - before - 1, rest), int(sign > 0)]
    return bits


def decode(bits: Iterable[int]) -> Network:
    """The network of these bits; ValueError if they are no network's code, or more than one."""
    stream = iter(bits)
    species, cells = read_gamma(stream), read_gamma(stream)
    tapes = frozenset(s for s in range(species) if _next(stream))
    width = _width(species)
    shared = []
    for _ in range(read_gamma(stream) - 1):
        target, source = _read_fixed(stream, width), _read_fixed(stream, width)
        link = _read_fixed(stream, _width(len(LINKS)))
        if link >= len(LINKS):
            raise ValueError("these bits name a link that does not exist")
        shared.append(Shared(target, source, LINKS[link], 2 * _next(stream) - 1))
    weights = read_gamma(stream) - 1
    units = species * cells
    rest = _rice_width(units, weights)
    private, address = [], -1
    for _ in range(weights):
        address += 1 + _read_rice(stream, rest)
        to, of = (Unit(*divmod(end, cells)) for end in divmod(address, units))
        private.append(Private(to, of, 2 * _next(stream) - 1))
    if next(stream, None) is not None:
        raise ValueError("bits are left over")
    return Network(frozenset(private), frozenset(shared), tapes)


def bound(weights: int, species: int) -> float:
    """No tidy network of W >= 1 weights and S species is longer: W log2 W + W (2 log2 S + 8) + ...

    With P private weights there are at most S (2P + 1) units, so the mean gap r satisfies
    log2 r <= log2 P + 2 log2 S + 3.2; Rice's code adds at most 3 bits a weight and the sign is one.
    """
    linear = weights * (2 * math.log2(species) + 8)
    head = species + 2 * math.log2(species) + 6 * math.log2(2 * weights + 2) + 4
    return weights * math.log2(weights) + linear + head


LINEAR = 39


def general_bound(weights: int) -> float:
    """No tidy network of W >= 1 weights is longer, because it has at most 2W + 3 species."""
    return weights * (3 * math.log2(weights) + LINEAR)


def _width(values: int) -> int:
    """Bits that tell so many values apart."""
    return (values - 1).bit_length()


def _rice_width(units: int, weights: int) -> int:
    """The bits of a gap that are written out: the logarithm of the mean gap."""
    return max(0, (units * units // max(1, weights)).bit_length() - 1)


def _fixed(value: int, width: int) -> list[int]:
    return [value >> i & 1 for i in reversed(range(width))]


def gamma(value: int) -> list[int]:
    """Elias's gamma code of a positive number: 2 log2 + 1 bits at most."""
    return [0] * (value.bit_length() - 1) + _fixed(value, value.bit_length())


def _rice(value: int, width: int) -> list[int]:
    return [1] * (value >> width) + [0] + _fixed(value & ((1 << width) - 1), width)


def _next(stream: Iterator[int]) -> int:
    bit = next(stream, None)
    if bit is None:
        raise ValueError("the bits end within a network")
    return bit


def _read_fixed(stream: Iterator[int], width: int) -> int:
    return sum(_next(stream) << i for i in reversed(range(width)))


def _read_run(stream: Iterator[int], end: int) -> int:
    """How many bits come before the next one that is `end`, which is read too."""
    return next(n for n in count() if _next(stream) == end)


def read_gamma(stream: Iterator[int]) -> int:
    """The number whose gamma code comes next; ValueError if the stream ends within it."""
    zeros = _read_run(stream, 1)
    return (1 << zeros) + _read_fixed(stream, zeros)


def _read_rice(stream: Iterator[int], width: int) -> int:
    return (_read_run(stream, 0) << width) + _read_fixed(stream, width)
