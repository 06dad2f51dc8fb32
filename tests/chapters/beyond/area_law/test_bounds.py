"""The bounds on the area law's error against flows, and against the landscape at random points."""

import numpy as np
import pytest

from chapters.beyond.area_law import bounds as module
from chapters.beyond.area_law.bounds import error_bounds
from emergence.theory import area

LAST, UNIFORM = np.eye(64)[-1], np.full(64, 1 / 64)


def test_cells_bound_what_the_landscape_has_inside_them():
    """R, S and the ratio of their slopes at random points, by the landscape itself."""
    n, draw = 32, np.random.default_rng(0)
    chances = draw.dirichlet(np.ones(n))
    landscape = area.expected_loss(np.arange(n), chances)
    cell = module._Cell(chances, (0.1, 0.3), (0.5, 0.8))
    assert cell.cooperative
    for alpha, beta in zip(draw.uniform(0.1, 0.3, 20), draw.uniform(0.5, 0.8, 20), strict=True):
        up, down = (landscape.loss(alpha, beta, gamma) for gamma in (1.0, -1.0))
        answer, square = (down - up) / 4, (down + up) / 2 - 1
        assert cell.answer[0] <= 2 * n * answer <= cell.answer[1]
        assert 1 <= 2 * n * square <= cell.square
        slopes = [np.array(landscape.gradient(alpha, beta, g)[:2]) for g in (1.0, -1.0)]
        by_answer, by_square = (slopes[1] - slopes[0]) / 4, (slopes[1] + slopes[0]) / 2
        for i in (0, 1):
            assert abs(by_square[i]) / (2 * by_answer[i]) <= cell.ratios[i]


def test_a_bound_of_half_the_size_is_too_small_somewhere():
    """Planted: the bound on gamma's excess is not slack by a factor of two."""
    result = error_bounds(LAST)
    landscape = area.expected_loss(np.arange(64), LAST)
    corner = landscape.gradient(0.5, 1.0, 0.0)[2] / landscape.gradient(0.0, 0.0, 0.0)[2] - 1
    assert corner > result.more / 2


def test_few_pairs_have_no_bounds():
    with pytest.raises(ArithmeticError, match="do not close"):
        error_bounds(np.full(4, 0.25))
