"""Gradients of formulas in power series of balls, by reverse accumulation."""

from collections.abc import Callable, Sequence

import numpy as np

from ._balls import Ball, Series

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
