"""Networks that print a given string: any one, or a periodic one."""

from collections.abc import Sequence

from .model import Network
from .wiring import End, Wiring, started


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
