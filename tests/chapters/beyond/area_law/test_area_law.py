"""The bounds on the area law's error, and how fast curricula are at best."""

import numpy as np
import pytest
import torch

from chapters.beyond.area_law import bounds as module
from chapters.beyond.area_law import only
from chapters.beyond.area_law.bounds import error_bounds
from chapters.beyond.area_law.curricula import (
    Curriculum,
    best_limits,
    least_time,
    time_of,
    train_curriculum,
)
from emergence import theory
from emergence.theory import area, limits

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


def ahead(n, first, second=1):
    """The first pair for a time, in units of N, and another from then on."""
    return [(first * n, np.array(only(0, n))), (40.0 * n, np.array(only(second, n)))]


def test_phases_are_one_flow():
    """One mixture in two phases takes what it takes in one."""
    n = 8
    once = theory.emergence_times(n, query="uniform").alpha
    phases = [(0.3 * once, np.full(n, 1 / n)), (2 * once, np.full(n, 1 / n))]
    assert time_of(phases) == pytest.approx(once, rel=1e-6)
    assert time_of([(0.5 * once, np.full(n, 1 / n))]) == np.inf


def test_the_bound_is_not_far():
    """Planted: one and a half times the bound is too much for some curriculum."""
    n = 1024
    low, high = best_limits()
    assert limits.gauss(2.0) < low < high < 1.01 * low
    assert max(least_time(n), low * n) < time_of(ahead(n, 1.5)) < 1.5 * least_time(n)


def test_until_then_no_loss_has_fallen():
    n = 256
    flow = theory.flow_in(theory.area.expected_loss(np.arange(n), np.eye(n)[0]), least_time(n))
    assert flow.loss[-1] > 1 - 15 / n


def test_rates_are_those_of_the_theorem():
    slow = least_time(64, theory.gaussian_rates(32.0))
    assert slow == pytest.approx(least_time(64))  # the product of the rates is one
    with pytest.raises(ValueError, match="one rate"):
        least_time(64, theory.Rates(gamma=2.0))


CPU = torch.device("cpu")


def test_the_first_pair_is_asked_for_ahead():
    """With it the loss of any pair starts later, and lower than without."""
    plain = train_curriculum(Curriculum(4, 16, 128, ahead=0, steps=20), [0, 1], device=CPU)
    ahead = train_curriculum(Curriculum(4, 16, 128, ahead=12, steps=20), [0, 1], device=CPU)
    assert np.isfinite(plain).all()
    assert np.isnan(ahead[:, :12]).all()
    assert (ahead[:, 16:].mean(axis=1) < 0.9 * plain[:, 16:].mean(axis=1)).all()
