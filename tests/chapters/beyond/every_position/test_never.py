"""No head for three parameters under the causal mask: the sum, the faces and the interval step."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from asserts import refused
from chapters.beyond.every_position import never
from emergence import theory


@functools.cache
def prefix(n_pairs):
    return theory.landscape_of(n_pairs, mask="causal")


@functools.cache
def prefixes(n_pairs):
    return theory.landscape_of(n_pairs, mask="causal", supervision="every")


def pushes_at_rest(n_pairs, alpha):
    """Minus the slope by beta at beta = 0 over gamma, for small gamma, prefix by prefix."""
    each = range(1, n_pairs + 1)
    return np.array([-prefix(n).gradient(alpha, 0.0, 1e-6)[1] * 1e6 for n in each])


def test_the_sum_that_decides_and_three_prefixes_at_the_other_face():
    """Partial sums of c_n from the network's loss; c_n is near 2/m^2 - 8/m^3, m = 2n + 1."""
    low, high = never.sum_of_pushes()
    assert low == pytest.approx(-0.00609751, abs=1e-8)
    assert high - low < 1e-12
    pushes = pushes_at_rest(60, 0.0)
    m = 2 * np.arange(1, 2_000_000) + 1.0
    largest = 2 * (m - 1) * (m - 4) / (m**3 * (m - 2))
    assert pushes == pytest.approx(largest[:60], abs=3e-7)
    rest = largest[60:].sum()
    assert pushes.sum() + rest == pytest.approx(low, abs=2e-6)
    assert pushes.cumsum().max() < 0 < pushes[1:].min()
    # there two prefixes suffice
    sums = pushes_at_rest(3, math.log(2)).cumsum()
    assert sums == pytest.approx([-2 / 27, -2 / 27 + 26 / 375, 0.0454], abs=1e-4)


def test_the_push_on_beta_is_largest_where_the_proof_takes_it():
    stream = np.random.default_rng(0)
    for alpha, gamma in zip(-stream.exponential(size=40), stream.exponential(size=40), strict=True):
        for n in (1, 2, 3, 10):
            m = 2 * n + 1
            push = -prefix(n).gradient(alpha, 0.0, gamma)[1]
            assert push < gamma * 2 * (m - 1) * (m - 4) / (m**3 * (m - 2))


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 8])
def test_gamma_falls_above_its_bound_while_beta_is_negative(n_pairs):
    """Somewhere the bound is near the gamma at which gamma rests, the affine speed's zero."""
    stream, bound = np.random.default_rng(1), float(never.gamma_bound(n_pairs))
    highest = 0.0
    for _ in range(100):
        alpha, beta = 3 * stream.normal(), -stream.exponential(4.0)
        at_zero, at_bound = (-prefixes(n_pairs).gradient(alpha, beta, g)[2] for g in (0.0, bound))
        assert at_bound < 0 < at_zero
        highest = max(highest, bound * at_zero / (at_zero - at_bound))
    assert highest > 1 + 0.5 * (bound - 1)  # no bound for its own sake
    bounds = [never.gamma_bound(n) for n in range(1, 30)]
    assert all(early > late for early, late in itertools.pairwise(bounds))
    assert bounds[2] == 1 + Fraction(37, 220)


@pytest.mark.parametrize("gamma", [never.gamma_bound(3), 1.0])
def test_the_push_on_alpha_is_negative_on_its_face(gamma):
    """-A at alpha = 0 from the network's loss; the enclosed bound holds and is nearly reached."""
    least = math.inf
    for x in np.geomspace(1e-3, 100, 100):
        push = -3 * prefixes(3).gradient(0.0, -float(x), float(gamma))[0]
        least = min(least, math.exp(x / 6) * push / (-2 * x * float(gamma)))
    bound = never.least_lift(gamma)
    assert 0 < bound <= least
    assert gamma == 1 or least < 1.02 * bound


def test_a_larger_gamma_is_not_enough():
    """With gamma = (1 + sqrt 2)/2, the bound from the prefix of one pair, A changes its sign."""
    gamma = (1 + math.sqrt(2)) / 2
    assert (
        prefixes(3).gradient(0.0, -60.0, gamma)[0] < 0 < prefixes(3).gradient(0.0, -10.0, gamma)[0]
    )
    refused(ArithmeticError, "beyond x = 64", never.least_lift, gamma)


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 40])
def test_the_flow_stays_in_the_region(n_pairs):
    path = theory.flow_in(prefixes(n_pairs), 200.0 * n_pairs)
    assert path.beta[1:].max() < 0
    if n_pairs >= 3:
        assert path.alpha[1:].max() < 0
        assert path.gamma.max() <= never.gamma_bound(3)
