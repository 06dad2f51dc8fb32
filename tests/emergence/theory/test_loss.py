"""The one population loss, in every combination, and its times, against independent oracles."""

import os
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from asserts import refused
from chapters.beyond.effective_context import any_query
from draws import stream
from emergence import models, tasks, theory
from emergence.analysis import head_weights
from emergence.theory import contexts, positions
from emergence.theory.positions import prefixes
from oracles import elementwise as oracle
from oracles import every_position
from oracles.elementwise import context_loss

RULES = [*product(("strict", "causal"), ("last", "uniform"), ("reduced", "full"))]
FULL = theory.landscape_of(3, model="full")


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
@pytest.mark.parametrize("asked", ["last", "every", "weighted"])
@pytest.mark.parametrize("n_pairs", [1, 2, 3, 8, 33])
def test_loss_and_gradient_are_those_of_attention_between_rows(mask, query, model, asked, n_pairs):
    draw = np.random.default_rng(n_pairs)
    supervision = draw.dirichlet(np.ones(n_pairs)) if asked == "weighted" else asked
    land = theory.landscape_of(n_pairs, query, model=model, supervision=supervision, mask=mask)
    # labels that avoid their items: the first label has no other row to attend to
    avoiding = np.zeros(sum(land.groups))
    avoiding[list(land.head)] = -12.0, 3.0, 1.0
    anywhere = [draw.normal(scale=s, size=sum(land.groups)) for s in (0.0, 0.1, 0.5, 1.0)]
    for point in (*anywhere, avoiding):
        loss, slope = expected(point, n_pairs, query, mask, supervision, model)
        assert land.loss(*point.tolist()) == pytest.approx(loss, abs=1e-13 * max(1, loss))
        allowed = 1e-12 * max(1, np.abs(slope).max())
        np.testing.assert_allclose(land.gradient(*point.tolist()), slope, rtol=0, atol=allowed)


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


@pytest.mark.usefixtures("unchecked")
def test_bad_input_is_refused():
    refused(ValueError, "at least one pair", theory.landscape_of, 0, model="full")
    refused(ValueError, "there are 19", FULL.gradient, 0.0, 0.0, 0.0)
    refused(ValueError, "3 rates or 19", theory.descent_in, FULL, 1, rates=[1.0] * 4)
    refused(ValueError, "not in the context", contexts.landscape, np.array([0, 1]), 2)
    refused(ValueError, "at least one position", contexts.landscape, np.arange(3), 2, (0, 4))
    refused(ValueError, "weight", positions.weighting, 3, [1.0])
    refused(ValueError, "weight", positions.weighting, 3, [0.5, 0.6, 0.1])
    refused(ValueError, "weight", positions.weighting, 3, [-0.5, 0.5, 1.0])
    refused(ValueError, "weight", positions.weighting, 3, [np.nan, 0.5, 0.5])
    refused(ValueError, "supervision must be one of", positions.weighting, 3, "some")
    refused(ValueError, "at least one pair", positions.weighting, 0, "every")
    refused(ValueError, "no loss for", positions.landscape, np.ones(1), "some")
    refused(ValueError, "no loss for", theory.landscape_of, 2, mask="none")
    full = positions.landscape(np.ones(1), model="full")
    refused(ValueError, "19 pseudo-parameters", full.loss, 0.0, 0.0)


states = st.tuples(st.floats(-2, 4), st.floats(-2, 4), st.floats(-2, 2))
window = st.none() | st.integers(1, 20)


@given(
    state=states,
    order=st.lists(st.integers(0, 4), min_size=1, max_size=9),
    which=st.integers(0, 8),
    windows=st.tuples(window, window),
)
def test_context_loss_is_enumerated(state, order, which, windows):
    query = order[which % len(order)]

    def loss(y):
        return context_loss(*y, order, query, windows)

    landscape = contexts.landscape(np.array(order), query, windows)
    assert landscape.loss(*state) == pytest.approx(loss(state), rel=1e-12)
    numeric = oracle.finite_difference(loss, np.array(state), 1e-5)
    allowed = 1e-8 * (1 + np.abs(numeric).max())
    assert landscape.gradient(*state) == pytest.approx(numeric, rel=1e-7, abs=allowed)


@given(state=states, n_pairs=st.integers(1, 9))
def test_any_query_of_distinct_pairs_is_the_uniform_query(state, n_pairs):
    landscape, uniform = any_query(np.arange(n_pairs)), theory.landscape_of(n_pairs, "uniform")
    assert landscape.loss(*state) == pytest.approx(uniform.loss(*state), rel=1e-12)
    expected = pytest.approx(uniform.gradient(*state), rel=1e-10, abs=1e-12)
    assert landscape.gradient(*state) == expected


@pytest.mark.parametrize("windows", [(3, 5), (2, 11), (4, None)])
@pytest.mark.parametrize("copies", [1, 2])
def test_contexts_are_those_of_the_network(windows, copies):
    state, n_pairs = (1.3, 2.1, 0.8), 4
    weights = head_weights(torch.tensor(state, dtype=torch.float64), 8)
    batch = tasks.orthonormal_pairs(3, n_pairs, 8, generator=stream(1), copies=copies)
    limited = models.disentangled_output(weights, batch.inputs, windows=windows)
    order = np.tile(np.arange(n_pairs // copies), copies)
    expected = context_loss(*state, order, n_pairs // copies - 1, windows)
    losses = (limited - batch.target).square().sum(dim=-1).tolist()
    assert losses == pytest.approx([expected] * 3, rel=1e-12)


WEEKLY = pytest.mark.skipif("EVERY_CHAPTER" not in os.environ, reason="it takes minutes")


def points(model, count=3):
    return np.random.default_rng(0).normal(size=(count, 3 if model == "reduced" else 19))


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_the_rows_are_those_of_the_network(mask):
    (point,) = torch.tensor(points("full", 1))
    network = every_position.nineteen(4, "uniform", mask)(point)
    assert every_position.rows(4, "uniform", mask)(point).item() == pytest.approx(network.item())


def skip(n_pairs, skipped):
    """Equal weights of all prefixes but the first."""
    return [float(n >= skipped) / (n_pairs - skipped) for n in range(n_pairs)]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("n_pairs", "query", "model", "mask", "supervision"),
    [
        (4, "last", "reduced", "strict", "every"),
        (48, "last", "reduced", "strict", "every"),
        (4, "uniform", "reduced", "strict", "every"),
        (24, "uniform", "reduced", "strict", "every"),
        *((n, "last", "reduced", "causal", skip(n, k)) for n, k in ((4, 1), (16, 2), (16, 15))),
        (48, "last", "reduced", "causal", skip(48, 1)),
        # with the first prefix alpha and beta never emerge
        (4, "last", "reduced", "causal", "every"),
        (48, "last", "reduced", "causal", "every"),
        (8, "uniform", "reduced", "causal", "every"),
        (3, "last", "full", "strict", "last"),
        (3, "uniform", "full", "strict", "last"),
        (3, "last", "full", "strict", "every"),
        (3, "uniform", "full", "strict", "every"),
        (4, "last", "full", "causal", "every"),
        (3, "uniform", "full", "causal", "last"),
        (3, "uniform", "full", "causal", "every"),
        pytest.param(64, "last", "full", "causal", "every", marks=WEEKLY),
    ],
)
def test_times_are_those_of_another_integration(n_pairs, query, model, mask, supervision):
    """Until just after all has happened: what the library has too early, the other has not."""
    rule = {"query": query, "supervision": supervision, "mask": mask}
    result = theory.emergence_times(n_pairs, model=model, **rule)
    never = model == "reduced" and mask == "causal" and supervision == "every"
    assert ([result.alpha, result.beta, result.collapse] == [np.inf] * 3) == never
    loss, places, count = every_position.rows(n_pairs, **rule), every_position.HEAD, 19
    if model == "reduced":
        loss, places, count = every_position.head(loss), range(3), 3
    end = 40.0 * n_pairs if never else 1.02 * max(result)
    expected = every_position.times(loss, places, count, end)
    assert [*result[:3], result.collapse] == pytest.approx(expected, rel=1e-6)


def test_no_digits_are_lost_where_the_first_item_attends_elsewhere():
    """Its score is e^(2/e^-3), and no sum over later pairs has it."""
    point = np.zeros(19)
    point[[0, 1, 4, 17]] = -1.5, -1.5, 2.0, 1.0
    at = torch.tensor(point, requires_grad=True)
    (slope,) = torch.autograd.grad(every_position.rows(7, "uniform", "causal")(at), at)
    land = theory.landscape_of(7, "uniform", model="full", supervision="every", mask="causal")
    assert np.allclose(land.gradient(*point), slope, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("query", ["last", "uniform"])
@pytest.mark.parametrize("power", [0, 1])
@pytest.mark.parametrize(("model", "head"), [("reduced", (4.0, 6.0, 1.2)), ("full", None)])
def test_few_prefixes_stand_for_all(monkeypatch, model, head, power, query):
    """The nodes of an octave integrate what the flow meets, at small and at large scores."""
    weights = 1 / np.arange(1, 301.0) ** power
    weights /= weights.sum()
    few = positions.landscape(weights, query, model=model)
    monkeypatch.setattr(positions, "compressed", prefixes)
    whole = positions.landscape(weights, query, model=model)
    for point in [*points(model), *([head] if head else [])]:
        slope = np.array(whole.gradient(*point))
        assert np.allclose(few.gradient(*point), slope, rtol=0, atol=1e-12 * np.abs(slope).max())
        assert few.loss(*point) == pytest.approx(whole.loss(*point), rel=1e-12)
