"""How far the gradient flow is from a path: validated steps for one N, under either query rule."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ._balls import MORE, Array, Ball
from ._landscape import CoordinateFlow
from ._path import GRID, Guide, PathPiece, speed_of

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
    """The product of two matrices."""
    terms = one.part((slice(None), None)).times(two.turned.part(None))
    return terms.total().part((..., 0))


def _around(box: Ball, distance: Array) -> Ball:
    return Ball(box.mid, (box.rad + distance) * MORE)


def _norm(vector: Ball) -> float:
    size: Array = vector.above
    return float(np.linalg.norm(size)) * (1 + 1e-12)
