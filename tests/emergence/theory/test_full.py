"""The full model's landscape against autograd through the dense model, and its flow."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from emergence import models, subspace, tasks, theory

QUERIES = ("last", "uniform")


def through_the_model(point, n_pairs, query):
    """The loss and its gradient by autograd through Eq. 1, on one draw of each query."""
    gen = torch.Generator().manual_seed(n_pairs)
    batch = tasks.orthonormal_pairs(40 * n_pairs, n_pairs, 2 * n_pairs, generator=gen, query=query)
    places = range(n_pairs) if query == "uniform" else [n_pairs - 1]
    chosen = [int((batch.query == place).nonzero()[0]) for place in places]
    free = torch.tensor(point, dtype=torch.float64, requires_grad=True)
    weights = subspace.embed(subspace.PseudoParameters.unstack(free), 2 * n_pairs)
    output = models.disentangled_output(weights, batch.inputs[chosen])
    loss = (output - batch.target[chosen]).square().sum(dim=-1).mean()
    (gradient,) = torch.autograd.grad(loss, free)
    return float(loss.detach()), gradient.numpy()


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("n_pairs", [1, 2, 3, 7])
def test_loss_and_gradient_are_those_of_the_dense_model(n_pairs, query):
    for seed in range(3):
        point = np.random.default_rng(seed).normal(scale=1.2, size=19)
        loss, gradient = through_the_model(point, n_pairs, query)
        full = theory.landscape_of(n_pairs, query, model="full")
        assert full.loss(*point) == pytest.approx(loss, abs=1e-12)
        np.testing.assert_allclose(full.gradient(*point), gradient, atol=1e-12)


@pytest.mark.usefixtures("unchecked")
def test_the_three_parameters_alone_are_the_reduced_model():
    """Frozen sixteen: loss, gradient and emergence times of §6 come back."""
    rates = np.zeros(19)
    rates[subspace.HEAD] = 1
    for query in QUERIES:
        reduced, whole = (theory.landscape_of(6, query, model=m) for m in ("reduced", "full"))
        head = (0.7, 1.3, 0.8)
        point = np.zeros(19)
        point[subspace.HEAD] = head
        assert whole.loss(*point) == pytest.approx(reduced.loss(*head), abs=1e-14)
        gradient = np.array(whole.gradient(*point))[subspace.HEAD]
        np.testing.assert_allclose(gradient, reduced.gradient(*head), atol=1e-14)
        np.testing.assert_allclose(
            theory.times_in(whole, rates=rates), theory.times_in(reduced), rtol=1e-8
        )


@pytest.mark.usefixtures("unchecked")  # for speed: many short calls
@pytest.mark.parametrize("query", QUERIES)
def test_times_are_those_of_an_independent_integration(query):
    """Another solver down autograd's gradient through the dense model."""
    n_pairs = 3
    times = theory.emergence_times(n_pairs, query=query, model="full")

    def velocity(_t, point):
        return -through_the_model(point, n_pairs, query)[1]

    def passes(height):
        def event(_t, point):
            return height(point)

        return event

    events = [passes(lambda p, i=i: p[i] - 0.5) for i in subspace.HEAD]
    path = solve_ivp(
        velocity, (0, 1.01 * times.icl), np.zeros(19), method="DOP853", rtol=1e-10, atol=1e-12,
        events=events,
    )  # fmt: skip
    np.testing.assert_allclose([float(t[0]) for t in path.t_events], times[:3], rtol=1e-6)


def test_any_chance_of_a_query():
    chances = np.array([0.2, 0.5, 0.3])
    mixed = theory.landscape_of_chances(chances)
    point = np.random.default_rng(0).normal(size=19)
    single = [theory.landscape_of_chances(row).loss(*point) for row in np.eye(3)]
    assert mixed.loss(*point) == pytest.approx(chances @ single, abs=1e-13)


def test_predicted_steps_are_those_of_the_descent():
    landscape = theory.landscape_of(8, "uniform", model="full")
    path = theory.descent_in(landscape, 45, rates=theory.gaussian_rates(16.0))
    assert tuple(theory.predicted_steps(8, 16)) == tuple(theory.first_steps(path))
    assert tuple(theory.predicted_steps(8, 16)) == (33, 19, 41, 39)
    assert theory.predicted_steps(8, 16, limit=35) == (33, 19, np.inf, np.inf)
    assert theory.predicted_steps(8, 16, model="reduced") != theory.predicted_steps(8, 16)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="at least one pair"):
        theory.landscape_of(0, model="full")
    with pytest.raises(ValueError, match="there are 19"):
        theory.landscape_of(3, model="full").gradient(0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="3 rates or 19"):
        theory.descent_in(theory.landscape_of(3, model="full"), 1, rates=[1.0] * 4)
