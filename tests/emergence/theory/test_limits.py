"""Expansions and rigorous bounds against the integrated flow."""

import math

import pytest
import sympy as sp

from emergence import theory
from emergence.proofs.beyond import asymptotics
from emergence.proofs.beyond.enclosures import enclose
from emergence.theory import limits

# the relative error that is left, by name: N to this power
ORDER = {"alpha": 2, "beta": 2, "gamma": 4}


@pytest.mark.parametrize("name", ORDER)
def test_expansions_leave_the_stated_order(name):
    def left(n_pairs):
        exact = getattr(theory.emergence_times(n_pairs), name)
        return abs(getattr(limits.expansion(n_pairs), name) / exact - 1)

    assert math.log2(left(32) / left(64)) == pytest.approx(ORDER[name], abs=0.1)


def test_collapse_lies_within_the_stated_order():
    n_pairs = 4096
    late = math.sqrt(2 * math.log(2 * n_pairs))
    exact = theory.emergence_times(n_pairs).collapse
    assert abs(limits.expansion(n_pairs).collapse - exact) < n_pairs / late
    assert abs(limits.leading(n_pairs).collapse - exact) > 5 * n_pairs


def test_gauss_is_the_integral():
    steps = 4000
    middle = ((k + 0.5) * 0.8 / steps for k in range(steps))
    riemann = sum(math.exp(-u * u / 2) for u in middle) * 0.8 / steps
    assert limits.gauss(0.8) == pytest.approx(riemann, rel=1e-7)


def test_every_step_of_the_expansion_is_an_identity():
    assert set(asymptotics.residuals().values()) == {sp.Integer(0)}


def test_a_wrong_coefficient_leaves_something():
    e = asymptotics.E
    assert asymptotics._up_to(e**2 + e**3, 1) == 0
    assert asymptotics._up_to(e**2 + e**3, 2) == e**2
    assert asymptotics._up_to(1 / e + e, 0) == 1 / e
    series = asymptotics._series(1 / (1 - e))
    assert sp.expand(series - sum(e**k for k in range(asymptotics.ORDER + 1))) == 0


@pytest.mark.parametrize("n_pairs", [2, 7, 1000])
def test_bounds_contain_the_integrated_times(n_pairs):
    bounds, times = enclose(n_pairs, 300), theory.emergence_times(n_pairs)
    for name, (low, high) in bounds._asdict().items():
        assert low * (1 - 1e-9) <= getattr(times, name) <= high * (1 + 1e-9)
        assert high / low - 1 < 0.03


def test_bounds_narrow_with_the_steps():
    few, many = (enclose(5, steps) for steps in (200, 800))
    assert few.alpha[0] < many.alpha[0] < many.alpha[1] < few.alpha[1]
    assert (many.alpha[1] - many.alpha[0]) < 0.4 * (few.alpha[1] - few.alpha[0])


def test_bounds_need_two_pairs():
    with pytest.raises(ValueError, match="at least two pairs"):
        enclose(1)
