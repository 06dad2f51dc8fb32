"""A network off the grid: one real weight holds any string."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

SATURATING = ("begun", "start", "held", "copy")  # min(1, max(0, sum)); `out` is a threshold


def packed(bits: Sequence[int]) -> Fraction:
    """A weight in (0, 1): the bits after the binary point, and a 1 so that no tie can occur."""
    return Fraction(int("".join(map(str, [*bits, 1])), 2), 2 ** (len(bits) + 1))


def real_network(weight: Any) -> dict[tuple[str, str], Any]:
    """A network of nine weights that prints the binary digits of one of them, one every two steps.

    `held` is what is left of the weight; `out` is its first digit; then held = 2 copy - out.
    """
    unity = type(weight)(1)
    return {
        ("begun", "one"): unity,
        ("start", "one"): unity,
        ("start", "begun"): -unity,
        ("held", "start"): weight,
        ("held", "copy"): 2 * unity,
        ("held", "out"): -unity,
        ("copy", "held"): unity,
        ("out", "held"): unity,
        ("out", "one"): -unity / 2,
    }


def digits(network: dict[tuple[str, str], Any], n_bits: int) -> list[int]:
    """The first digits it prints, in the arithmetic of its weights (exact for Fractions)."""
    zero = 0 * network["start", "one"]
    unity = zero + 1
    state = dict.fromkeys((*SATURATING, "out"), zero) | {"one": unity}
    bits = []
    for time in range(1, 2 * n_bits + 2):
        total = dict.fromkeys(state, zero)
        for (target, source), weight in network.items():
            total[target] += weight * state[source]
        state = {name: min(unity, max(zero, total[name])) for name in SATURATING}
        state |= {"out": unity if total["out"] > 0 else zero, "one": unity}
        if time >= 3 and time % 2:
            bits.append(int(state["out"]))
    return bits
