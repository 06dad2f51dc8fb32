"""The law of the noise: its balance, its limits, and trainings that it is to predict."""

from dataclasses import replace

import pytest
import torch

from chapters.beyond.batch_noise.following import follow_noise
from emergence import training

CPU = torch.device("cpu")
SMALL = training.MinimalTraining(n_pairs=4, dim=8, batch_size=64, steps=60)
pytestmark = pytest.mark.usefixtures("unchecked")


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
