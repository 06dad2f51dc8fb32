"""Expansions and rigorous bounds against the integrated flow."""

import math

import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import erfcx

from emergence import theory
from emergence.proofs.intervals import in_decimals
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
