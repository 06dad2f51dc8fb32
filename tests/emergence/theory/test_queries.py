"""Uniform queries, repeated pairs, windows: closed forms against oracles and the network."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chapters.beyond.effective_context import any_query
from emergence import models, tasks, theory
from emergence.subspace import INDUCTION_HEAD, NAMES, PseudoParameters, embed
from emergence.theory import contexts
from oracles import elementwise as oracle
from oracles.contexts import context_loss

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
    values = torch.zeros(19, dtype=torch.float64)
    values[[NAMES.index(n) for n in INDUCTION_HEAD]] = torch.tensor(state, dtype=torch.float64)
    weights = embed(PseudoParameters.unstack(values), 8)
    generator = torch.Generator().manual_seed(1)
    batch = tasks.orthonormal_pairs(3, n_pairs, 8, generator=generator, copies=copies)
    limited = models.disentangled_output(weights, batch.inputs, windows=windows)
    order = np.tile(np.arange(n_pairs // copies), copies)
    expected = context_loss(*state, order, n_pairs // copies - 1, windows)
    losses = (limited - batch.target).square().sum(dim=-1).tolist()
    assert losses == pytest.approx([expected] * 3, rel=1e-12)
