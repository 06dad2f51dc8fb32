"""Closed solutions, the one-layer bound and the residual stream."""

import numpy as np
import pytest
import torch

from chapters.paper import minimal_formulation as minimal
from emergence import models, tasks, theory


@pytest.mark.parametrize(("query", "asked"), [("last", 7), ("uniform", None)])
def test_closed_form_is_that_of_the_theory(query, asked):
    closed = minimal.loss(0.6, 4.0, 1.1, 7, asked=asked, mask="strict")
    loss = theory.landscape_of(7, query).loss
    assert closed == pytest.approx(loss(0.6, 4.0, 1.1), abs=1e-12)


def test_below_the_threshold_half_of_the_loss_stays():
    for gamma in (0.2, 0.5, 1.0):
        for beta in (-50.0, 0.0, 10.0, 1000.0):
            value = minimal.loss(np.log(2) - 0.01, beta, gamma, 4, asked=4, mask="causal")
            assert value >= 0.5


def stream():
    return torch.Generator().manual_seed(3)


def matchings(batch):
    """Each sequence N times: the item asked for trades positions with each item in turn.

    Labels stay where they are, so the j-th copy asks for label j. For independent positions every
    copy is as likely as the sequence itself.
    """
    n_pairs, dim = batch.inputs.shape[1] // 2, batch.target.shape[-1]
    number = torch.arange(len(batch.query), device=batch.query.device)
    copies = []
    for other in range(n_pairs):
        inputs = batch.inputs.clone()
        inputs[number, 2 * batch.query, dim:] = batch.inputs[:, 2 * other, dim:]
        inputs[number, 2 * other, dim:] = batch.inputs[number, 2 * batch.query, dim:]
        copies.append(inputs)
    return torch.stack(copies)


@pytest.mark.parametrize("heads", [1, 2])
def test_what_comes_from_labels_has_the_rank_of_the_heads(heads):
    """Over the N matchings of one context, labels enter as one vector a head."""
    dim, n_pairs = 6, 5
    batch = tasks.gaussian_pairs(7, n_pairs, dim, generator=stream())
    weights = minimal.random_weights(dim, heads, 0.3, stream())
    weights.skip.zero_()
    weights.out[:, dim:] = 0  # positions retrieved count for nothing
    weights.out[:, : dim // 2] = 0  # nor do items, which lie in the first half
    matched = matchings(batch)
    matched[:, :, :-1:2, dim // 2 : dim] = 0
    matched[:, :, 1::2, : dim // 2] = 0
    result = torch.stack([minimal.output(weights, inputs) for inputs in matched], dim=1)
    singular = torch.linalg.svdvals(result)  # of N outputs, a matrix a context
    assert singular[:, heads].max() < 1e-12 * singular[:, 0].max()
    assert singular[:, heads - 1].min() > 1e-6


DIM, N = 4, 3


def residual_stream(seed=0):
    return torch.Generator().manual_seed(seed)


def batch():
    return tasks.gaussian_pairs(5, N, DIM, generator=residual_stream(2)).inputs


def ordinary_transformer(w, inputs, directions):
    """The same with square matrices that act on the stream itself, as a transformer has them."""
    first, second = directions[: 2 * DIM], directions[2 * DIM : 4 * DIM]
    both, third = directions[: 4 * DIM], directions[4 * DIM :]
    kq1, ov1 = first.T @ w.w1 @ first, first.T @ second
    kq2, ov2 = both.T @ w.w2 @ both, both.T @ third
    allowed = models.allowed_positions(inputs.shape[-2], "strict", inputs.device)
    h = inputs @ first
    h = h + models.attention(h @ kq1 @ h.mT, allowed) @ h @ ov1
    h = h + models.attention(h @ kq2 @ h.mT, allowed) @ h @ ov2
    return (h @ directions.T @ w.w3)[..., -1, :]


def test_gram_form_is_an_ordinary_transformer(random_weights):
    weights = random_weights(residual_stream(1), DIM)
    directions = (
        torch.randn(8 * DIM, 50, generator=residual_stream(), dtype=torch.float64) / 50**0.5
    )
    result = minimal.residual_output(weights, batch(), directions @ directions.T)
    assert torch.allclose(result, ordinary_transformer(weights, batch(), directions), atol=1e-10)
    assert minimal.difference(result, models.disentangled_output(weights, batch())) > 0.05


def test_drawn_overlaps_are_those_of_random_directions():
    """Mean and variance of the entries of R R^T: 1 and 2/d on the diagonal, 0 and 1/d beside."""
    d, draws = 40, torch.stack([minimal.random_gram(8, 40, s) for s in [residual_stream()] * 4000])
    diagonal = draws.diagonal(dim1=1, dim2=2)
    assert torch.allclose(diagonal.mean(0), torch.ones(8, dtype=torch.float64), atol=0.02)
    assert torch.allclose(diagonal.var(0) * d, 2 * torch.ones(8, dtype=torch.float64), atol=0.25)
    beside = draws[:, *torch.tril_indices(8, 8, -1)]
    assert beside.mean(0).abs().max() < 0.02
    assert (beside.var(0) * d - 1).abs().max() < 0.15
