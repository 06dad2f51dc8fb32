"""The equations of others against their leading law, and uniform queries against another solver."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from chapters.beyond import rival_laws
from chapters.beyond.uniform_queries import runaway_time
from emergence import theory
from emergence.theory import Crossing


def test_sparse_attention_is_proportional_to_the_root_of_the_dimension():
    """With a small level s = w = t / T sqrt d at first, so that s = t^2 / 2 d T^2."""
    times = [rival_laws.sparse_attention_time(400, d, level=0.005) for d in (400, 1600)]
    assert times == pytest.approx([400 * 0.1 * np.sqrt(d) for d in (400, 1600)], rel=0.02)


def test_the_difference_from_sparse_attention_falls_like_the_root_of_the_dimension():
    """*Results in brief* says 3% at 16 dimensions."""
    dims = np.array([16, 64, 256])
    ours = [rival_laws.one_step_time(theory.landscape_of(32), int(d)) for d in dims]
    theirs = [rival_laws.sparse_attention_time(64, int(d)) for d in dims]
    apart = np.array(ours) / theirs - 1
    assert f"{apart[0]:.0%}" == "3%"
    assert apart * np.sqrt(dims) == pytest.approx(np.full(3, 4 * apart[0]), rel=0.05)


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
