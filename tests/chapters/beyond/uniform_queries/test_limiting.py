"""Uniform queries: the limiting flow, and the collapse of the loss."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from chapters.beyond.uniform_queries import runaway_time, uniform_times
from emergence import theory
from emergence.theory import Crossing, laws, limits


def test_attention_runs_away_when_the_loss_collapses():
    """Integrated over time by another solver up to e^-12 of the end; the rest of order N log N."""
    n_pairs, places = 256, np.arange(256)

    def velocity(_t, state):
        half = math.exp(state[0]) / 2
        own_share = half / (places + half)
        pull = own_share * np.exp(state[1] * own_share)
        return [state[1] * (pull @ (1 - own_share)), pull.sum() - 0.5]

    late = Crossing((1,), 12.0, terminal=True)
    run = solve_ivp(
        velocity, (0, 1), (0.0, 0.0), events=late, rtol=1e-10, atol=1e-12, method="Radau"
    )
    end = runaway_time(n_pairs)
    assert run.t[-1] < end < run.t[-1] * (1 + 1e-5)
    collapse = theory.emergence_times(n_pairs, query="uniform").collapse
    assert abs(collapse - n_pairs**2 * end) < 0.2 * n_pairs * math.log(n_pairs)


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
