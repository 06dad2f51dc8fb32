"""Uniform queries: the limiting flow, and the collapse of the loss."""

import math

import numpy as np
from scipy.integrate import solve_ivp

from chapters.beyond.uniform_queries import runaway_time
from emergence import theory
from emergence.theory import Crossing


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
