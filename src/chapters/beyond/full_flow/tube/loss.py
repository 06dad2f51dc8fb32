"""The full model's loss at twelve coordinates in balls, with its gradient and its curvature.

The formula is that of `theory.full_loss`. Five of the nineteen stay at zero, beta_9 equals beta_7
and beta_11 equals beta_8. Each of these pairs has one coordinate, sqrt 2 times their value, so that
the gradient flow of the twelve is that of the nineteen.
"""

import numpy as np
from jaxtyping import Float

from emergence.tasks import Query

from .balls import Ball, Series
from .tape import Number, Tape

COORDINATES = (
    "alpha_1", "alpha_3", "beta_1", "beta_2", "beta_7", "beta_8", "beta_10", "beta_12",
    "gamma_1", "gamma_2", "gamma_3", "gamma_4",
)  # fmt: skip
ROOT_TWO = Ball(np.array([2**0.5]), np.array([4e-16]))


def loss(point: Ball, n_pairs: int, query: Query) -> Ball:
    """The loss at all points of a ball of twelve coordinates."""
    end, _ = _formula([Series((_at(point, i),)) for i in range(12)], n_pairs, query)
    return _first(end.value)


def slopes(path: list[Series], n_pairs: int, query: Query) -> list[Series]:
    """The gradient along a path, twelve power series, as twelve power series."""
    end, starts = _formula(path, n_pairs, query)
    return end.tape.slopes(end, starts)


def curvature(point: Ball, n_pairs: int, query: Query) -> Ball:
    """The Hessian at all points of a ball, twelve by twelve."""
    path = [
        Series((_at(point, i), Ball.of(np.eye(12)[:, i : i + 1]))) for i in range(12)
    ]
    rows = [series[1] or Ball.of(np.zeros((12, 1))) for series in slopes(path, n_pairs, query)]
    parts = [[np.broadcast_to(part, (12, 1))[:, 0] for part in row] for row in rows]
    return Ball(np.array([mid for mid, _ in parts]), np.array([rad for _, rad in parts]))


def _at(point: Ball, place: int) -> Ball:
    return Ball(point.mid[place : place + 1], point.rad[place : place + 1])


def _first(series: Series) -> Ball:
    return series[0] or Ball.of(0.0)


def _formula(path: list[Series], n_pairs: int, query: Query) -> tuple[Number, list[Number]]:
    """The loss, and the twelve coordinates on its tape; names are those of `theory.full_loss`."""
    tape = Tape(len(path[0]))
    starts = [tape.number(series) for series in path]
    alpha_1, alpha_3, beta_1, beta_2, half_7, half_8, beta_10, beta_12, *gammas = starts
    gamma_1, gamma_2, gamma_3, gamma_4 = gammas
    root = tape.constant(ROOT_TWO)
    beta_7, beta_8 = root * half_7, root * half_8  # sums of two

    k = np.arange(n_pairs, dtype=float)
    row_0, later = tape.constant(k == 0), tape.constant(k > 0)
    item = tape.constant(Ball.of(np.maximum(2 * k, 1)).inverse()) * later
    chances = tape.constant(
        Ball.of(np.full(n_pairs, float(n_pairs))).inverse()
        if query == "uniform"
        else np.eye(n_pairs)[-1]
    )

    # layer 1
    e, grown = alpha_1.exp(), alpha_3.exp()
    rest = (e + (2.0 * n_pairs - 1)).inverse()
    ahead = (e - 1.0) * rest
    label = (grown + tape.constant(2 * k)).inverse()
    own = grown * label
    share = item + label * later
    shares = share.before() + share

    # layer 2
    looking = beta_2 + beta_8 * ahead
    both = looking + beta_12 * ahead
    less = (-(beta_8 + beta_12) * rest).exp() - 1.0
    first = row_0 * less + 1.0
    on_item = (beta_1 + beta_7 * ahead).exp() * first
    on_label = (beta_10 * ahead + looking * own).exp()
    late_item, late_label = (both * item).exp(), (both * label).exp()
    norm = (first + 1.0).before() + on_item + on_label + (late_item + late_label).after()
    over = norm.inverse()

    # through layer 1, and what the output holds
    through = (late_item * item + late_label * label).after()
    early = through + on_item * item + on_label * label + share.before()
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

    squares = right.square() + wrong.square()
    linear = (late[0] + late[1]).after() * over
    square = (late[0].square() + late[1].square()).after() * over.square()
    count = tape.constant(2 * (n_pairs - 1 - k))
    squares = squares + equal_late * (count * equal_late + 2.0 * linear) + square
    linear = (past[0] + past[1]).before() * over
    square = (past[0].square() + past[1].square()).before() * over.square()
    squares = squares + equal_early * (tape.constant(2 * k) * equal_early + 2.0 * linear) + square
    return (chances * (squares - 2.0 * right)).total() + 1.0, starts
