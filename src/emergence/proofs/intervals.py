"""Interval arithmetic: balls of Arb, through python-flint, and their ends as floats."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from flint import arb


class Bounds(NamedTuple):
    """Two ends, rounded outwards (this book).

    Attributes:
        low: not above the number.
        high: not below it.
    """

    low: float
    high: float

    @property
    def ball(self) -> arb:
        """The smallest ball around the interval."""
        return arb(self.low).union(arb(self.high))

    def before(self, other: "Bounds") -> bool:
        """Whether the number is less than another for certain."""
        return self.high < other.low


def outward(value: arb) -> Bounds:
    """The ends of a ball as floats, rounded outwards (this book).

    Args:
        value: a ball of Arb.
    """
    low, high = float(value.lower()), float(value.upper())
    return Bounds(math.nextafter(low, -math.inf), math.nextafter(high, math.inf))


def in_decimals(bounds: tuple[float, float], unit: int = 1, digits: int = 5) -> str:
    """Bounds in decimals, the lower rounded down and the upper up: -1.24 to 5.68 (this book).

    Args:
        bounds: both ends.
        unit: what they are divided by.
        digits: after the decimal point, >= 0.
    """
    low, high = (Fraction(end) / unit * 10**digits for end in bounds)
    ends = Decimal(math.floor(low)), Decimal(math.ceil(high))
    return " to ".join(f"{end.scaleb(-digits):.{digits}f}" for end in ends)
