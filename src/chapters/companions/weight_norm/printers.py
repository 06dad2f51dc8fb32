"""Networks that print a given string: any one, a periodic one, zeros before a one."""

from collections.abc import Sequence
from typing import NamedTuple

from .model import Network
from .wiring import Wiring, add_program, add_toggle, started


def literal(bits: Sequence[int]) -> Network:
    """Prints the bits and falls silent: one weight a bit and six more."""
    wiring = started()
    add_program(wiring, bits, "start")
    return _printing(wiring)


def ring(period: Sequence[int]) -> Network:
    """Prints the bits again and again: one weight a bit of the period and seven more."""
    wiring = started()
    last = add_program(wiring, period, "start")
    wiring.wire(("high" if period[0] else "low", 0), last)
    return _printing(wiring)


def _printing(wiring: Wiring) -> Network:
    """The network that prints a bit whenever the pulse is at its unit: three weights more."""
    wiring.share("out", "high", "pool")
    wiring.share("gate", "high", "pool")
    wiring.share("gate", "low", "pool")
    return wiring.build()


class Count(NamedTuple):
    """How a counter is set: `stages` toggles, those in `preset` odd at first, a `delay` or not."""

    stages: int
    preset: int
    delay: bool


def count_for(zeros: int) -> Count:
    """The counter that prints so many zeros before its 1; ValueError for fewer than 3.

    Tick M comes at time 2M and, with k stages preset to 2^k - M, runs through all of them: the 1
    is printed at 2M + k + 1, or a step later with the delay.
    """
    for stages in range(1, zeros):
        for delay in (False, True):
            ticks, odd = divmod(zeros - stages - delay, 2)
            if not odd and 1 <= ticks <= 2**stages:
                return Count(stages, 2**stages - ticks, delay)
    raise ValueError(f"a counter prints at least 3 zeros, got {zeros}")


def zeros_then_one(zeros: int) -> Network:
    """Prints so many zeros and a one: O(log zeros) weights, a chain of toggles as its counter."""
    stages, preset, delay = count_for(zeros)
    wiring = started()
    wiring.wire("tick", "start")
    wiring.wire("tock", "tick")
    wiring.wire("tick", "tock")
    for i in range(stages):
        add_toggle(wiring, ("carry", i - 1) if i else "tick", i)
        if preset >> i & 1:
            wiring.wire(("odd", i), "start")
    last = ("carry", stages - 1)
    if delay:
        wiring.wire("late", last)
    wiring.wire("out", "late" if delay else last)
    return wiring.build()
