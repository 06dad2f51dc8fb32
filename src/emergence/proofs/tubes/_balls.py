"""Arrays of balls in double precision, power series of them, and gradients of their formulas."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float

# A ball is a number with a radius around it. Every operation rounds to nearest, and its radius
# contains the rounding error. Only exponentials are NumPy's, taken to be within 24 units in the
# last place, which are 48 roundings; their radius allows for 64.

Array = Float[np.ndarray, "..."]
Kind = TypeVar("Kind", bound="Ball")
Powers = TypeVar("Powers", bound="Series")
_FIRST, _REST = slice(0, 1), slice(1, None)  # of a series
U = 2.0**-53  # rounding to nearest is off by at most this times the result
TINY = 1e-300  # more than what underflow takes away
LARGEST = 300.0  # of an exponent
MORE = 1 + 16 * U  # for the rounding of a radius


class Ball(NamedTuple):
    """Numbers within `rad` of `mid`, arrays of one shape or such as broadcast."""

    mid: Array
    rad: Array

    @classmethod
    def of(cls: type[Kind], value: Any) -> Kind:
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

    @property
    def turned(self: Kind) -> Kind:
        """The transposed matrix."""
        return type(self)(self.mid.T, self.rad.T)

    def plus(self: Kind, other: "Ball") -> Kind:
        mid = self.mid + other.mid
        return type(self)(mid, (self.rad + other.rad + U * np.abs(mid)) * MORE)

    def times(self: Kind, other: "Ball") -> Kind:
        mid = self.mid * other.mid
        size = np.abs(self.mid)
        rad = size * other.rad + self.rad * (np.abs(other.mid) + other.rad) + U * np.abs(mid)
        rad *= MORE
        rad += TINY
        return type(self)(mid, rad)

    def negative(self: Kind) -> Kind:
        return type(self)(-self.mid, self.rad)

    def inverse(self) -> "Ball":
        """Raises ArithmeticError where a ball contains zero."""
        size = np.abs(self.mid)
        left = (size - self.rad) * (1 - 4 * U)
        if not np.all(left > 0):
            raise ArithmeticError("a ball contains zero and has no inverse")
        mid = 1 / self.mid
        return Ball(mid, (self.rad / (size * left) + U * np.abs(mid)) * MORE + TINY)

    def exp(self) -> "Ball":
        """Raises ArithmeticError where the result may be beyond e^300 or is known to no factor."""
        if not (np.all(self.mid + self.rad < LARGEST) and np.all(self.rad < LARGEST)):
            raise ArithmeticError("a ball is too large or too wide for an exponential")
        mid = np.exp(self.mid)
        return Ball(mid, mid * (np.expm1(self.rad) * (1 + 128 * U) + 64 * U) + TINY)

    def before(self: Kind) -> Kind:
        """The sum of all earlier numbers along the last axis, for each."""
        sums = np.zeros((3, *self.mid.shape))
        parts = np.stack([self.mid, self.rad, np.abs(self.mid)])
        np.cumsum(parts[..., :-1], axis=-1, out=sums[..., 1:])
        return self._summed(*sums, count=self.mid.shape[-1])

    def after(self: Kind) -> Kind:
        """The sum of all later numbers."""
        turned = self.part((..., slice(None, None, -1))).before()
        return turned.part((..., slice(None, None, -1)))

    def total(self: Kind, axis: int = -1) -> Kind:
        """The sum along an axis, whose length becomes 1."""
        parts = (part.sum(axis=axis, keepdims=True) for part in (*self, np.abs(self.mid)))
        return self._summed(*parts, count=self.mid.shape[axis])

    def _summed(self: Kind, mid: Array, rad: Array, size: Array, *, count: int) -> Kind:
        return type(self)(mid, (rad + count * U * size) * (1 + 4 * U * (count + 4)))

    def part(self: Kind, places: Any) -> Kind:
        return type(self)(self.mid[places], self.rad[places])


def stacked(parts: Sequence[Ball]) -> Ball:
    """One ball of several, along a new first axis."""
    return Ball(*(np.stack(np.broadcast_arrays(*column)) for column in zip(*parts, strict=True)))


def columns(parts: Sequence[Ball]) -> Ball:
    """One ball of several, along a new last axis."""
    return Ball(*(np.stack(column, axis=-1) for column in zip(*parts, strict=True)))


class Series(Ball):
    """Power series, with the powers along the first axis."""

    @property
    def order(self) -> int:
        return len(self.mid)

    def shifted(self: Powers, constant: Ball) -> Powers:
        more = self.part(_FIRST).plus(constant)
        if self.order == 1:
            return more
        shape = (self.order, *more.mid.shape[1:])
        result = type(self)(np.empty(shape), np.empty(shape))
        return result._with(_FIRST, more)._with(_REST, self.part(_REST))

    def _with(self: Powers, places: Any, others: Ball) -> Powers:
        """Itself, with other numbers in these places."""
        self.mid[places], self.rad[places] = others
        return self

    def scaled(self: Powers, factor: Ball) -> Powers:
        return super().times(factor)

    def times(self, other: Ball) -> "Series":
        if self.order == 1:
            return super().times(other)
        one, two, powers = _convolution(self.order)
        terms = Ball(*self).part(one).times(Ball(*other).part(two))
        shape = (self.order, *terms.mid.shape[1:])
        # terms times zero add no rounding, in whatever order a product of matrices sums
        sums = (
            (powers @ part.reshape(len(one), -1)).reshape(shape)
            for part in (*terms, np.abs(terms.mid))
        )
        return self._summed(*sums, count=self.order)

    def inverse(self) -> "Series":
        whole = Ball(*self)
        first = whole.part(0).inverse()
        result = [first]
        for k in range(1, self.order):
            terms = whole.part(slice(1, k + 1)).times(stacked(result[::-1]))
            result.append(terms.total(0).part(0).times(first).negative())
        return Series(*stacked(result))

    def exp(self) -> "Series":
        whole = Ball(*self)
        result = [whole.part(0).exp()]
        counts = np.arange(self.order, dtype=float).reshape(-1, *[1] * (self.mid.ndim - 1))
        slope = whole.times(Ball.of(counts))
        for k in range(1, self.order):
            terms = slope.part(slice(1, k + 1)).times(stacked(result[::-1]))
            result.append(terms.total(0).part(0).times(Ball.of(k).inverse()))
        return Series(*stacked(result))


class Jet(Series):
    """Numbers and their slopes in several directions, which come after them."""

    def times(self, other: Ball) -> "Jet":
        product = Ball.times(self, other.part(_FIRST))
        slopes = product.part(_REST).plus(Ball(*self).part(_FIRST).times(other.part(_REST)))
        return product._with(_REST, slopes)

    def inverse(self) -> "Jet":
        value = Ball(*self).part(_FIRST).inverse()
        return Ball.times(self, value.times(value).negative())._with(_FIRST, value)

    def exp(self) -> "Jet":
        value = Ball(*self).part(_FIRST).exp()
        return Ball.times(self, value)._with(_FIRST, value)


class Twice(Series):
    """Numbers with first and second derivatives, in a matrix: [i, 0] and [0, i] are the first."""

    def times(self, other: Ball) -> "Twice":
        one, two = self._parts(), Twice(*other)._parts()
        crossed = one.down.times(two.right).plus(one.right.times(two.down))
        return Twice(*one.all.times(two.none).plus(one.none.times(two.rest)).plus(crossed))

    def inverse(self) -> "Twice":
        value = self._parts().none.inverse()
        slope = value.times(value).negative()
        return self._through(value, slope, slope.times(value).times(Ball.of(-2.0)))

    def exp(self) -> "Twice":
        value = self._parts().none.exp()
        return self._through(value, value, value)

    def shifted(self, constant: Ball) -> "Twice":
        shape = np.broadcast_shapes(self.mid.shape, constant.mid.shape)
        more = Twice(*(np.array(np.broadcast_to(part, shape)) for part in self))
        return more._with(_NONE, more.part(_NONE).plus(constant))

    def _through(self, value: Ball, slope: Ball, bend: Ball) -> "Twice":
        """A function of these numbers, by its value and its two derivatives."""
        parts = self._parts()
        bent = parts.down.times(parts.right).times(bend)
        return Twice(*parts.rest.times(slope).plus(bent))._with(_NONE, value)

    def _parts(self) -> "_Parts":
        rest, whole = Ball(*(part.copy() for part in self)), Ball(*self)
        for part in rest:
            part[_NONE] = 0
        none, down, right = _NONE, (slice(None), slice(0, 1)), (slice(0, 1), slice(None))
        return _Parts(whole, whole.part(none), rest, rest.part(down), rest.part(right))


class _Parts(NamedTuple):
    all: Ball
    none: Ball  # the numbers themselves
    rest: Ball  # all but these
    down: Ball  # first derivatives, in the first column
    right: Ball  # and in the first row


_NONE = (slice(0, 1), slice(0, 1))


@cache
def _convolution(order: int) -> tuple[np.ndarray, np.ndarray, Array]:
    """All j and k - j from 0 on, and which of them have the sum k, a row for each power."""
    power, j = np.tril_indices(order)
    return j, power - j, (power == np.arange(order)[:, None]).astype(float)


Pull = Callable[[Series], Series]


class Tape:
    """The numbers of a formula in the order in which they are made, each with its pulls."""

    # pulls say, for each number that one is made of, how its derivative follows
    def __init__(self) -> None:
        self.steps: list[tuple[Series, tuple[tuple[int, Pull], ...]]] = []

    def number(self, value: Series, *pulls: tuple[int, Pull]) -> "Number":
        self.steps.append((value, pulls))
        return Number(self, len(self.steps) - 1, value)

    def slopes(self, end: "Number", starts: Sequence["Number"]) -> list[Series]:
        """The derivatives of `end`, which has one place, with respect to each of `starts`."""
        kind, shape = type(end.value), end.value.mid.shape
        unit = np.zeros(shape)
        unit[0, 0] = 1
        heard = {end.place: kind.of(unit)}
        for place in range(end.place, -1, -1):
            if place not in heard:
                continue
            for parent, pull in self.steps[place][1]:
                more = pull(heard[place])
                if more.mid.shape[-1] > self.steps[parent][0].mid.shape[-1]:
                    more = more.total()  # one number stands for a whole row
                heard[parent] = heard[parent].plus(more) if parent in heard else more
        none = kind.of(np.zeros(shape))
        return [heard.get(start.place, none) for start in starts]


class Number:
    """A number of a formula on a tape; what is not on it is a constant."""

    def __init__(self, tape: Tape, place: int, value: Series) -> None:
        self.tape, self.place, self.value = tape, place, value

    def __add__(self, other: "Number | Ball | float") -> "Number":
        if isinstance(other, Number):
            return self.tape.number(
                self.value.plus(other.value), (self.place, _same), (other.place, _same)
            )
        return self.tape.number(self.value.shifted(_ball(other)), (self.place, _same))

    def __mul__(self, other: "Number | Ball | float") -> "Number":
        if isinstance(other, Number):
            a, b = self.value, other.value
            return self.tape.number(a.times(b), (self.place, b.times), (other.place, a.times))
        factor = _ball(other)
        return self.tape.number(
            self.value.scaled(factor), (self.place, lambda slope: slope.scaled(factor))
        )

    def __neg__(self) -> "Number":
        return self.tape.number(self.value.negative(), (self.place, Series.negative))

    def __sub__(self, other: "Number") -> "Number":
        return self + (-other)

    def __truediv__(self, other: "Number") -> "Number":
        return self * other.inverse()

    def inverse(self) -> "Number":
        y = self.value.inverse()
        return self.tape.number(y, (self.place, y.times(y).negative().times))

    def exp(self) -> "Number":
        y = self.value.exp()
        return self.tape.number(y, (self.place, y.times))

    def square(self) -> "Number":
        twice = self.value.plus(self.value)
        return self.tape.number(self.value.times(self.value), (self.place, twice.times))

    def before(self) -> "Number":
        return self.tape.number(self.value.before(), (self.place, Series.after))

    def after(self) -> "Number":
        return self.tape.number(self.value.after(), (self.place, Series.before))

    def total(self) -> "Number":
        return self.tape.number(self.value.total(), (self.place, _same))


def _same(slope: Series) -> Series:
    return slope


def _ball(value: Ball | float) -> Ball:
    return value if isinstance(value, Ball) else Ball.of(value)
