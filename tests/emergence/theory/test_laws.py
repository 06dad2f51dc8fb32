"""Laws, expansions and rigorous bounds against integrated flows."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import erfcx

from emergence import theory
from emergence.proofs.intervals import in_decimals
from emergence.theory import contexts, laws, limits

NAMES = "alpha", "beta", "gamma"


# Uniform queries


def test_uniform_sums_are_the_sums():
    """The Hurwitz zeta functions against adding up 200,000 pairs."""
    half, beta, n = 0.7, 0.9, 200_000
    w = half / (np.arange(n) + half)
    logs = half * math.log(n)
    first, second = laws.uniform_excess(half, beta)
    assert first == pytest.approx(np.sum(w * np.exp(beta * w)) - logs - 0.5, abs=1e-5)
    assert second == pytest.approx(np.sum(w * (1 - w) * np.exp(beta * w)) - logs, abs=1e-5)


# Contexts


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("order", "repeated"), [("cyclic", np.tile), ("blocks", np.repeat)])
@pytest.mark.parametrize("name", NAMES)
def test_times_with_copies_approach_their_law(order, repeated, name):
    copies = 5
    far, near = (
        getattr(theory.times_in(contexts.landscape(repeated(np.arange(k), copies), k - 1)), name)
        / laws.bursty_time(name, k, copies, order=order)
        - 1
        for k in (24, 96)
    )
    assert abs(near) < 0.012
    assert abs(near) < abs(far) / 3.5 or abs(near) < 1e-4


def test_gamma_has_no_uniform_law():
    with pytest.raises(ValueError, match="gamma emerges"):
        laws.uniform_law("gamma")


@pytest.mark.parametrize("name", NAMES)
def test_one_copy_is_no_burst(name):
    once = laws.bursty_time(name, 50, 1)
    assert once == pytest.approx(getattr(limits.leading(50), name), rel=1e-9)
    assert laws.repetition(1) == (1, 0)
    assert laws.repetition(1, "blocks") == (1, 0)


def test_windows_take_the_place_of_the_context():
    for windows in ((64, 1024), (1023, 64), (256, 256)):
        times = theory.times_in(contexts.landscape(np.arange(512), 511, windows))
        for name in NAMES:
            law = laws.windowed_time(name, *windows)
            assert getattr(times, name) == pytest.approx(law, rel=3 / min(windows))
    whole = theory.times_in(contexts.landscape(np.arange(9), 8, (100, 100)))
    assert whole == pytest.approx(theory.emergence_times(9), rel=1e-9)


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
    exact = theory.emergence_times(n_pairs).collapse
    assert abs(limits.expansion(n_pairs).collapse - exact) < 0.07 * n_pairs  # the next order
    assert abs(limits.leading(n_pairs).collapse - exact) > 5 * n_pairs


def last_phase_at(b):
    """How long the last phase lasts beside -b^2 + 2b, at a finite b = `late` and for N to infinity.

    With d = e^alpha/2N: beta^2/2 = log(2N d) + d, x = beta d/(1 + d), and by step 5 the slow phase
    has taken 2 beta - beta^2 less the tail of the Gaussian. d is what varies.
    """
    size, x_start = b * b / 2 + math.log(b), 1e-3

    def beta(log_d):
        return math.sqrt(2 * (size + log_d + math.exp(log_d)))

    def x(log_d):
        return beta(log_d) / (1 + math.exp(-log_d))

    def slope(log_d, state):
        wait = (1 + math.exp(log_d)) * math.exp(-x(log_d)) / (state[0] * x(log_d))
        return [(math.exp(x(log_d)) - state[0]) * wait, wait]

    start = brentq(lambda log_d: x(log_d) - x_start, math.log(x_start / b) - 1, 0)
    d = math.exp(start)
    tail = math.sqrt(math.pi / 2) * erfcx(beta(start) / math.sqrt(2)) / (d * math.exp(d))
    time = 2 * beta(start) - beta(start) ** 2 - tail + 3 * x_start
    end = brentq(lambda log_d: x(log_d) - 0.9 * b, start, 6)
    run = solve_ivp(
        slope, (start, end), (1 + x_start, time), method="LSODA", rtol=1e-11, atol=1e-12
    )
    return run.y[1, -1] - (2 * b - b * b)


@pytest.mark.parametrize("late", [20, 40, 80])
def test_the_last_phase_ends_as_its_constants_say(late):
    phase = limits.last_phase()
    left = late**2 * (last_phase_at(late) - phase.constant - phase.first / late)
    assert left == pytest.approx(phase.second, abs=1.5 / late)


def test_printed_bounds_round_outward():
    low, high = 693147.1805599252, 693147.1805599257
    assert in_decimals((low, high), 10**6) == "0.69314 to 0.69315"
    assert in_decimals((low, high), 1, digits=1) == "693147.1 to 693147.2"
    assert in_decimals((0.5, 0.5), 1, digits=1) == "0.5 to 0.5"
