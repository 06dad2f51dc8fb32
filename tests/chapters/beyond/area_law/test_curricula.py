"""No curriculum makes alpha emerge before the time that the theorem gives."""

import numpy as np
import pytest

from chapters.beyond.area_law import only
from chapters.beyond.area_law.curricula import (
    best_limits,
    least_time,
    time_of,
)
from emergence import theory
from emergence.theory import limits


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
