"""The one population loss, in every combination, against attention between rows and oracles."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chapters.beyond.effective_context import any_query
from emergence import models, subspace, tasks, theory
from emergence.analysis import head_weights
from emergence.theory import _loss, _reduced, contexts
from oracles import elementwise as oracle
from oracles import every_position
from oracles.elementwise import context_loss

RULES = [*product(("strict", "causal"), ("last", "uniform"), ("reduced", "full"))]


def expected(point, n_pairs, query, mask, supervision, model):
    """The loss and its gradient by autograd through the attention between rows."""
    loss = every_position.rows(n_pairs, query, mask, supervision)
    if model == "reduced":
        loss = every_position.head(loss)
    at = torch.tensor(point, requires_grad=True)
    value = loss(at)
    (slope,) = torch.autograd.grad(value, at)
    return value.item(), slope.numpy()


@pytest.mark.parametrize(("mask", "query", "model"), RULES)
@pytest.mark.parametrize("supervision", ["last", "every"])
@pytest.mark.parametrize("n_pairs", [1, 2, 3, 8, 33])
def test_loss_and_gradient_are_those_of_attention_between_rows(
    mask, query, model, supervision, n_pairs
):
    land = theory.landscape_of(n_pairs, query, model=model, supervision=supervision, mask=mask)
    stream = np.random.default_rng(n_pairs)
    for scale in (0.0, 0.1, 0.5, 1.0):
        point = stream.normal(scale=scale, size=sum(land.groups))
        loss, slope = expected(point, n_pairs, query, mask, supervision, model)
        assert land.loss(*point.tolist()) == pytest.approx(loss, abs=1e-13 * max(1, loss))
        allowed = 1e-12 * max(1, np.abs(slope).max())
        np.testing.assert_allclose(land.gradient(*point.tolist()), slope, rtol=0, atol=allowed)


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 8, 33])
def test_the_closed_form_of_the_paper_is_the_same_loss(n_pairs):
    """Asked for the last pair under the strict mask, of one prefix and of many (App. B.3, B.4)."""
    weights, sizes = np.full(n_pairs, 1 / n_pairs), np.arange(1, n_pairs + 1)
    for used, asked, closed in (
        (np.ones(1), sizes[-1:], _reduced.landscape(n_pairs)),
        (weights, sizes, _reduced.landscape_of_prefixes(weights, sizes, n_pairs)),
    ):
        blocks = _loss.questions(used, asked, "last", "reduced", "strict")
        land = _loss.landscape_of_questions(blocks, n_pairs)
        for point in np.random.default_rng(n_pairs).normal(size=(5, 3)).tolist():
            assert land.loss(*point) == pytest.approx(closed.loss(*point), abs=1e-14)
            slope = closed.gradient(*point)
            np.testing.assert_allclose(land.gradient(*point), slope, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(("mask", "query", "model"), RULES)
def test_labels_that_avoid_their_items_are_no_trouble(mask, query, model):
    """The first label has no other row to attend to, however strongly it avoids its item."""
    land = theory.landscape_of(4, query, model=model, supervision="every", mask=mask)
    point = np.zeros(sum(land.groups))
    point[list(land.head)] = -12.0, 3.0, 1.0
    loss, slope = expected(point, 4, query, mask, "every", model)
    assert land.loss(*point.tolist()) == pytest.approx(loss, abs=1e-13)
    np.testing.assert_allclose(land.gradient(*point.tolist()), slope, rtol=0, atol=1e-12)


# The full model


@pytest.mark.usefixtures("unchecked")
def test_the_three_parameters_alone_are_the_reduced_model():
    """Frozen sixteen: loss, gradient and emergence times of §6 come back."""
    rates = np.zeros(19)
    rates[subspace.HEAD] = 1
    for query in ("last", "uniform"):
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


states = st.tuples(st.floats(-2, 4), st.floats(-2, 4), st.floats(-2, 2))
counts = st.integers(1, 9)


def uniform(n_pairs):
    return theory.landscape_of(n_pairs, "uniform")


def assert_gradient(landscape, loss, state):
    gradient = landscape.gradient(*state)
    numeric = oracle.finite_difference(lambda y: loss(*y), np.array(state), 1e-5)
    assert gradient == pytest.approx(numeric, rel=1e-7, abs=1e-8 * (1 + np.abs(numeric).max()))


# Contexts with repeated pairs


window = st.none() | st.integers(1, 20)


@given(
    state=states,
    order=st.lists(st.integers(0, 4), min_size=1, max_size=9),
    which=st.integers(0, 8),
    windows=st.tuples(window, window),
)
def test_context_loss_is_enumerated(state, order, which, windows):
    query = order[which % len(order)]

    def loss(*y):
        return context_loss(*y, order, query, windows)

    landscape = contexts.landscape(np.array(order), query, windows)
    assert landscape.loss(*state) == pytest.approx(loss(*state), rel=1e-12)
    assert_gradient(landscape, loss, state)


@given(state=states, n_pairs=counts)
def test_any_query_of_distinct_pairs_is_the_uniform_query(state, n_pairs):
    landscape = any_query(np.arange(n_pairs))
    assert landscape.loss(*state) == pytest.approx(uniform(n_pairs).loss(*state), rel=1e-12)
    expected = pytest.approx(uniform(n_pairs).gradient(*state), rel=1e-10, abs=1e-12)
    assert landscape.gradient(*state) == expected


def test_a_pair_outside_the_context_raises():
    with pytest.raises(ValueError, match="not in the context"):
        contexts.landscape(np.array([0, 1]), 2)


# Windows


def test_a_window_of_nothing_raises():
    with pytest.raises(ValueError, match="at least one position"):
        contexts.landscape(np.arange(3), 2, (0, 4))


@pytest.mark.parametrize("windows", [(3, 5), (2, 11), (4, None)])
@pytest.mark.parametrize("copies", [1, 2])
def test_contexts_are_those_of_the_network(windows, copies):
    """Copies and windows in the network, the query for the last pair."""
    state, n_pairs = (1.3, 2.1, 0.8), 4
    weights = head_weights(torch.tensor(state, dtype=torch.float64), 8)
    generator = torch.Generator().manual_seed(1)
    batch = tasks.orthonormal_pairs(3, n_pairs, 8, generator=generator, copies=copies)
    limited = models.disentangled_output(weights, batch.inputs, windows=windows)
    order = np.tile(np.arange(n_pairs // copies), copies)
    expected = context_loss(*state, order, n_pairs // copies - 1, windows)
    losses = (limited - batch.target).square().sum(dim=-1).tolist()
    assert losses == pytest.approx([expected] * 3, rel=1e-12)
