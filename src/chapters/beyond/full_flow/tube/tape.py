"""Gradients of formulas in power series of balls, by reverse accumulation."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .balls import Ball, Series

Pull = Callable[[Series], Series]


class _Step(NamedTuple):
    """A number of the formula, and how each of what it is made of hears of its derivative."""

    value: Series
    pulls: list[tuple[int, Pull]]


class Tape:
    """The steps of a formula, in the order in which they are taken."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.steps: list[_Step] = []

    def number(self, value: Series, *pulls: tuple[int, Pull]) -> "Number":
        self.steps.append(_Step(value, list(pulls)))
        return Number(self, len(self.steps) - 1)

    def constant(self, value: object) -> "Number":
        """Doubles or a ball."""
        ball = value if isinstance(value, Ball) else Ball.of(value)
        return self.number(Series.constant(ball, self.order))

    def slopes(self, end: "Number", starts: Sequence["Number"]) -> list[Series]:
        """The derivatives of `end`, which has one place, with respect to each of `starts`."""
        heard: dict[int, Series] = {end.place: Series.constant(Ball.of(1.0), self.order)}
        for place in range(end.place, -1, -1):
            if place not in heard:
                continue
            for parent, pull in self.steps[place].pulls:
                more = _shaped(pull(heard[place]), self.steps[parent].value)
                heard[parent] = heard[parent].plus(more) if parent in heard else more
        none = Series.constant(Ball.of(0.0), self.order)
        return [heard.get(start.place, none) for start in starts]


class Number:
    """A number of a formula on a tape."""

    def __init__(self, tape: Tape, place: int) -> None:
        self.tape, self.place = tape, place

    @property
    def value(self) -> Series:
        return self.tape.steps[self.place].value

    def __add__(self, other: "Number | float") -> "Number":
        two = self._beside(other)
        return self.tape.number(
            self.value.plus(two.value), (self.place, lambda d: d), (two.place, lambda d: d)
        )

    def __mul__(self, other: "Number | float") -> "Number":
        two = self._beside(other)
        a, b = self.value, two.value
        return self.tape.number(a.times(b), (self.place, b.times), (two.place, a.times))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> "Number":
        return self.tape.number(self.value.negative(), (self.place, Series.negative))

    def __sub__(self, other: "Number | float") -> "Number":
        return self + (-other)

    def __rsub__(self, other: float) -> "Number":
        return -self + other

    def inverse(self) -> "Number":
        y = self.value.inverse()
        less = y.times(y).negative()
        return self.tape.number(y, (self.place, less.times))

    def __truediv__(self, other: "Number") -> "Number":
        return self * other.inverse()

    def exp(self) -> "Number":
        y = self.value.exp()
        return self.tape.number(y, (self.place, y.times))

    def square(self) -> "Number":
        twice = self.value.plus(self.value)
        return self.tape.number(self.value.times(self.value), (self.place, twice.times))

    def before(self) -> "Number":
        return self._linear("before", "after")

    def after(self) -> "Number":
        return self._linear("after", "before")

    def total(self) -> "Number":
        return self.tape.number(self.value.each("total"), (self.place, lambda d: d))

    def _linear(self, name: str, transposed: str) -> "Number":
        return self.tape.number(
            self.value.each(name), (self.place, lambda d: d.each(transposed))
        )

    def _beside(self, other: "Number | float") -> "Number":
        return other if isinstance(other, Number) else self.tape.constant(other)


def _shaped(slope: Series, value: Series) -> Series:
    """A derivative with respect to a number that stands for a whole row is a sum."""
    alone = all(ball is None or ball.mid.shape[-1] == 1 for ball in value)
    whole = any(ball is not None and ball.mid.shape[-1] > 1 for ball in slope)
    return slope.each("total") if alone and whole else slope
