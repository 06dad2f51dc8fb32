"""Uniform queries: the limiting flow, the collapse of the loss, and which law times follow."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from chapters.beyond.uniform_queries import runaway_time
from chapters.beyond.uniform_queries.limiting import uniform_times
from chapters.beyond.uniform_queries.selection import information
from emergence import theory
from emergence.theory import Crossing, laws, limits


@pytest.mark.parametrize("n_pairs", [64, 256])
def test_uniform_emergence_is_that_of_the_limiting_flow(n_pairs):
    times = theory.emergence_times(n_pairs, query="uniform")
    alpha, beta = uniform_times(n_pairs)
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
        errors = [uniform_times(n)[i] / law(n) - 1 for n in (math.exp(40), math.exp(80))]
        assert errors[0] / errors[1] == pytest.approx(4, rel=0.07)
        assert abs(errors[1]) < 1e-4
        assert law.leading == pytest.approx(getattr(limits.leading(1), name), rel=1e-12)
    with pytest.raises(ValueError, match="gamma emerges"):
        laws.uniform_law("gamma")


def test_information_finds_the_law():
    sizes = 2.0 ** np.arange(4, 12)
    truth = {
        "c N^2": 3 * sizes**2, "c N^p": 3 * sizes**1.7,
        "c N^2/log N": 3 * sizes**2 / np.log(sizes),
        "c N^2/(log N + d)": 3 * sizes**2 / (np.log(sizes) + 2.5),
    }  # fmt: skip
    noise = np.exp(1e-4 * np.random.default_rng(0).standard_normal(len(sizes)))
    for law, times in truth.items():
        found = information(sizes, times * noise)
        assert min(found, key=found.get) == law
    with pytest.raises(ValueError, match="six sizes"):
        information(sizes[:5], sizes[:5])
