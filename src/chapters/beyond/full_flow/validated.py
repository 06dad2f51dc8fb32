"""Emergence of the full model's scores in validated steps, for one N or a range of N at once.

The query asks for the last pair. A step of length h keeps the solution in a tube: with z' = goal -
rate z and any constant k, z(h) = e^(-kh) z + (1 - e^(-kh)) (goal + (k - rate) z)/k, where the last
factor is a mean over the step and therefore within what the tube allows. A tube that contains what
follows from it contains the solution.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from flint import arb, ctx

from emergence.proofs.intervals import outward
from emergence.running.memo import kept

from .twelve import PRECISION, State, Sums, drifts, output_parameters, sums

CELLS = 1024  # of alpha_3, to the unit: the sums over the past are taken at their ends
TRIES = 40
Range = tuple[int, int, float]
SLOWER = 5.0  # of t/N, after which steps are twice as long


class ValidatedOrder(NamedTuple):
    """What validated steps say until alpha_3 is past its threshold for certain."""

    alpha: tuple[float, float]  # bounds on T_alpha/N
    gamma: tuple[float, float]  # bounds on T_gamma/N
    beta: float  # an upper bound on beta_2 up to the upper bound on T_alpha

    @property
    def holds(self) -> bool:
        """Whether T_gamma < T_alpha < T_beta is proved."""
        return self.gamma[1] < self.alpha[0] and self.beta < 0.5


class _Pasts:
    """The sums over the past for all N of a range and all alpha of an interval.

    `push` falls with alpha, `first` too, `missing` grows; all grow with N.
    """

    def __init__(self, pairs: tuple[int, int]) -> None:
        self.pairs = sorted(set(pairs))
        self.known: dict[int, Sums] = {}

    def over(self, alpha: arb) -> Sums:
        ends = math.floor(outward(alpha).low * CELLS), math.ceil(outward(alpha).high * CELLS)
        low, high = (self._at(end) for end in ends)
        return Sums(*(one.union(two) for one, two in zip(low, high, strict=True)))

    def _at(self, cell: int) -> Sums:
        if cell not in self.known:
            ends = [sums(n, arb(cell) / CELLS) for n in self.pairs]
            self.known[cell] = Sums(
                *(one.union(two) for one, two in zip(ends[0], ends[-1], strict=True))
            )
        return self.known[cell]


@kept
def order(pairs: tuple[int, int], step: float) -> ValidatedOrder:
    """The order of emergence for every N of a range, both ends included, the least >= 3.

    The first steps of t/N are `step`, later ones are longer. Raises ArithmeticError where they are
    too wide to tell.
    """
    ctx.prec = PRECISION
    x = (1 / arb(pairs[0])).union(1 / arb(pairs[1]))
    pasts, length, time = _Pasts(pairs), arb(step), arb(0)
    state, guess, most = State(*[arb(0)] * 12), None, arb(0)
    begun: dict[str, float] = {}
    ended: dict[str, float] = {}
    while "alpha" not in ended:
        tube, after = advance(state, x, pasts, length, guess)
        values = {
            "alpha": (tube.alpha_3, after.alpha_3),
            "gamma": (output_parameters(tube)[1], output_parameters(after)[1]),
        }
        for name, (during, then) in values.items():
            if name not in begun and not during < 0.5:
                begun[name] = outward(time).low
            if name not in ended and then > 0.5:
                ended[name] = outward(time + length).high
        most = arb(most.upper().max(tube.beta_2.upper()))
        if not tube.alpha_3 < 2:
            raise ArithmeticError(f"alpha_3 is known to no better than {tube.alpha_3}, 1/N = {x}")
        time += length
        next_length = arb(step * (1 + float(time) / SLOWER))
        ratio = next_length / length
        guess = [
            then + ratio * (then.mid() - now.mid()) + (then - then.mid()) / 50
            for now, then in zip(state, after, strict=True)
        ]
        state, length = after, next_length
    return ValidatedOrder(
        (begun["alpha"], ended["alpha"]),
        (begun["gamma"], ended.get("gamma", math.inf)),
        outward(most).high,
    )


def advance(
    state: State, x: arb, pasts: _Pasts, length: arb, guess: Iterable[arb] | None
) -> tuple[State, State]:
    """A tube around all solutions from `state` during a step, and where they are after it.

    Raises ArithmeticError where no tube is found.
    """
    tube = state if guess is None else _hull(state, guess)
    for _ in range(TRIES):
        during, _ = _follow(state, tube, x, pasts, length)
        if all(old.contains(new) for old, new in zip(tube, during, strict=True)):
            return _follow(state, during, x, pasts, length)
        wider = [new + (new - new.mid()) / 50 + arb(0, 1e-12) for new in during]
        tube = _hull(tube, wider)
    raise ArithmeticError(f"no tube was found, 1/N = {x}")


def _follow(state: State, tube: State, x: arb, pasts: _Pasts, length: arb) -> tuple[State, State]:
    """Where a tube leads during a step, and at its end."""
    goals, rates = drifts(tube, x, pasts.over(tube.alpha_3))
    during, after = [], []
    for start, inside, goal, rate in zip(state, tube, goals, rates, strict=True):
        constant = arb(rate.mid())
        if constant == 0:
            then = start + length * goal
        else:
            fade = (-constant * length).exp()
            aim = (goal + (constant - rate) * inside) / constant
            then = fade * start + (1 - fade) * aim
        during.append(start.union(then))  # in between are means of start and goal
        after.append(then)
    return State(*during), State(*after)


def _hull(one: Iterable[arb], two: Iterable[arb]) -> State:
    return State(*(a.union(b) for a, b in zip(one, two, strict=True)))


def covers(ranges: Iterable[Range], first: int, many: int) -> bool:
    """Whether every N from `first` to the last before `many` is in a range, in their order."""
    for least, largest, _ in ranges:
        if least != first:
            return False
        first = largest + 1
    return first == many


def ranges_to(many: int) -> tuple[Range, ...]:
    """Ranges that cover all N from 10 to the last before `many`, the closer the fewer pairs."""
    found = [(10, 10, 0.003), (11, 11, 0.006)]
    found += [(n, n, 0.01 if n < 16 else 0.02) for n in range(12, min(32, many))]
    least = 32
    while least < many:
        largest = min(max(least + 1, int(least * (1.04 if least < 60 else 1.1))), many - 1)
        found.append((least, largest, 0.02 if least < 60 else 0.04))
        least = largest + 1
    return tuple(found)
