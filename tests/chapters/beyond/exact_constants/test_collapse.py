"""The collapse time against flows that know nothing of its proof, and against wrong constants."""

import math

import pytest
import sympy as sp

from chapters.beyond.exact_constants import collapse, collapse_steps
from emergence import theory
from emergence.theory import limits


def left(n_pairs, rest, terms):
    """What the rest has beside C, C1/b and C2/b^2, times b^3."""
    late = limits.late_beta(n_pairs)
    series = sum(part / late**k for k, part in enumerate(terms))
    return (rest - series) * late**3


@pytest.mark.parametrize("n_pairs", [4096, 2**16])
def test_the_rest_is_that_of_the_integrated_flow(n_pairs):
    time = math.sqrt(2 * math.pi) * n_pairs**2
    time += n_pairs * (collapse.stated(n_pairs) + collapse.rest(n_pairs))
    assert theory.emergence_times(n_pairs).collapse == pytest.approx(time, rel=1e-9)


def test_the_constants_are_those_of_the_last_phase():
    terms, phase = collapse.last_terms(), limits.last_phase()
    assert terms.constant == pytest.approx(phase.constant, abs=1e-6)
    assert terms.first == pytest.approx(phase.next, abs=1e-5)


def test_three_constants_leave_the_third_power():
    terms = collapse.last_terms()
    rests = {n_pairs: collapse.rest(n_pairs) for n_pairs in (10**20, 10**40, 10**80)}
    sizes = [left(n, rests[n], terms) for n in (10**20, 10**40, 10**80)]
    assert all(0.5 < size < 1.5 for size in sizes)
    assert sizes[2] - sizes[1] < sizes[1] - sizes[0]  # it has a limit
    for k, wrong in enumerate((3e-4, 5e-3, 0.08)):
        planted = [part - (k == order) * wrong for order, part in enumerate(terms)]
        assert left(10**80, rests[10**80], planted) > 1.5


@pytest.mark.parametrize(
    ("name", "planted", "steps"),
    [
        ("_known", lambda: 2 * sp.EulerGamma, {f"constant of order {k}" for k in range(3)}),
        ("ROOT", 2 * sp.sqrt(sp.pi), {"terms with the area"}),
    ],
)
def test_a_wrong_constant_leaves_something(monkeypatch, name, planted, steps):
    monkeypatch.setattr(collapse_steps, name, planted)
    result = collapse_steps._order_by_order()
    assert {step for step, value in result.items() if value != 0} == steps


def test_a_wrong_beta_leaves_something(monkeypatch):
    monkeypatch.setattr(collapse_steps, "_late_beta", lambda: 1 / collapse_steps.ETA)
    assert collapse_steps._late_curve()["beta where x is one"] != 0
    assert collapse_steps._order_by_order()["constant of order 1"] != 0


def test_few_pairs_are_refused():
    with pytest.raises(ValueError, match="at least 4096 pairs"):
        collapse.rest(1000)
