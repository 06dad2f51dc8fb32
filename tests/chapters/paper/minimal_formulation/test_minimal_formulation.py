"""Closed solutions, the one-layer bound and the residual stream."""

import numpy as np
import pytest
import torch

from chapters.paper.minimal_formulation import one_layer, residual, solutions
from emergence import models, subspace, tasks, theory
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
    weights = one_layer.random_weights(dim, heads, 0.3, stream())
    weights.skip.zero_()
    weights.out[:, dim:] = 0  # positions retrieved count for nothing
    weights.out[:, : dim // 2] = 0  # nor do items, which lie in the first half
    matched = matchings(batch)
    matched[:, :, :-1:2, dim // 2 : dim] = 0
    matched[:, :, 1::2, : dim // 2] = 0
    found = torch.stack([one_layer.output(weights, inputs) for inputs in matched], dim=1)
    singular = torch.linalg.svdvals(found)  # of N outputs, a matrix a context
    assert singular[:, heads].max() < 1e-12 * singular[:, 0].max()
    assert singular[:, heads - 1].min() > 1e-6


def test_matchings_ask_for_every_label():
    """In the j-th copy the item asked for has the position of label j, and contents stay."""
    dim, n_pairs = 6, 4
    batch = tasks.gaussian_pairs(5, n_pairs, dim, generator=stream())
    number = torch.arange(5)
    for j, inputs in enumerate(matchings(batch)):
        asked = inputs[number, 2 * batch.query]
        assert torch.equal(asked[:, :dim], inputs[:, -1, :dim])
        assert torch.equal(tasks.swap_halves(asked[:, dim:]), inputs[:, 2 * j + 1, dim:])
        assert torch.equal(inputs[..., :dim], batch.inputs[..., :dim])
        assert torch.equal(inputs[:, 1::2], batch.inputs[:, 1::2])


def test_bounds():
    assert one_layer.gaussian_bound(8, 8) == pytest.approx((7 / 8) ** 2)
    assert one_layer.gaussian_bound(8, 4, heads=4) == 0
    assert one_layer.orthonormal_bound(8, 16) == pytest.approx(0.75)


@pytest.mark.usefixtures("unchecked")
def test_training_learns_and_respects_the_bound():
    loss = one_layer.train_one_layer(2, 2, 0, steps=60, batch_size=64)
    assert one_layer.gaussian_bound(2, 2) < loss < 0.9


DIM, N = 4, 3


def residual_stream(seed=0):
    return torch.Generator().manual_seed(seed)


def weights():
    shapes = (2 * DIM, 2 * DIM), (4 * DIM, 4 * DIM), (8 * DIM, DIM)
    dice = residual_stream(1)
    return models.Weights(
        *(torch.randn(s, generator=dice, dtype=torch.float64) * 0.3 for s in shapes)
    )


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


def test_gram_form_is_an_ordinary_transformer():
    directions = (
        torch.randn(8 * DIM, 50, generator=residual_stream(), dtype=torch.float64) / 50**0.5
    )
    found = residual.residual_output(weights(), batch(), directions @ directions.T)
    assert torch.allclose(found, ordinary_transformer(weights(), batch(), directions), atol=1e-10)
    assert residual.difference(found, models.disentangled_output(weights(), batch())) > 0.05


def test_orthogonal_directions_disentangle_exactly():
    rotation = torch.linalg.qr(
        torch.randn(8 * DIM, 8 * DIM, generator=residual_stream(), dtype=torch.float64)
    ).Q
    found = ordinary_transformer(weights(), batch(), rotation)
    assert torch.allclose(found, models.disentangled_output(weights(), batch()), atol=1e-12)


def test_drawn_overlaps_are_those_of_random_directions():
    """Mean and variance of the entries of R R^T: 1 and 2/d on the diagonal, 0 and 1/d beside."""
    d, draws = 40, torch.stack([residual.random_gram(8, 40, s) for s in [residual_stream()] * 4000])
    diagonal = draws.diagonal(dim1=1, dim2=2)
    assert torch.allclose(diagonal.mean(0), torch.ones(8, dtype=torch.float64), atol=0.02)
    assert torch.allclose(diagonal.var(0) * d, 2 * torch.ones(8, dtype=torch.float64), atol=0.25)
    beside = draws[:, *torch.tril_indices(8, 8, -1)]
    assert beside.mean(0).abs().max() < 0.02
    assert (beside.var(0) * d - 1).abs().max() < 0.15


def test_a_stream_below_the_number_of_directions_is_refused():
    with pytest.raises(ValueError, match="at least that"):
        residual.random_gram(8, 7, residual_stream())
