"""The closed forms of App. B against the model, symbols, autograd and other integrators."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from asserts import refused
from draws import stream
from emergence import models, tasks, theory
from emergence.analysis import head_weights
from oracles import elementwise as oracle

SOME_N = [1, 2, 3, 10]
states = st.tuples(st.floats(-2, 4), st.floats(-2, 4), st.floats(-2, 2))
counts = st.integers(1, 8)


def model_loss(state, n_pairs):
    """The loss of the dense network on orthonormal inputs, from a tensor (alpha, beta, gamma)."""
    dim = 2 * n_pairs + 2
    batch = tasks.orthonormal_pairs(3, n_pairs, dim, generator=stream())
    error = models.disentangled_output(head_weights(state, dim), batch.inputs) - batch.target
    losses = error.square().sum(dim=-1)
    assert losses.max() - losses.min() < 1e-12  # any orthonormal inputs give the same
    return losses.mean()


def velocity(state, n_pairs):
    """The three rates of App. B.5, as printed."""
    alpha, beta, gamma = state
    big = math.exp(alpha) + 2 * n_pairs - 2
    s = math.exp(beta * math.exp(alpha) / big)
    r = s + 2 * n_pairs - 1
    push = gamma / r**2 - gamma**2 * (s - 1) / r**3
    shared = 2 * (2 * n_pairs - 1) * s * math.exp(alpha)
    return np.array([
        beta * (2 * n_pairs - 2) * shared / big**2 * push,
        shared / big * push,
        2 * s / r - 2 * gamma * (s**2 + 2 * n_pairs - 1) / r**2,
    ])  # fmt: skip


def printed_flow(n_pairs, end, **options):
    """The flow of these rates from zero, by another method than the library's."""
    return solve_ivp(
        lambda _t, state: velocity(state, n_pairs), (0, end), np.zeros(3), method="DOP853",
        rtol=1e-12, atol=1e-14, **options,
    )  # fmt: skip


@given(state=states, n_pairs=st.integers(1, 8))
def test_loss_and_gradient_are_those_of_the_model_and_of_the_symbols(state, n_pairs):
    loss = theory.reduced_loss(*state, n_pairs)
    leaf = torch.tensor(state, dtype=torch.float64, requires_grad=True)
    model = model_loss(leaf, n_pairs)
    (slope,) = torch.autograd.grad(model, leaf)
    scale = float(slope.abs().max()) + 1
    assert loss == pytest.approx(float(model.detach()), rel=1e-12)
    gradient = pytest.approx(slope.tolist(), rel=1e-12, abs=1e-12 * scale)
    assert theory.reduced_gradient(*state, n_pairs) == gradient
    assert loss == pytest.approx(oracle.enumerated_loss(*state, n_pairs, n_pairs - 1), rel=1e-12)
    share = math.exp(state[0]) / (math.exp(state[0]) + 2 * n_pairs - 2)
    assert theory.retrieval(state[0], n_pairs) == pytest.approx(share, rel=1e-14)
    signal = math.exp(state[1] * share)
    assert theory.signal(*state[:2], n_pairs) == pytest.approx(signal, rel=1e-14)


@pytest.mark.parametrize("seen", [theory.reduced_loss, theory.reduced_gradient])
def test_arrays_broadcast(seen):
    alpha, beta = np.linspace(-1, 2, 3)[:, None], np.linspace(0, 3, 4)
    n_pairs = np.array([1, 2, 5, 7])
    table = np.array(seen(alpha, beta, 0.7, n_pairs))
    assert table.shape[-2:] == (3, 4)
    for i, j in np.ndindex(3, 4):
        single = seen(float(alpha[i, 0]), float(beta[j]), 0.7, int(n_pairs[j]))
        assert table[..., i, j] == pytest.approx(single, rel=1e-14, abs=1e-16)


@pytest.mark.usefixtures("unchecked")
def test_bad_questions_raise():
    refused(ValueError, "at least one pair", theory.reduced_loss, 0.0, 0.0, 0.0, -1)
    refused(ValueError, "at least one pair", theory.reduced_gradient, 0.0, 0.0, 0.0, 0)
    refused(ValueError, "at least one pair", theory.reduced_loss, 0.0, 0.0, 0.0, np.array([3, 0]))
    refused(ValueError, "at least one pair", theory.gradient_flow, 0, 1.0)
    refused(ValueError, "at least one pair", theory.gradient_descent, 0, 0.1, 2)
    refused(ValueError, "at least one pair", theory.emergence_times, -1)
    refused(ValueError, "forward in time", theory.gradient_flow, 3, -1.0)
    refused(ValueError, "query rule 'first'", theory.gradient_flow, 3, 1.0, query="first")
    refused(ValueError, "query rule 'first'", theory.emergence_times, 3, query="first")
    refused(ValueError, "threshold must be positive", theory.emergence_times, 3, threshold=0.0)
    refused(ValueError, "must be positive", theory.emergence_times, 3, threshold=(0.5, -0.1, 0.5))


def values_at(path, place):
    """The three parameters and the loss at one of the times."""
    return [float(curve[place]) for curve in (path.alpha, path.beta, path.gamma, path.loss)]


@pytest.mark.parametrize("n_pairs", SOME_N[1:])
def test_flow_is_that_of_the_printed_rates(n_pairs):
    times = np.linspace(0, 4 * n_pairs**2, 20)
    path = theory.gradient_flow(n_pairs, float(times[-1]), times=times)
    other = printed_flow(n_pairs, times[-1], t_eval=times)
    assert min(path.points[-1]) > 0.6  # long after everything has emerged
    assert np.array_equal(path.t, times)
    assert path.points == pytest.approx(other.y.T, rel=1e-7, abs=1e-8)
    losses = [oracle.enumerated_loss(*state, n_pairs, n_pairs - 1) for state in other.y.T]
    assert path.loss == pytest.approx(losses, rel=1e-7)


def test_flow_and_descent_start_where_they_are_told():
    whole = theory.gradient_flow(3, 9.0, times=np.array([4.0, 9.0]))
    rest = theory.gradient_flow(3, 5.0, start=whole.points[0])
    assert values_at(rest, -1) == pytest.approx(values_at(whole, -1), rel=1e-8)
    zero = theory.gradient_flow(3, 9.0)
    assert values_at(zero, 0) == [0, 0, 0, 1]
    assert (zero.t[0], zero.t[-1]) == (0.0, 9.0)
    path = theory.gradient_descent(3, 0.5, 2)
    assert path.t.tolist() == [0.0, 0.5, 1.0]
    assert values_at(path, 0) == [0, 0, 0, 1]
    # dL/dgamma = -2/(2N) at zero
    assert path.points[1].tolist() == pytest.approx([0, 0, 0.5 * 2 / 6])


@pytest.mark.parametrize("n_pairs", SOME_N)
def test_small_steps_of_descent_approach_the_flow(n_pairs):
    """Richardson: half the step, half the error; the extrapolation agrees to second order."""
    end = 2.0 * n_pairs**2
    exact = np.array(values_at(theory.gradient_flow(n_pairs, end), -1))
    coarse, fine = (
        np.array(values_at(theory.gradient_descent(n_pairs, end / k, k), -1)) for k in (800, 1600)
    )
    moved = exact != 0
    assert moved.sum() == (3 if n_pairs == 1 else 4)  # alpha rests for a single pair
    ratio = (coarse - exact)[moved] / (fine - exact)[moved]
    assert ratio == pytest.approx(np.full(moved.sum(), 2.0), rel=0.03)
    assert 2 * fine - coarse == pytest.approx(exact, abs=0.03 * np.abs(fine - exact).max())


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 10, 64])
def test_first_integral_is_zero_along_the_flow(n_pairs):
    path = theory.gradient_flow(n_pairs, 8.0 * n_pairs**2)
    terms = np.expm1(path.alpha) + (2 * n_pairs - 2) * path.alpha
    rest = theory.first_integral(path.alpha, path.beta, n_pairs)
    assert np.abs(rest).max() <= 1e-9 * max(terms.max(), 1.0)
    if n_pairs > 1:
        assert path.beta[-1] > 0.5
    off_the_flow = math.e - 1 + (2 * n_pairs - 2) - 4 * (n_pairs - 1)
    assert theory.first_integral(1.0, 2.0, n_pairs) == pytest.approx(off_the_flow)


@pytest.mark.parametrize("n_pairs", [2, 3, 10, 200])
def test_emergence_times_are_those_of_the_printed_rates_in_the_order_of_theorem_2(n_pairs):
    def loss_left(_t, state):
        """How far the loss of App. B.3 is above one half."""
        alpha, beta, gamma = state
        s = math.exp(beta * math.exp(alpha) / (math.exp(alpha) + 2 * n_pairs - 2))
        r, rest = s + 2 * n_pairs - 1, 2 * n_pairs - 1
        return gamma**2 * (s**2 + rest) / r**2 - 2 * gamma * s / r + 0.5

    events = [lambda _t, state, i=i: state[i] - 0.5 for i in range(3)] + [loss_left]
    times = theory.emergence_times(n_pairs)
    other = printed_flow(n_pairs, 1.01 * max(times), events=events)
    expected = [float(found[0]) for found in other.t_events]
    assert (*times[:3], times.collapse) == pytest.approx(expected, rel=1e-9)
    assert 0 < times.gamma < times.beta < times.alpha == times.icl


def test_emergence_grows_as_theorem_2_says():
    """Twice the pairs: twice T_gamma, four times T_alpha, T_beta, t_ICL; also where N is huge."""
    short, long = theory.emergence_times(2**19), theory.emergence_times(2**20)
    ratios = [b / a for a, b in zip(short, long, strict=True)]
    assert ratios == pytest.approx([4, 4, 2, 4, 4], rel=1e-4)


def test_each_parameter_has_its_own_threshold_which_may_be_out_of_reach():
    times = theory.emergence_times(6, threshold=(0.1, 0.3, 0.5))
    for i, level in enumerate((0.1, 0.3, 0.5)):
        assert times[i] == pytest.approx(theory.emergence_times(6, threshold=level)[i], rel=1e-8)
    assert times.icl == max(times[:3])
    assert times.collapse == pytest.approx(theory.emergence_times(6).collapse, rel=1e-8)
    # One pair needs no first layer: alpha rests. And gamma ends at 1, hence never at 2.
    times = theory.emergence_times(1)
    assert times.alpha == times.icl == math.inf
    assert max(times.beta, times.gamma, times.collapse) < 10
    assert theory.emergence_times(2, threshold=(0.5, 0.5, 2.0)).gamma == math.inf
