"""The full model's loss at twelve coordinates in balls, with its gradient and its curvature."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.tasks import Query

from ._balls import Ball, Jet, Series, columns
from ._tape import Number, Tape

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
