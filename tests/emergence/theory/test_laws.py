"""Asymptotic laws for uniform queries, repeated pairs and windows against integrated flows."""

import math

import numpy as np
import pytest

from emergence import theory
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
