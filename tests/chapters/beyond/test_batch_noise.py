"""The joint covariance of noise, and the law that follows it through a training."""

from dataclasses import replace
from unittest import mock

import pytest
import torch

from chapters.beyond import batch_noise
from chapters.beyond.batch_noise import follow_noise
from emergence import models, subspace, training
from emergence.tasks import swap_halves

CPU = torch.device("cpu")
B = batch_noise.BLOCKS
pytestmark = pytest.mark.usefixtures("unchecked")


def of_plain_entries(same, transposed):
    """The table of entries that know no eigenspaces, from covariances at two kinds of places."""
    both, apart = ((same + sign * transposed).expand(2, B, B) for sign in (1, -1))
    mixed = torch.cat([torch.cat([same, transposed], 1), torch.cat([transposed, same], 1)])
    return batch_noise.Joint(both, apart, mixed.unsqueeze(0))


def moments_of(weights):
    """Of weights with themselves."""
    parts = batch_noise.in_parts(weights)
    return batch_noise.moments(parts, parts)


def plain_products(weights):
    """Means of products of entries at the same place, and at transposed ones, of any two blocks."""
    blocks = [
        tile
        for weight, (rows, columns) in zip(weights, batch_noise.TILES, strict=True)
        for row in weight.chunk(rows, dim=-2)
        for tile in row.chunk(columns, dim=-1)
    ]
    x = torch.stack(blocks, dim=1).double()
    diagonal = torch.eye(x.shape[-1], dtype=torch.float64)
    x = x * (
        1 - diagonal - swap_halves(diagonal)
    )  # where a place and the transposed one are not the same
    number = x[:, 0].count_nonzero()
    result = [torch.einsum("nkij,nlij->kl", x, y) / number for y in (x, x.mT)]
    return result[0], result[1]


def test_drawn_noise_has_the_covariance_asked_for_and_no_coordinates():
    """At the same and at transposed places, in a matrix and across matrices, blocks unlike."""
    stream = torch.Generator().manual_seed(0)
    root = torch.randn(B, B, generator=stream, dtype=torch.float64)
    signs = torch.linspace(-0.4, 0.9, B, dtype=torch.float64)
    same, transposed = root @ root.mT, (root * signs) @ root.mT
    roots = batch_noise.roots(of_plain_entries(same, transposed))
    drawn = batch_noise.draw_outside(roots, 80, 16, stream)
    assert subspace.project(models.Weights(*drawn))[0].stacked().abs().max() < 1e-5
    for result, covariance in zip(plain_products(drawn), (same, transposed), strict=True):
        assert (result - covariance).abs().max() < 0.06 * same.abs().max()
    assert transposed.abs().max() > 0.3 * same.abs().max()
    assert same[:4, 4:].abs().max() > 0.3 * same.abs().max()  # W1 with W2 and W3


def test_moments_are_those_asked_for_in_every_pair_of_eigenspaces():
    stream = torch.Generator().manual_seed(0)
    zero = batch_noise.no_covariance()
    roots = (torch.randn(part.shape, generator=stream).double() for part in zero)
    moments = batch_noise.Joint(*(root @ root.mT for root in roots))
    drawn = batch_noise.draw_outside(batch_noise.roots(moments), 40, 16, stream)
    for result, moment in zip(moments_of(drawn), moments, strict=True):
        assert (result - moment).abs().max() < 0.1 * moment.abs().max()
    mean = torch.stack([weight.square().mean() for weight in drawn])
    variances = batch_noise.variances(moments).split([4, 16, 8])
    expected = torch.stack([part.mean() for part in variances])
    assert torch.allclose(mean, expected.float(), rtol=0.03)


def test_correlations_of_trained_weights_are_those_of_the_law():
    """Across matrices and at transposed places, in trainings that know nothing of the law."""
    settings = training.MinimalTraining(n_pairs=4, dim=8, batch_size=64, steps=30, snapshots=(30,))
    record = training.train_minimal(settings, list(range(100)), device=CPU)
    trained = plain_products(batch_noise.coordinates_and_rest(record.snapshots[30])[1])
    seen = []

    def spy(covariance):
        seen.append([part.clone() for part in covariance])
        return roots(covariance)

    roots = batch_noise.roots
    longer = training.MinimalTraining(n_pairs=4, dim=8, batch_size=64, steps=31)
    with mock.patch.object(batch_noise, "roots", spy):
        follow_noise(longer, device=CPU, draws=8)
    symmetric, antisymmetric, mixed = seen[30]
    same = (symmetric + antisymmetric).sum(dim=0) / 2 + mixed[0, :B, :B] + mixed[0, B:, B:]
    transposed = (symmetric - antisymmetric).sum(dim=0) / 2 + mixed[0, :B, B:] + mixed[0, B:, :B]
    for kind, (correlations, law) in enumerate(zip(trained, (same, transposed), strict=True)):
        correlations = correlations / outer_root(trained[0])
        law = law / outer_root(same)
        for k, m in (correlations > 0.22).nonzero():
            assert float(law[k, m]) == pytest.approx(float(correlations[k, m]), abs=0.1), (
                kind,
                k,
                m,
            )
        across = correlations[:4, 4:20] if kind else correlations[4:20, 20:]
        assert across.nan_to_num().max() > 0.22  # W1 with W2 transposed, W2 with W3 at the place


def outer_root(same):
    """The product of two blocks' standard deviations."""
    root = same.diagonal().sqrt()
    return root.unsqueeze(-1) * root


SMALL = training.MinimalTraining(n_pairs=4, dim=8, batch_size=64, steps=60)


def test_without_noise_it_is_descent_on_the_expected_loss():
    """Large batches of a training see the same coordinates."""
    short = replace(SMALL, steps=30)
    path = follow_noise(short, device=CPU, noise=False, sequences=256)
    run = training.train_minimal(replace(short, batch_size=2048), [0], device=CPU)
    assert float(path.outside.max()) == 0
    gap = (path.pseudo - run.pseudo[0]).abs().max()
    assert gap < 0.05 * run.pseudo[0].abs().max()


def test_first_step_s_noise_is_the_scatter_of_one_batch():
    """From zero the norm after a step is that of lambda times a batch's gradient outside."""
    two = replace(SMALL, steps=2)
    path = follow_noise(two, device=CPU, draws=8, sequences=512)
    runs = training.train_minimal(two, list(range(10)), device=CPU)
    measured = runs.outside[:, 1].square().mean().sqrt()
    assert float(path.outside[1]) == pytest.approx(float(measured), rel=0.05)


def test_only_whole_trainings_from_zero():
    with pytest.raises(ValueError, match="in all weights, from zero"):
        follow_noise(replace(SMALL, initial_scale=0.1), device=CPU)
