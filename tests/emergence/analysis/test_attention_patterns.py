"""The circuit of alpha, beta, gamma against attention written out symbol by symbol."""

import numpy as np
import pytest
import torch

from emergence import models
from emergence.analysis import attentions, circuit
from oracles import elementwise as oracle

SETTINGS = [(0.0, 0.0, 0.0), (0.5, 1.0, 1.0), (6.0, 8.0, 1.0), (-1.0, 3.0, -0.5)]


@pytest.mark.parametrize("parameters", SETTINGS)
@pytest.mark.parametrize(("n_pairs", "query"), [(2, 0), (4, 3), (5, 2)])
def test_the_loss_is_the_enumerated_one(parameters, n_pairs, query):
    result = circuit(*parameters, n_pairs, query)
    expected = oracle.enumerated_loss(*parameters, n_pairs, query)
    assert result.loss == pytest.approx(expected, rel=1e-12)
    target = np.eye(2 * n_pairs)[2 * query + 1]
    assert ((result.output - target) ** 2).sum() == pytest.approx(result.loss, rel=1e-12)


def test_the_query_is_in_the_context():
    with pytest.raises(ValueError, match="the pair asked for must be in"):
        circuit(1.0, 1.0, 1.0, 4, 4)


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_attentions_are_those_of_the_network_under_its_mask(mask, random_weights, close):
    stream = torch.Generator().manual_seed(0)
    weights = random_weights(stream, 4)
    x = torch.randn(3, 5, 8, generator=stream, dtype=torch.float64)
    first, second = attentions(weights, x, mask=mask)
    assert bool((first.diagonal(dim1=1, dim2=2) > 0).all()) == (mask == "causal")
    h1 = torch.cat([x, first @ x], dim=-1)
    answer = torch.cat([h1, second @ h1], dim=-1)[:, -1] @ weights.w3
    close(models.disentangled_output(weights, x, mask=mask), answer)
