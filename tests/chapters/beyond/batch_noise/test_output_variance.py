"""The noise of batches in the output matrix against least squares on sampled sequences."""

import numpy as np
import pytest
import torch

from chapters.beyond.batch_noise.output_variance import _covariance, output_noise
from emergence import models, tasks


def features(n_pairs, dim, count):
    """What W3 reads of each sequence while attention is even, in eight blocks, from the model."""
    batch = tasks.gaussian_pairs(
        count, n_pairs, dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    zero = torch.zeros(2 * dim, 2 * dim), torch.zeros(4 * dim, 4 * dim)
    reads = []
    for block in range(8):
        w3 = torch.zeros(8 * dim, dim, dtype=torch.float64)
        w3[block * dim : (block + 1) * dim] = torch.eye(dim)
        weights = models.Weights(*(part.double() for part in zero), w3)
        reads.append(models.disentangled_output(weights, batch.inputs))
    return torch.stack(reads, dim=1).numpy()  # sequences, blocks, dim


@pytest.mark.usefixtures("unchecked")
def test_covariance_is_that_of_what_the_output_reads():
    read = features(3, 2, 40_000)
    halves = read[..., :1] + read[..., 1:], read[..., :1] - read[..., 1:]  # eigenspaces of M
    for sign, part in zip((1, -1), halves, strict=True):
        sampled = np.einsum("sad,sbd->ab", part, part) / len(part) / 2
        np.testing.assert_allclose(sampled, _covariance(3, sign), atol=0.03)


def test_noise_obeys_its_recursion():
    """Step by step, in an eigenspace of M, and halves of both."""
    n_pairs, dim, batch, rate = 4, 8, 32, 0.7
    kappa = 2 * rate / dim
    total = np.zeros(8)
    for sign in (1, -1):
        c, s = _covariance(n_pairs, sign), np.zeros((8, 8))
        for _ in range(17):
            keep = np.eye(8) - kappa * c
            s = keep @ s @ keep + kappa**2 / batch * c
        total += s.diagonal() / 2
    found = output_noise(n_pairs, dim, batch, 17, learning_rate=rate)
    np.testing.assert_allclose(found, total, rtol=1e-10)


def test_a_block_that_nothing_reaches_has_no_noise():
    found = output_noise(5, 16, 64, 100)
    assert found[1] == 0
    assert np.all(np.delete(found, 1) > 0)
    assert np.all(output_noise(5, 16, 64, 0) == 0)
