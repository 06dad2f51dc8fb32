"""App. B: formulas follow, speeds are the model's, proofs prove, and wrong bounds are refuted."""

import numpy as np
import pytest
import sympy as sp
from sympy import KroneckerDelta

from asserts import refused
from chapters.paper import appendix_b
from chapters.paper.appendix_b import INEQUALITIES, G, Identity, R
from emergence import theory
from emergence.proofs import reduced
from emergence.proofs.intervals import Bounds
from emergence.proofs.reduced import ALPHA, BETA, GAMMA, N, S


@pytest.mark.parametrize(("alpha", "beta", "gamma", "n"), [(0.3, -1.1, 0.7, 2), (1.5, 2.0, 1.2, 7)])
def test_derived_loss_has_the_value_of_theory(alpha, beta, gamma, n):
    value = float(reduced.derive_loss().subs({ALPHA: alpha, BETA: beta, GAMMA: gamma, N: n}))
    assert value == pytest.approx(theory.reduced_loss(alpha, beta, gamma, n), rel=1e-12)


def test_attention_weights_add_up_to_one():
    attention = reduced.derive_attention()
    at = attention.pair, N
    target = attention.label.subs(KroneckerDelta(attention.pair, N), 1).subs(*at)
    other = attention.label.subs(KroneckerDelta(attention.pair, N), 0)
    assert sp.simplify(target + (N - 1) * other + N * attention.item - 1) == 0
    power = BETA * sp.exp(ALPHA) / (sp.exp(ALPHA) + 2 * N - 2)
    assert Identity("", S**2 * R / G, sp.exp(2 * power) * (S + 2 * N - 1) / G).residual() == 0


POINTS = [(0.1, 0.4, 0.3, 2), (0.5, 12.0, 1.4, 9), (0.0, 0.5, 0.5, 300)]


@pytest.mark.parametrize(("alpha", "beta", "gamma", "n"), POINTS)
def test_speeds_are_those_of_the_flow(alpha, beta, gamma, n):
    point = {"alpha": alpha, "beta": beta, "gamma": gamma, "x": np.array(1 / n)}
    d_alpha, d_beta, d_gamma = theory.reduced_gradient(alpha, beta, gamma, n)
    assert appendix_b.alpha_speed(point) == pytest.approx(-d_alpha * n**2, rel=1e-10)
    assert appendix_b.beta_speed(point) == pytest.approx(-d_beta * n**2, rel=1e-10)
    assert appendix_b.gamma_speed(point) == pytest.approx(-d_gamma * n, rel=1e-10)
    excess = n * (-d_gamma * n - (1 - gamma))
    assert appendix_b.gamma_excess(point) == pytest.approx(excess, rel=1e-6, abs=1e-9)
    signal = theory.signal(alpha, beta, n)
    assert appendix_b.excess_signal(point) == pytest.approx(n * (signal - 1), rel=1e-10)


@pytest.mark.parametrize("key", INEQUALITIES)
def test_every_estimate_holds_from_some_n_and_fails_before(key):
    n_from, sharp = appendix_b.least_n(INEQUALITIES[key])
    assert appendix_b.prove(INEQUALITIES[key], n_from)
    assert not sharp or n_from == 2 or appendix_b.fails_at(INEQUALITIES[key], n_from - 1)


def test_times_lie_inside_their_bounds():
    limits, times = appendix_b.time_bounds(1000), theory.emergence_times(1000)
    for name in ("gamma", "beta", "alpha"):
        low, high = getattr(limits, name)
        assert low * (1 - 1e-9) <= getattr(times, name) <= high * (1 + 1e-9)


def test_balls_contain_the_values():
    box = {"alpha": (0.1, 0.3), "beta": (0.5, 2.0), "gamma": (0.5, 1.0), "x": (0.0, 0.25)}
    enclosure = appendix_b.alpha_speed({name: Bounds(*ends).ball for name, ends in box.items()})
    for corner in (0, 1):
        point = {name: np.array(ends[corner]) for name, ends in box.items()}
        assert enclosure.contains(Bounds(*(float(appendix_b.alpha_speed(point)),) * 2).ball)


@pytest.mark.parametrize(
    ("key", "margin", "n_from"),
    [
        *(
            (key, lambda p, key=key: -INEQUALITIES[key].margin(p), 200)
            for key in ("beta_late", "gamma_upper", "beta_lower")
        ),
        ("beta_faster", lambda p: appendix_b.speed_ratio(p) - 1, 2),  # alpha and beta swapped
        ("beta_late", lambda p: p["x"] - 1e-4, 10),  # fails from 10,000 pairs on
    ],
)
def test_a_wrong_bound_is_refuted(key, margin, n_from):
    assert not appendix_b.prove(INEQUALITIES[key]._replace(margin=margin), n_from)


def test_what_is_undecided_or_never_holds_is_said():
    row = INEQUALITIES["gamma_ceiling"]._replace(margin=lambda p: p["x"] * p["x"])
    refused(ArithmeticError, "undecided", appendix_b.prove, row, 2, most_boxes=100)
    row = INEQUALITIES["alpha_lower"]
    wrong = row._replace(margin=lambda p: appendix_b.alpha_speed(p) - 1 / 6)
    assert appendix_b.least_n(wrong) == (np.inf, False)


@pytest.mark.parametrize(("ceiling", "holds"), [(1.5, True), (8.0, False)])
def test_a_larger_box_takes_a_larger_n(ceiling, holds):
    row = appendix_b.with_beta_up_to(INEQUALITIES["beta_late"], ceiling)
    assert appendix_b.prove(row, 3) is holds
