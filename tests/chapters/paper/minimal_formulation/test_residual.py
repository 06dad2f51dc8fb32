"""An additive stream: the Gram form against explicit matrices, and the limits."""

import pytest
import torch

from chapters.paper.minimal_formulation import residual
from emergence import models, tasks

DIM, N = 4, 3


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def weights():
    shapes = (2 * DIM, 2 * DIM), (4 * DIM, 4 * DIM), (8 * DIM, DIM)
    dice = stream(1)
    return models.Weights(
        *(torch.randn(s, generator=dice, dtype=torch.float64) * 0.3 for s in shapes)
    )


def batch():
    return tasks.gaussian_pairs(5, N, DIM, generator=stream(2)).inputs


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
    directions = torch.randn(8 * DIM, 50, generator=stream(), dtype=torch.float64) / 50**0.5
    found = residual.residual_output(weights(), batch(), directions @ directions.T)
    assert torch.allclose(found, ordinary_transformer(weights(), batch(), directions), atol=1e-10)
    assert residual.difference(found, models.disentangled_output(weights(), batch())) > 0.05


def test_orthogonal_directions_disentangle_exactly():
    rotation = torch.linalg.qr(
        torch.randn(8 * DIM, 8 * DIM, generator=stream(), dtype=torch.float64)
    ).Q
    found = ordinary_transformer(weights(), batch(), rotation)
    assert torch.allclose(found, models.disentangled_output(weights(), batch()), atol=1e-12)


def test_drawn_overlaps_are_those_of_random_directions():
    """Mean and variance of the entries of R R^T: 1 and 2/d on the diagonal, 0 and 1/d beside."""
    d, draws = 40, torch.stack([residual.random_gram(8, 40, s) for s in [stream()] * 4000])
    diagonal = draws.diagonal(dim1=1, dim2=2)
    assert torch.allclose(diagonal.mean(0), torch.ones(8, dtype=torch.float64), atol=0.02)
    assert torch.allclose(diagonal.var(0) * d, 2 * torch.ones(8, dtype=torch.float64), atol=0.25)
    beside = draws[:, *torch.tril_indices(8, 8, -1)]
    assert beside.mean(0).abs().max() < 0.02
    assert (beside.var(0) * d - 1).abs().max() < 0.15


def test_a_stream_below_the_number_of_directions_is_refused():
    with pytest.raises(ValueError, match="at least that"):
        residual.random_gram(8, 7, stream())
