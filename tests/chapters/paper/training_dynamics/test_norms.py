"""Norms of weights inside and outside the subspace."""

import pytest
import torch

from chapters.paper.training_dynamics.norms import subspace_norms
from emergence.models import Weights
from emergence.subspace import PseudoParameters, embed


def test_norms_split_the_weights():
    generator = torch.Generator().manual_seed(5)
    inside = embed(PseudoParameters.unstack(torch.ones(19, dtype=torch.float64)), 4)
    noise = [1e-3 * torch.randn(w.shape, generator=generator, dtype=w.dtype) for w in inside]
    weights = Weights(*(w + n for w, n in zip(inside, noise, strict=True)))
    within, outside = subspace_norms(weights)
    total = sum(w.square().sum() for w in weights)
    assert float(within**2 + outside**2) == pytest.approx(float(total), rel=1e-12)
    assert float(within) == pytest.approx((19 * 4) ** 0.5, rel=1e-3)
