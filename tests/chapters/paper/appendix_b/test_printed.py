"""App. B derived: every printed formula is what follows, and a miscopied one is noticed."""

import pytest
import sympy as sp
from sympy import KroneckerDelta

from chapters.paper.appendix_b import printed
from chapters.paper.appendix_b.printed import G, Identity, R
from emergence import theory
from emergence.proofs import reduced
from emergence.proofs.reduced import ALPHA, BETA, GAMMA, N, S
from oracles.elementwise import enumerated_loss

IDENTITIES = {identity.place: identity for identity in printed.identities()}


@pytest.mark.parametrize("place", IDENTITIES)
def test_printed_formula_follows_from_the_architecture(place):
    assert IDENTITIES[place].residual() == 0


@pytest.mark.parametrize(("alpha", "beta", "gamma", "n"), [(0.3, -1.1, 0.7, 2), (1.5, 2.0, 1.2, 7)])
def test_derived_loss_has_the_value_of_the_oracle_and_of_theory(alpha, beta, gamma, n):
    value = float(reduced.derive_loss().subs({ALPHA: alpha, BETA: beta, GAMMA: gamma, N: n}))
    assert value == pytest.approx(enumerated_loss(alpha, beta, gamma, n, n - 1), rel=1e-12)
    assert value == pytest.approx(theory.reduced_loss(alpha, beta, gamma, n), rel=1e-12)


def test_attention_weights_add_up_to_one():
    attention = reduced.derive_attention()
    at = attention.pair, N
    target = attention.label.subs(KroneckerDelta(attention.pair, N), 1).subs(*at)
    other = attention.label.subs(KroneckerDelta(attention.pair, N), 0)
    assert sp.simplify(target + (N - 1) * other + N * attention.item - 1) == 0


def test_residual_knows_the_abbreviations():
    power = BETA * sp.exp(ALPHA) / (sp.exp(ALPHA) + 2 * N - 2)
    assert Identity("", S**2 * R / G, sp.exp(2 * power) * (S + 2 * N - 1) / G).residual() == 0
