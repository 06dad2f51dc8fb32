"""Bounds on emergence times of all nineteen with a loss at every position, for every large N.

The last pair of each prefix is asked for, and the clock is t/N. On it the flow descends the sum of
all losses. With h = H_N - H_M the sum over n > M is h times its limit for even attention, plus
(N - M) gamma_1^2, plus what `long_prefixes` bounds. So a `Family` of flows has h and N in
intervals, and one path: how far any of them is from the path is bounded in validated steps.

Slow coordinates, output and gamma_1 have a distance each, x, y and v. Where the Hessian of slow
coordinates is above -mu, that of the output above nu, and blocks in between have norms of at most
kappa, x' <= mu x + kappa y + ... and y' <= -nu y + kappa x + ...: the quicker the output, the less
its distance matters.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from flint import arb
from jaxtyping import Float

from emergence.models import Mask
from emergence.running.memo import kept
from emergence.theory import positions

from ..intervals import Bounds, outward
from ._balls import Array, Ball
from ._long import long_prefixes
from ._path import GRID, Guide, PathPiece
from ._prefixes import HALF_ROOT, ITEM, QUICK, SLOW, Prefixes
from ._steps import WHOLE, opening

PARTS = SLOW, QUICK, ITEM
SHORT = 24  # prefixes whose third derivatives are bounded
ORDER = 2  # of the Taylor expansion of the defect
LEVEL, ALPHA, BETA = 0.5, 2, 4  # threshold, and places of alpha_3 and beta_2
CELLS = 256  # of a step, a power of two
STEP = np.repeat([0.012, 0.08, 0.1], [12, 2, 1])  # how far a coordinate may move in half a step
MORE = 1 + 1e-9  # for the rounding of sums of norms
LIFT = np.zeros((19, 15))
for _place, _row in enumerate((0, 1, 2, 3, 4, 9, 10, 11, 12, 13, 14)):
    LIFT[_row, _place] = 1
LIFT[16:18, 11:13] = [[-(0.5**0.5), 0.5**0.5], [0.5**0.5, 0.5**0.5]]
LIFT[18, 13] = LIFT[15, 14] = 1
EVEN = np.array([[2, 2**0.5], [2**0.5, 2]])  # half the curvature of Q by joint and gamma_4
SLOWEST = 0.5857  # at most its least eigenvalue, 2 - sqrt 2
PINNED = np.array([2**0.5, -1.0])  # where Q is least


class Family(NamedTuple):
    """The flows for all N from `least` to `largest`, or that which is left for infinitely many."""

    count: int  # M, of the prefixes whose loss is computed
    mask: Mask
    least: float  # M at least, or infinite for the limit
    largest: float

    @property
    def limit(self) -> bool:
        return math.isinf(self.least)

    def harmonic(self, n_pairs: float) -> arb:
        """h for N pairs."""
        return arb(n_pairs + 1).digamma() - arb(self.count + 1).digamma()

    @property
    def h(self) -> Bounds:
        ends = outward(self.harmonic(self.least)).low, math.inf
        if math.isfinite(self.largest):
            ends = ends[0], outward(self.harmonic(self.largest)).high
        return Bounds(*ends)

    @property
    def own(self) -> tuple[float, float]:
        """h and N - M of the path; infinite for a coordinate that the path holds where it is."""
        if math.isinf(self.largest):
            return self.h.low, math.inf
        return sum(self.h) / 2, math.sqrt(self.least * self.largest) - self.count

    @property
    def moves(self) -> Float[np.ndarray, "15"]:
        """1 for each coordinate in which the path moves."""
        parts = 1.0, 1.0 - self.limit, 1.0 - math.isinf(self.largest)
        return np.repeat(parts, [12, 2, 1])

    def guide(self) -> Guide:
        """A numerical solution, which need not be exact."""
        gradient = positions.landscape(
            np.ones(self.count), model="full", mask=self.mask
        ).gradient  # fmt: skip
        (h, beyond), moves = self.own, self.moves

        def speed(z: Array) -> Array:
            slope = np.array(gradient(*(LIFT @ z).tolist())) @ LIFT
            if not self.limit:
                slope[QUICK] += h * EVEN @ (z[QUICK] - PINNED)
            if moves[-1]:
                slope[ITEM] += 2 * beyond * z[ITEM]
            return -slope * moves

        start = np.zeros(15)
        if self.limit:
            start[QUICK] = PINNED
        return Guide(speed, start, 1e-9)


class Apart(NamedTuple):
    """Distances from the path: of the slow coordinates, of the output, and of gamma_1."""

    slow: float
    output: float
    item: float


class Step(NamedTuple):
    """One step: the path, the distances in all of it, and those after it."""

    piece: PathPiece
    during: Apart
    after: Apart


def _norm(block: Array) -> float:
    """At least the norm of all matrices with absolute values of at most these."""
    rows, columns = block.sum(axis=1).max(), block.sum(axis=0).max()
    return float(min(np.sqrt((block**2).sum()), np.sqrt(rows * columns))) * MORE


def defects(piece: PathPiece, family: Family) -> Float[np.ndarray, "3"]:
    """The norms of z' + grad in a step, by parts of the coordinates; for h and N of the path."""
    total = np.zeros(3)
    prefixes, (h, beyond) = Prefixes(family.count, family.mask), family.own
    for s, order, first in ((Ball.of(0.0), ORDER, 0), (WHOLE, ORDER + 1, ORDER)):
        path = piece.around(s, order + 1)
        k = np.arange(1.0, order + 1)[:, None]
        missed = path.part(slice(1, None)).times(Ball.of(k)).times(Ball.of(piece.half).inverse())
        path = path.part(slice(order))
        missed = missed.plus(prefixes.slopes(path))
        if not family.limit:
            more = even_slopes(path.part((slice(None), QUICK)), h)
            missed = _added(missed, QUICK, more)
        if math.isfinite(beyond):
            missed = _added(missed, ITEM, path.part((slice(None), ITEM)).times(Ball.of(2 * beyond)))
        size = missed.above[first:]
        total += [sum(np.linalg.norm(row[part]) for row in size) * MORE for part in PARTS]
    return total


def _added(to: Ball, part: slice, more: Ball) -> Ball:
    sums = to.part((slice(None), part)).plus(more)
    for old, new in zip(to, sums, strict=True):
        old[:, part] = new
    return to


def even_slopes(output: Ball, h: float) -> Ball:
    """h times the slopes of Q/2 by joint and gamma_4, a row for each power of a path."""
    joint, four = output.part((slice(None), [0])), output.part((slice(None), [1]))
    root = HALF_ROOT.times(Ball.of(2.0))
    constant = np.zeros_like(joint.mid)
    constant[0] = 1
    by_joint = joint.times(Ball.of(2.0)).plus(four.plus(Ball.of(-constant)).times(root))
    by_four = joint.times(root).plus(four.times(Ball.of(2.0)))
    both = (np.concatenate(parts, axis=1) for parts in zip(by_joint, by_four, strict=True))
    return Ball(*both).times(Ball.of(h))


def steps(family: Family) -> Iterator[Step]:
    """Validated steps, without end; ArithmeticError where none is found."""
    guide, time, apart, length = family.guide(), 0.0, Apart(0.0, 0.0, 0.0), 8 * GRID
    last = Ball.of(np.r_[np.zeros(12), PINNED if family.limit else np.zeros(2), 0.0])
    while True:
        piece = guide.piece(time, length)
        fit = float((STEP / np.maximum(np.abs(piece.powers[1:]).sum(axis=0), 1e-9)).min())
        if fit < 0.9 and length > GRID:
            length = max(round(0.9 * fit * length / GRID), 1) * GRID
            continue
        gap = piece.where(Ball.of(-1.0)).plus(last.negative()).above
        begun = Apart(
            *(d + np.linalg.norm(gap[p]) * MORE for d, p in zip(apart, PARTS, strict=True))
        )
        during, apart = follow(piece, begun, family)
        yield Step(piece, during, apart)
        last = piece.where(Ball.of(1.0))
        time += length
        length = max(round(min(0.95 * fit, 1.6) * length / GRID), 1) * GRID


def follow(piece: PathPiece, begun: Apart, family: Family) -> tuple[Apart, Apart]:
    """Distances in all of a step, and after it."""
    missed = defects(piece, family)
    limits = Apart(
        1.1 * begun.slow + 2 * piece.half * missed[0] + 1e-7, *(1.1 * d for d in begun[1:])
    )
    for _ in range(12):
        rates = Rates.of(piece, limits, family)
        during, after = rates.after(begun, limits, missed, 2 * piece.half)
        if all(new <= old for new, old in zip(during, limits, strict=True)):
            return during, after
        limits = Apart(*(max(1.15 * new, old) for new, old in zip(during, limits, strict=True)))
        if limits.slow > 0.5:
            break
    raise ArithmeticError(f"no tube was found at t/N = {piece.start}, {family}")


class Rates(NamedTuple):
    """Rates and couplings in a step, and what is left out of the gradient there."""

    mu: float  # the slow part of the Hessian is above -mu
    nu: float  # the output's is above nu, at the least h
    item: float  # gamma_1's is at least this, at the least N
    kappa: float  # norms of the blocks: slow and output
    slow_item: float
    output_item: float
    even: float  # the slopes of Q/2 on the path, at most
    gamma_1: float  # of the path, at most
    cross: Float[np.ndarray, "3"]  # slopes of c gamma_1 (gamma_2 e^alpha_1 + ...), over gamma_1
    long: Float[np.ndarray, "3"]  # what longer prefixes add beyond what is known of them
    family: Family

    @classmethod
    def of(cls, piece: PathPiece, apart: Apart, family: Family) -> "Rates":
        """In the tube of these distances around a path."""
        path = piece.where(WHOLE)
        wide = np.repeat(apart, [12, 2, 1])
        box = Ball(path.mid, (path.rad + wide) * MORE)
        short, rest = Prefixes(SHORT, family.mask), Prefixes(family.count, family.mask, SHORT + 1)
        at, whole = short.curvature(Ball.of(path.mid)), rest.curvature(box)
        slopes = short.bends(box).above
        moved = np.tensordot(path.rad, slopes, (0, 0))
        middle = at.mid + whole.mid
        middle = (middle + middle.T) / 2
        off = np.abs(at.mid + whole.mid - middle) * 2 + at.rad + whole.rad + moved + 1e-12

        def turned(one: slice, two: slice) -> float:
            """How much a block differs from its middle."""
            sizes = [
                math.sqrt(sum(_norm(slopes[j, one, two]) ** 2 for j in range(15)[part])) * apart[i]
                for i, part in enumerate(PARTS)
            ]
            return _norm(off[one, two]) + sum(sizes) * MORE

        def coupling(one: slice, two: slice) -> float:
            return _norm(np.abs(middle[one, two])) + turned(one, two)

        mu = opening(Ball.of(middle[SLOW, SLOW])) + turned(SLOW, SLOW)
        nu = middle[QUICK, QUICK] + (0.0 if family.limit else family.h.low) * EVEN
        top = float(np.trace(nu))
        nu = top - opening(Ball.of(nu - top * np.eye(2))) - turned(QUICK, QUICK)
        if not nu > 0:
            raise ArithmeticError("the output is not held")
        even = even_slopes(path.part((None, QUICK)), 1.0).above[0]
        return cls(
            mu, nu, float(middle[14, 14]) - turned(ITEM, ITEM), coupling(SLOW, QUICK),
            coupling(SLOW, ITEM), coupling(QUICK, ITEM), float(np.linalg.norm(even)) * MORE,
            float(path.above[14]), crossed(box, family.mask),
            _by_part(long_prefixes(box, family.count, family.mask)), family,
        )  # fmt: skip

    def after(
        self, begun: Apart, limits: Apart, missed: Array, length: float
    ) -> tuple[Apart, Apart]:
        """What follows in a step for distances that begin there and stay below `limits`."""
        family, (h, beyond), grown = self.family, self.family.own, math.exp(self.mu * length)
        slow_to = missed[0] + self.long[0]
        if family.limit:
            slow = (begun.slow + length * slow_to) * grown * MORE
            return Apart(slow, 0.0, 0.0), Apart(slow, 0.0, 0.0)
        few, many = family.least - family.count, family.largest - family.count
        low, high = family.h
        # gamma_1, whose rate is at least that of the least N; h over N falls from h = 1 on
        most_h = low if math.isinf(high) else high
        pushed = self.slow_item * limits.slow + self.output_item * limits.output
        pushed += missed[2] + self.long[2] + most_h * self.cross[2]
        if math.isfinite(beyond):
            pushed += 2 * max(beyond - few, many - beyond) * self.gamma_1
        item = max(begun.item, pushed / (self.item + 2 * few)) * MORE
        by_item = most_h * (self.gamma_1 + item)
        # the output: it is pushed the more, but held the better, the further h is from the path's
        pushed = self.kappa * limits.slow + self.output_item * item
        pushed += missed[1] + self.long[1] + by_item * self.cross[1]
        aims = [(pushed + (h - low) * self.even) / self.nu, self.even / SLOWEST]
        most = math.inf
        if math.isfinite(high):
            aims[1] = (pushed + (high - h) * self.even) / (self.nu + (high - low) * SLOWEST)
            most = begun.output + length * (pushed + max(h - low, high - h) * self.even)
        aim, fade = max(aims), math.exp(-self.nu * length)
        over = max(begun.output - aim, 0.0)
        output = min(max(begun.output, aim), most) * MORE
        mean = min(aim + over * (1 - fade) / (self.nu * length), output)
        slow_to += self.kappa * mean + self.slow_item * item + by_item * self.cross[0]
        slow = (begun.slow + length * slow_to) * grown * MORE
        return Apart(slow, output, item), Apart(slow, min(aim + over * fade, output) * MORE, item)


def _by_part(slopes: Array) -> Float[np.ndarray, "3"]:
    return np.array([np.linalg.norm(slopes[part]) for part in PARTS]) * MORE


def crossed(box: Ball, mask: Mask) -> Float[np.ndarray, "3"]:
    """Slopes of c (gamma_2 e^alpha_1 + gamma_3 e^beta_1) by slow coordinates and output; itself."""
    apart, joint = box.part(slice(11, 12)), box.part(slice(12, 13))
    three = joint.plus(apart).times(HALF_ROOT).above[0]
    two = joint.plus(apart.negative()).times(HALF_ROOT).above[0]
    e = [float(box.part(slice(i, i + 1)).exp().high[0]) for i in (0, 3)]
    times = 2.0 if mask == "causal" else 1.0
    slow = math.hypot(two * e[0], three * e[1], (e[0] + e[1]) * 0.71)
    found = np.array([slow, (e[0] + e[1]) * 0.71, two * e[0] + three * e[1]]) * times
    return found * MORE


class PrefixTimes(NamedTuple):
    """Bounds on T/N with a loss at every position (this book).

    Attributes:
        alpha: when alpha_3 is one half.
        beta: when beta_2 is.
    """

    alpha: Bounds
    beta: Bounds


@kept
def prefix_times(
    least: float, largest: float = math.inf, *, prefixes: int, mask: Mask = "strict"
) -> PrefixTimes:
    """Bounds that hold for all N in a range, for all nineteen and the last pair (this book).

    Args:
        least: N at least, not below `prefixes`; infinite for the limits of T/N.
        largest: N at most.
        prefixes: M, of which the losses are computed one by one.
        mask: as `theory.emergence_times` takes it.

    Returns:
        Bounds on the times at which alpha_3 and beta_2 are one half, over N. In the limit both
        pass it with positive speed.

    Raises:
        ArithmeticError: where no step is validated.
    """
    family = Family(prefixes, mask, least, largest)
    edges = np.linspace(-1, 1, CELLS + 1)
    cells = Ball((edges[:-1] + edges[1:])[:, None] / 2, np.full((CELLS, 1), 1 / CELLS))
    early: dict[int, float] = {}
    late: dict[int, float] = {}
    for step in steps(family):
        there = step.piece.where(cells)
        times = step.piece.start + step.piece.half * (1 + edges)
        for place in (ALPHA, BETA):
            may = there.high[:, place] + step.during.slow >= LEVEL
            must = there.low[:, place] - step.during.slow > LEVEL
            for found, where in ((early, may), (late, must)):
                if where.any():
                    found.setdefault(place, float(times[int(where.argmax())]))
            if place in early and (place not in late or late[place] >= step.piece.start):
                rises(step, place, family)
        if len(late) == 2:
            break
    return PrefixTimes(*(Bounds(early[place], late[place]) for place in (ALPHA, BETA)))


def rises(step: Step, place: int, family: Family) -> None:
    """Raises ArithmeticError unless a score rises in all of a step of the limit."""
    path = step.piece.where(WHOLE)
    wide = np.repeat(step.during, [12, 2, 1])
    box = Ball(path.mid, (path.rad + wide) * MORE)
    slope = Prefixes(family.count, family.mask).slopes(box.part(None)).high[0, place]
    if family.limit and not slope + long_prefixes(box, family.count, family.mask)[place] < 0:
        raise ArithmeticError(f"{place} may not rise at t/N = {step.piece.start}")
