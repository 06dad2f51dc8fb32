"""Asymptotic laws for uniform queries, repeated pairs and windows against integrated flows."""

import math

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from chapters.beyond.uniform_queries import runaway_time
from emergence import theory
from emergence.proofs import contexts as symbols
from emergence.proofs import residuals as steps
from emergence.proofs import speeds
from emergence.theory import contexts, laws, limits
from emergence.theory.flow import Crossing

NAMES = "alpha", "beta", "gamma"


DERIVATIONS = [
    symbols.uniform_residuals, symbols.bursty_residuals, speeds.leading_speeds,
    speeds.three_halves, speeds.knock_in, speeds.cross_entropy,
]  # fmt: skip


@pytest.mark.parametrize("residuals", DERIVATIONS)
def test_every_step_is_an_identity(residuals):
    assert steps.failed(residuals()) == 0


def test_a_failed_step_is_counted_and_shown():
    left_over = {"fine": sp.Integer(0), "wrong": sp.Symbol("x") / 2}
    assert steps.failed(left_over) == 1
    assert "| wrong | x/2 |" in steps.as_table(left_over)


# Uniform queries


@pytest.mark.parametrize("n_pairs", [64, 256])
def test_uniform_emergence_is_that_of_the_limiting_flow(n_pairs):
    times = theory.emergence_times(n_pairs, query="uniform")
    alpha, beta = laws.uniform_times(n_pairs)
    assert max(abs(times.alpha - alpha), abs(times.beta - beta)) < 0.3 * n_pairs
    assert times.gamma == pytest.approx(n_pairs * math.log(2), rel=1e-3)
    assert times.alpha == pytest.approx(laws.uniform_law("alpha")(n_pairs), rel=0.06)


def test_attention_runs_away_when_the_loss_collapses():
    """Integrated over time by another solver up to e^-12 of the end; the rest of order N log N."""
    n_pairs, places = 256, np.arange(256)

    def velocity(_t, state):
        half = math.exp(state[0]) / 2
        own = half / (places + half)
        pull = own * np.exp(state[1] * own)
        return [state[1] * (pull @ (1 - own)), pull.sum() - 0.5]

    late = Crossing((1,), 12.0, terminal=True)
    run = solve_ivp(
        velocity, (0, 1), (0.0, 0.0), events=late, rtol=1e-10, atol=1e-12, method="Radau"
    )
    end = runaway_time(n_pairs)
    assert run.t[-1] < end < run.t[-1] * (1 + 1e-5)
    collapse = theory.emergence_times(n_pairs, query="uniform").collapse
    assert abs(collapse - n_pairs**2 * end) < 0.2 * n_pairs * math.log(n_pairs)


def test_the_shift_of_the_collapse_is_that_of_a_large_threshold():
    shifts = [laws.uniform_law("beta", threshold=b).shift for b in (4.0, 5.0, 6.0)]
    assert abs(shifts[2] - shifts[1]) < 0.03 * abs(shifts[1] - shifts[0])
    size = math.log(2**14)
    left = 1 - runaway_time(2**14) * (size + shifts[2]) / math.sqrt(2 * math.pi)
    assert 1 < left * size**2 < 1.6


def test_uniform_law_is_the_limiting_flow_for_huge_n():
    """Its relative error falls as 1/log^2 N."""
    for i, name in enumerate(("alpha", "beta")):
        law = laws.uniform_law(name)
        errors = [laws.uniform_times(n)[i] / law(n) - 1 for n in (math.exp(40), math.exp(80))]
        assert errors[0] / errors[1] == pytest.approx(4, rel=0.07)
        assert abs(errors[1]) < 1e-4
        assert law.leading == pytest.approx(getattr(limits.leading(1), name), rel=1e-12)
    with pytest.raises(ValueError, match="gamma emerges"):
        laws.uniform_law("gamma")


def test_uniform_sums_are_the_sums():
    """The Hurwitz zeta functions against adding up 200,000 pairs."""
    half, beta, n = 0.7, 0.9, 200_000
    w = half / (np.arange(n) + half)
    logs = half * math.log(n)
    first, second = laws.uniform_excess(half, beta)
    assert first == pytest.approx(np.sum(w * np.exp(beta * w)) - logs - 0.5, abs=1e-5)
    assert second == pytest.approx(np.sum(w * (1 - w) * np.exp(beta * w)) - logs, abs=1e-5)


def test_information_finds_the_law():
    sizes = 2.0 ** np.arange(4, 12)
    truth = {
        "c N^2": 3 * sizes**2, "c N^p": 3 * sizes**1.7,
        "c N^2/log N": 3 * sizes**2 / np.log(sizes),
        "c N^2/(log N + d)": 3 * sizes**2 / (np.log(sizes) + 2.5),
    }  # fmt: skip
    noise = np.exp(1e-4 * np.random.default_rng(0).standard_normal(len(sizes)))
    for law, times in truth.items():
        found = laws.information(sizes, times * noise)
        assert min(found, key=found.get) == law
    with pytest.raises(ValueError, match="six sizes"):
        laws.information(sizes[:5], sizes[:5])


# Contexts


@pytest.mark.parametrize("copies", [2, 5])
@pytest.mark.parametrize("name", NAMES)
def test_bursty_times_approach_their_law(copies, name):
    far, near = (
        getattr(theory.times_in(contexts.bursty(k, copies)), name)
        / laws.bursty_time(name, k, copies)
        - 1
        for k in (24, 96)
    )
    assert abs(near) < 0.012
    assert abs(near) < abs(far) / 3.5 or abs(near) < 1e-4


@pytest.mark.parametrize("copies", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_times_in_blocks_approach_their_law(copies, name):
    far, near = (
        getattr(theory.times_in(contexts.landscape(contexts.blocks(k, copies), k - 1)), name)
        / laws.bursty_time(name, k, copies, order="blocks")
        - 1
        for k in (24, 96)
    )
    assert abs(near) < 0.012
    assert abs(near) < abs(far) / 3.5 or abs(near) < 1e-4


def test_the_law_turns_where_its_rise_equals_the_fall_of_the_delay():
    law = laws.uniform_law("alpha")
    n = law.turning() * np.exp([-0.1, 0.0, 0.1])
    in_units = (law(n) + n) * np.log(n) / n**2
    assert in_units.argmin() == 1


@pytest.mark.parametrize("name", NAMES)
def test_one_copy_is_no_burst(name):
    once = laws.bursty_time(name, 50, 1)
    assert once == pytest.approx(getattr(limits.leading(50), name), rel=1e-9)
    assert laws.repetition(1) == (1, 0)
    assert laws.repetition(1, "blocks") == (1, 0)


def test_windows_take_the_place_of_the_context():
    for windows in ((64, 1024), (1023, 64), (256, 256)):
        times = theory.times_in(contexts.windowed(512, *windows))
        for name in NAMES:
            law = laws.windowed_time(name, *windows)
            assert getattr(times, name) == pytest.approx(law, rel=3 / min(windows))
    whole = theory.times_in(contexts.windowed(9, 100, 100))
    assert whole == pytest.approx(theory.emergence_times(9), rel=1e-9)
