"""Arrays of balls in double precision, and power series of them.

A ball is a number with a radius around it. Every operation rounds to nearest, and its radius
contains the rounding error. Only the exponential is taken from NumPy, within 16 units in the last
place.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from jaxtyping import Float

Array = Float[np.ndarray, "..."]
U = 2.0**-53  # rounding to nearest is off by at most this times the result
TINY = 1e-300  # more than what underflow takes away
MORE = 1 + 16 * U  # for the rounding of a radius


class Ball(NamedTuple):
    """Numbers within `rad` of `mid`, arrays of one shape or such as broadcast."""

    mid: Array
    rad: Array

    @classmethod
    def of(cls, value: Any) -> "Ball":
        """Doubles, with no error."""
        mid = np.atleast_1d(np.asarray(value, dtype=float))
        return cls(mid, np.zeros_like(mid))

    @property
    def above(self) -> Array:
        """Bounds on the absolute value."""
        return (np.abs(self.mid) + self.rad) * MORE

    @property
    def low(self) -> Array:
        return np.nextafter(self.mid - self.rad, -np.inf)

    @property
    def high(self) -> Array:
        return np.nextafter(self.mid + self.rad, np.inf)

    def plus(self, other: "Ball") -> "Ball":
        mid = self.mid + other.mid
        return Ball(mid, (self.rad + other.rad + U * np.abs(mid)) * MORE)

    def times(self, other: "Ball") -> "Ball":
        mid = self.mid * other.mid
        size = np.abs(self.mid)
        rad = size * other.rad + self.rad * (np.abs(other.mid) + other.rad) + U * np.abs(mid)
        return Ball(mid, rad * MORE + TINY)

    def negative(self) -> "Ball":
        return Ball(-self.mid, self.rad)

    def inverse(self) -> "Ball":
        """Raises ArithmeticError where a ball contains zero."""
        size = np.abs(self.mid)
        left = (size - self.rad) * (1 - 4 * U)
        if not np.all(left > 0):
            raise ArithmeticError("a ball contains zero and has no inverse")
        mid = 1 / self.mid
        return Ball(mid, (self.rad / (size * left) + U * np.abs(mid)) * MORE + TINY)

    def exp(self) -> "Ball":
        mid = np.exp(self.mid)
        return Ball(mid, mid * (np.expm1(self.rad) * (1 + 128 * U) + 64 * U) + TINY)

    def before(self) -> "Ball":
        """The sum of all earlier numbers along the last axis, for each."""
        mid, rad, size = (_before(part) for part in (self.mid, self.rad, np.abs(self.mid)))
        return Ball(mid, (rad + self.mid.shape[-1] * U * size) * _more(self.mid))

    def after(self) -> "Ball":
        """The sum of all later numbers."""
        turned = Ball(self.mid[..., ::-1], self.rad[..., ::-1]).before()
        return Ball(turned.mid[..., ::-1], turned.rad[..., ::-1])

    def total(self) -> "Ball":
        """The sum along the last axis, whose length becomes 1."""
        mid, rad, size = (
            part.sum(axis=-1, keepdims=True) for part in (self.mid, self.rad, np.abs(self.mid))
        )
        return Ball(mid, (rad + self.mid.shape[-1] * U * size) * _more(self.mid))


def _before(part: Array) -> Array:
    sums = np.zeros_like(part)
    np.cumsum(part[..., :-1], axis=-1, out=sums[..., 1:])
    return sums


def _more(part: Array) -> float:
    return 1 + 4 * U * (part.shape[-1] + 4)


class Series(tuple[Ball | None, ...]):
    """A power series, a ball for each power; None stands for zero."""

    @classmethod
    def constant(cls, value: Ball, order: int) -> Self:
        return cls((value, *[None] * (order - 1)))

    def plus(self, other: "Series") -> "Series":
        return Series(_plus(a, b) for a, b in zip(self, other, strict=True))

    def times(self, other: "Series") -> "Series":
        return Series(_convolved(self, other, k, range(k + 1)) for k in range(len(self)))

    def negative(self) -> "Series":
        return Series(a and a.negative() for a in self)

    def inverse(self) -> "Series":
        first = _known(self[0]).inverse()
        found: list[Ball | None] = [first]
        for k in range(1, len(self)):
            rest = _convolved(self, found, k, range(1, k + 1))
            found.append(rest and rest.times(first).negative())
        return Series(found)

    def exp(self) -> "Series":
        found: list[Ball | None] = [_known(self[0]).exp()]
        slope = [a and a.times(Ball.of(j)) for j, a in enumerate(self)]
        for k in range(1, len(self)):
            rest = _convolved(slope, found, k, range(1, k + 1))
            found.append(rest and rest.times(Ball.of(k).inverse()))
        return Series(found)

    def each(self, name: str) -> "Series":
        """A linear operation of `Ball`, on each power."""
        return Series(a and getattr(a, name)() for a in self)


def _known(ball: Ball | None) -> Ball:
    return Ball.of(0.0) if ball is None else ball


def _plus(one: Ball | None, two: Ball | None) -> Ball | None:
    if one is None or two is None:
        return two if one is None else one
    return one.plus(two)


def _convolved(
    one: Sequence[Ball | None], two: Sequence[Ball | None], power: int, places: range
) -> Ball | None:
    """The sum over j in `places` of one_j two_(power - j)."""
    total: Ball | None = None
    for j in places:
        a, b = one[j], two[power - j]
        if a is not None and b is not None:
            total = _plus(total, a.times(b))
    return total
