"""A polynomial path beside the gradient flow, step after step."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import LSODA

from emergence import theory

from ._balls import Array, Ball, stacked
from ._landscape import CoordinateFlow

# Nothing about the path needs to be proved: it is any path, known exactly. `_steps` bounds how far
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
