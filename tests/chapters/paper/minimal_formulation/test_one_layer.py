"""The bound for one layer: its proof's steps on random weights, and training that respects it."""

import pytest
import torch

from chapters.paper.minimal_formulation import one_layer
from emergence import tasks


def stream():
    return torch.Generator().manual_seed(3)


@pytest.mark.parametrize("heads", [1, 2])
def test_what_comes_from_labels_has_the_rank_of_the_heads(heads):
    """Over the N matchings of one context, labels enter as one vector a head."""
    dim, n_pairs = 6, 5
    batch = tasks.gaussian_pairs(7, n_pairs, dim, generator=stream())
    weights = one_layer.random_weights(dim, heads, 0.3, stream())
    weights.skip.zero_()
    weights.out[:, dim:] = 0  # positions retrieved count for nothing
    weights.out[:, : dim // 2] = 0  # nor do items, which lie in the first half
    matched = one_layer.matchings(batch)
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
    for j, inputs in enumerate(one_layer.matchings(batch)):
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
