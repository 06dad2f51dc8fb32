"""How far the gradient flow is from a path: validated steps for one N, under either query rule."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import LSODA

from emergence import theory
from emergence.tasks import Query

from ._balls import MORE, Array, Ball, Jet, Number, Series, Tape, columns, stacked

# The formula is that of `theory.landscape_of`. Five of the nineteen stay at zero, beta_9 is beta_7
# and beta_11 is beta_8. Each of these pairs has one coordinate, sqrt 2 times their value, so that
# the gradient flow of the twelve is that of the nineteen.
COORDINATES = (
    "alpha_1", "alpha_3", "beta_1", "beta_2", "beta_7", "beta_8", "beta_10", "beta_12",
    "gamma_1", "gamma_2", "gamma_3", "gamma_4",
)  # fmt: skip
ROOT_TWO = Ball(np.array([2**0.5]), np.array([4e-16]))


class CoordinateFlow(NamedTuple):
    """The gradient flow from zero in which some of the twelve coordinates move."""

    n_pairs: int
    query: Query
    moves: Float[np.ndarray, "12"]  # 1 for each that moves, 0 for each that is held at zero

    def loss(self, points: Ball) -> Ball:
        """The loss in each ball of twelve coordinates, rows of `points`."""
        end, _ = self._formula([Series(*points.part((None, ..., [i]))) for i in range(12)])
        return Ball(*end.value.part((0, ..., 0)))

    def slopes(self, path: Ball) -> Ball:
        """The gradient along a path: power series of twelve coordinates, a row for each power."""
        end, starts = self._formula(
            [Series(*path.part((slice(None), [i], None))) for i in range(12)]
        )
        return columns([slope.part((slice(None), 0, 0)) for slope in end.tape.slopes(end, starts)])

    def curvature(self, point: Ball) -> Ball:
        """The Hessian by what moves at all points of a ball."""
        path, free = [], np.flatnonzero(self.moves)
        for i in range(12):
            mid, rad = np.zeros((2, 1 + len(free), 1, 1))
            mid[0], rad[0], mid[1:, 0, 0] = point.mid[i], point.rad[i], free == i
            path.append(Jet(mid, rad))
        end, starts = self._formula(path)
        slopes = end.tape.slopes(end, [starts[i] for i in free])
        return columns([slope.part((slice(1, None), 0, 0)) for slope in slopes])

    def _formula(self, path: Sequence[Series]) -> tuple[Number, list[Number]]:
        """The loss, and the twelve coordinates on its tape, named as in `theory.landscape_of`."""
        n_pairs, tape = self.n_pairs, Tape()
        starts = [tape.number(series) for series in path]
        alpha_1, alpha_3, beta_1, beta_2, half_7, half_8, beta_10, beta_12, *gammas = starts
        gamma_1, gamma_2, gamma_3, gamma_4 = gammas
        beta_7, beta_8 = half_7 * ROOT_TWO, half_8 * ROOT_TWO  # sums of two

        k = np.arange(n_pairs, dtype=float)
        row_0, later = Ball.of(k == 0), Ball.of(k > 0)
        each = Ball.of(np.maximum(2 * k, 1)).inverse().times(later)  # an item's attention to a row
        if self.query == "uniform":
            chances = Ball.of(np.full(n_pairs, float(n_pairs))).inverse()
        else:
            chances = Ball.of(np.eye(n_pairs)[-1])

        # layer 1
        e, grown = alpha_1.exp(), alpha_3.exp()
        rest = (e + (2.0 * n_pairs - 1)).inverse()
        ahead = (e + -1.0) * rest
        label = (grown + Ball.of(2 * k)).inverse()
        own = grown * label
        share = label * later + each
        shares = share.before() + share

        # layer 2
        looking = beta_2 + beta_8 * ahead
        both = looking + beta_12 * ahead
        less = (-(beta_8 + beta_12) * rest).exp() + -1.0
        first = less * row_0 + 1.0
        on_item = (beta_1 + beta_7 * ahead).exp() * first
        on_label = (beta_10 * ahead + looking * own).exp()
        late_item, late_label = (both * each).exp(), (both * label).exp()
        norm = (first + 1.0).before() + on_item + on_label + (late_item + late_label).after()
        over = norm.inverse()

        # through layer 1, and what the output holds
        through = (late_item * each + late_label * label).after()
        early = through + on_item * each + on_label * label + share.before()
        equal_late = gamma_2 * rest
        equal_early = equal_late + gamma_4 * early * over
        right = equal_late + (gamma_3 * on_label + gamma_4 * through) * over
        wrong = equal_late + (gamma_3 * on_item + gamma_4 * (through + on_label * own)) * over
        wrong = wrong + gamma_2 * ahead + gamma_1
        late = (
            gamma_3 * late_item + gamma_4 * (through + late_label * own),
            gamma_3 * late_label + gamma_4 * through,
        )
        past = gamma_3 * first - gamma_4 * (shares - own), gamma_3 - gamma_4 * shares

        squares = right.square() + wrong.square() - right * 2.0
        counts = Ball.of(2 * (n_pairs - 1 - k)), Ball.of(2 * k)
        linear = (late[0] + late[1]).after(), (past[0] + past[1]).before()
        square = (
            (late[0].square() + late[1].square()).after(),
            (past[0].square() + past[1].square()).before(),
        )
        for count, equal, one, two in zip(
            counts, (equal_late, equal_early), linear, square, strict=True
        ):
            rows = one * over
            squares = squares + equal * (equal * count + rows * 2.0) + two * over.square()
        return (squares * chances).total() + 1.0, starts


# Nothing about the path needs to be proved: it is any path, known exactly. The steps bound how far
# from it the flow is.
FREE = ((0,), (2,), (3,), (4,), (9, 11), (10, 13), (12,), (14,), (15,), (16,), (17,), (18,))
NODES = np.array([-1.0, 0.0, 1.0])  # of a step, where the path's values and speeds are given
DEGREE = 5  # twice the number of nodes, less one
GRID = 2.0**-12  # lengths of steps are multiples of it, so that times are exact


def embedding() -> Float[np.ndarray, "19 12"]:
    """The nineteen parameters from the twelve coordinates."""
    lift = np.zeros((19, 12))
    for place, names in enumerate(FREE):
        lift[list(names), place] = len(names) ** -0.5
    return lift


class PathPiece(NamedTuple):
    """The path during one step, a polynomial of s from -1 to 1."""

    start: float  # time at which the step begins
    half: float  # half of its length: time is start + half (1 + s)
    powers: Float[np.ndarray, "powers 12"]  # coefficients, a row for each power of s

    @property
    def moved(self) -> float:
        """How far a coordinate moves in half of the step, at most."""
        return float(np.abs(self.powers[1:]).sum(axis=0).max())

    def around(self, s: Ball, order: int) -> Ball:
        """Power series of the twelve coordinates around s, a row for each power."""
        rows = [Ball.of(power) for power in self.powers]
        series = []
        for k in range(order):
            value = Ball.of(np.zeros_like(self.powers[0]))
            for row in reversed(rows):
                value = value.times(s).plus(row)
            series.append(value)
            slopes = [row.times(Ball.of(j)) for j, row in enumerate(rows)][1:]
            rows = [row.times(Ball.of(k + 1.0).inverse()) for row in slopes]
        return stacked(series)

    def where(self, s: Ball) -> Ball:
        return self.around(s, 1).part(0)


def speed_of(flow: CoordinateFlow) -> Callable[[Array], Array]:
    """The speed of the twelve coordinates in floating point."""
    gradient = theory.landscape_of(flow.n_pairs, flow.query, model="full").gradient
    lift = embedding() * flow.moves
    return lambda point: -lift.T @ np.array(gradient(*(lift @ point).tolist()))


class Guide:
    """A numerical solution of a flow, solved as far as it is asked for."""

    def __init__(self, speed: Callable[[Array], Array], start: Array, tolerance: float) -> None:
        self.speed = speed
        self._solver = LSODA(
            lambda _, z: speed(z), 0.0, start, np.inf, rtol=tolerance, atol=tolerance / 100
        )
        self._pieces = [lambda _: start]
        self._ends = [0.0]

    def at(self, time: float) -> Array:
        while self._ends[-1] < time:
            self._solver.step()
            if self._solver.status == "failed":
                raise ArithmeticError(f"no solution was found beyond t = {self._ends[-1]}")
            self._pieces.append(self._solver.dense_output())
            self._ends.append(self._solver.t)
        return self._pieces[int(np.searchsorted(self._ends, time))](time)

    def piece(self, start: float, length: float) -> PathPiece:
        """The polynomial that has the solution's values and speeds at the nodes of a step."""
        half = length / 2
        points = [self.at(start + half * (1 + s)) for s in NODES]
        speeds = [half * self.speed(point) for point in points]
        k = np.arange(DEGREE + 1)
        slopes = k * NODES[:, None] ** np.maximum(k - 1, 0)
        conditions = np.concatenate([NODES[:, None] ** k, slopes])
        return PathPiece(start, half, np.linalg.solve(conditions, np.array(points + speeds)))


# Where all eigenvalues of the Hessian are above -m, two solutions of a gradient flow move apart at
# a relative rate of at most m. So if a path z misses the flow by the defect d = z' + grad L(z),
# then its distance e from the solution obeys e' <= m e + |d|. The Hessian is taken over a tube
# around the path, and e says that the solution does not leave the tube.

ORDER = 4  # of the Taylor expansion of the defect
TURNS, SHARPER = 60, 1.03
SHORTEST, ENOUGH = 16 * GRID, 0.7
WHOLE = Ball(np.zeros(1), np.ones(1))  # the parameter s of a step, from -1 to 1


class Step(NamedTuple):
    """One step: the path, and the distance of the solution from it."""

    piece: PathPiece
    apart: Array  # at most, in all of the step, of the coordinates that move

    def where(self, s: Ball) -> Ball:
        """Where the solution is at s, a box of the twelve coordinates."""
        return _around(self.piece.where(s), self.apart)


def validated_steps(
    flow: CoordinateFlow, *, tolerance: float, farthest: float, growth: float = 1.5
) -> Iterator[Step]:
    """Validated steps of the flow from zero, without end; ArithmeticError where none is found."""
    # `tolerance` is the defect that a step may have, `farthest` about how far a coordinate may move
    # in half a step, and `growth` how many times longer it may be than the one before it
    guide = Guide(speed_of(flow), np.zeros(12), max(tolerance / 100, 1e-13))
    time, apart, length = 0.0, 0.0, 64 * GRID
    last: Ball = Ball.of(np.zeros(12))
    while True:
        piece, reached = guide.piece(time, length), None
        try:
            defect = defect_of(piece, flow)
            better = min(
                (tolerance / max(defect, 1e-30)) ** (1 / (ORDER + 1)),
                farthest / piece.moved,
                growth,
            )
            if better >= ENOUGH:
                gap = _norm(piece.where(Ball.of(-1.0)).plus(last.negative()))
                reached = _apart(piece, (apart + gap) * MORE, defect, flow)
        except ArithmeticError:
            better = 0.5
        if reached is None:
            if length <= SHORTEST:
                raise ArithmeticError(f"no step was validated at t = {time}, N = {flow.n_pairs}")
            length = _rounded(min(0.9 * better, ENOUGH) * length)
            continue
        yield Step(piece, reached * flow.moves)
        last, apart = piece.where(Ball.of(1.0)), reached
        time += length
        length = _rounded(0.95 * better * length)


def _rounded(length: float) -> float:
    return max(1, round(length / GRID)) * GRID


def defect_of(piece: PathPiece, flow: CoordinateFlow) -> float:
    """The time integral of the norm of z' + grad L(z) over a step, at most."""
    total = 0.0
    for s, order, first in ((Ball.of(0.0), ORDER, 0), (WHOLE, ORDER + 1, ORDER)):
        path = piece.around(s, order + 1)
        k = np.arange(1.0, order + 1)[:, None]
        speed = path.part(slice(1, None)).times(Ball.of(k)).times(Ball.of(piece.half).inverse())
        missed = speed.plus(flow.slopes(path.part(slice(order)))).above * flow.moves
        for power in range(first, order):
            total += 2 * piece.half * float(np.linalg.norm(missed[power])) / (power + 1)
    return total * (1 + 1e-12)


def _apart(piece: PathPiece, before: float, defect: float, flow: CoordinateFlow) -> float:
    """The distance in all of a step, from the one before it."""
    within = 1.2 * (before + defect) + 1e-12
    for _ in range(5):
        tube = _around(piece.where(WHOLE), within * flow.moves)
        rate = opening(flow.curvature(tube))
        distance = math.exp(rate * 2 * piece.half) * (before + defect) * (1 + 1e-12)
        if distance < within:
            return distance
        within = 1.2 * distance
    raise ArithmeticError(f"no tube was found at t = {piece.start}, N = {flow.n_pairs}")


def opening(hessian: Ball) -> float:
    """A rate m >= 0 such that H + m is positive definite for all H of a ball, or an error."""
    middle = (hessian.mid + hessian.mid.T) / 2
    values, vectors = np.linalg.eigh(middle)
    least = max(-float(values[0]), 0.0)
    scale = max(least, 1e-3 * float(np.abs(values).min()), 1e-14)
    rate = least + scale * (SHARPER - 1)
    for _ in range(TURNS):
        frame = Ball.of(vectors / np.sqrt(values + rate))
        shifted = hessian.plus(Ball.of(rate * np.eye(len(values))))
        turned = _product(frame.turned, _product(shifted, frame))
        size = turned.above
        np.fill_diagonal(size, 0)
        rows = size.sum(axis=1)
        if np.all(np.diag(turned.low) > rows * (1 + 1e-12)):
            return rate
        rate = least + (rate - least) * 1.3
    raise ArithmeticError("the Hessian is too wide to be bounded below")


def _product(one: Ball, two: Ball) -> Ball:
    terms = one.part((slice(None), None)).times(two.turned.part(None))
    return terms.total().part((..., 0))


def _around(box: Ball, distance: Array) -> Ball:
    return Ball(box.mid, (box.rad + distance) * MORE)


def _norm(vector: Ball) -> float:
    size: Array = vector.above
    return float(np.linalg.norm(size)) * (1 + 1e-12)
