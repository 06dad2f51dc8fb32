"""What solves the minimal task: closed form against the network, thresholds, and their failure."""

import numpy as np
import pytest
import torch

from chapters.paper.minimal_formulation import solutions
from emergence import subspace, tasks, theory
from emergence.models import disentangled_output


def network_loss(alpha, beta, gamma, beta_1, n_pairs, mask, query):
    """The loss of Eq. 1 on orthonormal sequences, and the pairs asked for, counted from 1."""
    values = torch.zeros(len(subspace.NAMES), dtype=torch.float64)
    for name, value in zip(
        ("alpha_3", "beta_2", "gamma_3", "beta_1"), (alpha, beta, gamma, beta_1), strict=True
    ):
        values[subspace.NAMES.index(name)] = value
    stream = torch.Generator().manual_seed(0)
    batch = tasks.orthonormal_pairs(24, n_pairs, 2 * n_pairs, generator=stream, query=query)
    weights = subspace.embed(subspace.PseudoParameters.unstack(values), 2 * n_pairs)
    output = disentangled_output(weights, batch.inputs, mask=mask)
    return (output - batch.target).square().sum(dim=1).numpy(), batch.query.numpy() + 1


@pytest.mark.parametrize("mask", ["strict", "causal"])
@pytest.mark.parametrize("n_pairs", [2, 5])
@pytest.mark.parametrize("values", [(0.7, 5.0, 0.8, -1.3), (-2.0, -3.0, 1.2, 0.5)])
def test_closed_form_is_the_network(mask, n_pairs, values):
    losses, asked = network_loss(*values, n_pairs, mask, "uniform")
    alpha, beta, gamma, beta_1 = values
    closed = [
        solutions.loss(alpha, beta, gamma, n_pairs, asked=int(q), mask=mask, beta_1=beta_1)
        for q in asked
    ]
    assert losses == pytest.approx(closed, abs=1e-12)


@pytest.mark.parametrize(("query", "asked"), [("last", 7), ("uniform", None)])
def test_closed_form_is_that_of_the_theory(query, asked):
    closed = solutions.loss(0.6, 4.0, 1.1, 7, asked=asked, mask="strict")
    known = theory.reduced_loss if query == "last" else theory.uniform_loss
    assert closed == pytest.approx(known(0.6, 4.0, 1.1, 7), abs=1e-12)


@pytest.mark.parametrize("n_pairs", [3, 4, 9])
def test_thresholds(n_pairs):
    least = solutions.least_alpha
    border = np.log((2 * n_pairs - 4) / (2 * n_pairs - 3))
    assert least(n_pairs, asked=n_pairs, mask="strict") == -np.inf
    assert least(n_pairs, asked=None, mask="strict") == pytest.approx(border, abs=1e-9)
    assert least(n_pairs, asked=n_pairs, mask="causal") == pytest.approx(np.log(2), abs=1e-9)
    assert least(n_pairs, asked=None, mask="causal") == np.inf


def test_without_positions_the_last_pair_is_found():
    losses, _ = network_loss(0.0, 20.0 * 15, 1.0, 0.0, 8, "strict", "last")
    assert losses.max() < 1e-14
    losses, _ = network_loss(0.0, 20.0 * 15, 1.0, 0.0, 8, "causal", "last")
    assert losses.min() > 0.5  # a position that sees itself holds more of the item than its label


def test_below_the_threshold_half_of_the_loss_stays():
    for gamma in (0.2, 0.5, 1.0):
        for beta in (-50.0, 0.0, 10.0, 1000.0):
            value = solutions.loss(np.log(2) - 0.01, beta, gamma, 4, asked=4, mask="causal")
            assert value >= 0.5
