"""Bounds for every N at once against the flow, and against wrong constants."""

import math

import pytest
from flint import arb
from scipy.integrate import quad
from scipy.optimize import brentq

from asserts import refused
from chapters.beyond.exact_constants import every_n
from emergence import theory

NAMES = "alpha", "beta"
PLACES = 8, 16, 50, 128


@pytest.fixture(scope="module")
def rests():
    return {name: every_n.rest(name, 8) for name in NAMES}


def alpha_at(beta, n_pairs):
    def integral(alpha):
        return math.expm1(alpha) + (2 * n_pairs - 2) * alpha - (n_pairs - 1) * beta**2

    return brentq(integral, 0, 1 + beta**2, xtol=1e-15)


def settled_time(name, n_pairs):
    """The integral of d beta/V and N gamma*, from App. B.4 with p, o and the goal p/n of gamma."""

    def state(beta):
        g = float(theory.retrieval(alpha_at(beta, n_pairs), n_pairs))
        others = 2 * n_pairs - 1
        p, o = (part / (math.exp(beta * g) + others) for part in (math.exp(beta * g), 1))
        goal = p / (p**2 + others * o**2)
        return 2 * (1 - p) * p * g * goal * (1 - goal * (p - o)), goal

    end = 0.5
    if name == "alpha":
        end = math.sqrt((math.expm1(0.5) + n_pairs - 1) / (n_pairs - 1))
    wait = quad(lambda beta: 1 / state(beta)[0], 0, end, epsabs=0, epsrel=1e-12)[0]
    return wait + n_pairs * state(end)[1]


def beyond_constants(time, n_pairs, constants):
    """N (T - c2 N^2 - c1 N - c0) of an integrated time."""
    square, linear, constant = (float(part) for part in constants)
    return n_pairs * (time - square * n_pairs**2 - linear * n_pairs - constant)


@pytest.mark.parametrize("name", NAMES)
def test_the_constants_are_the_first_coefficients(name):
    coefficients = every_n.manifold(name, arb(0), 800)
    for result, stated in zip(coefficients, every_n.constants(name), strict=False):
        assert result.contains(stated)
        assert not result.contains(stated + arb("0.04"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_pairs", [2, 3, 8, 64, 256])
def test_the_lag_is_bounded_on_both_sides(name, n_pairs):
    """Of an integral that knows neither u nor a series."""
    time = getattr(theory.emergence_times(n_pairs), name)
    delta = settled_time(name, n_pairs) - time
    bound = float(every_n.lag(name, arb(1) / n_pairs)) / n_pairs
    bound += n_pairs * math.exp(-time / n_pairs)
    assert 0 < delta < bound
    assert n_pairs < 8 or delta > 0.4 * bound  # no bound for its own sake


@pytest.mark.parametrize("name", NAMES)
def test_the_flow_lies_inside(name, rests):
    low, high = rests[name]
    constants = every_n.constants(name)
    times = {n: getattr(theory.emergence_times(n), name) for n in PLACES}
    for n_pairs, time in times.items():
        assert low <= beyond_constants(time, n_pairs, constants) <= high
    farthest = PLACES[-1]
    for order, wrong in enumerate((1e-3, 1e-2, 0.05)):
        planted = [part + (k == order) * arb(wrong) for k, part in enumerate(constants)]
        assert not low <= beyond_constants(times[farthest], farthest, planted) <= high


def test_gamma_lies_inside():
    shift = 0.75 * math.log(2) - 0.5
    bound = every_n.gamma_rest()
    assert bound < 0.01
    for n_pairs in (2, 3, 10, 30):
        after = theory.emergence_times(n_pairs).gamma - n_pairs * math.log(2)
        assert n_pairs**3 * abs(after + shift / n_pairs) <= bound
    assert 30**3 * abs(after + (shift + 1e-4) / 30) > bound


def test_the_order_needs_the_bounds_and_few_pairs_are_refused(rests):
    assert every_n.ordered(8, rests["alpha"], rests["beta"])
    assert not every_n.ordered(8, (-1e3, 1e3), rests["beta"])
    refused(ValueError, "three pairs", every_n.rest, "alpha", 2)
