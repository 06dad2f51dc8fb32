"""Training with decay: what a network prints, and that harder strings cost more."""

import numpy as np
import torch

from chapters.companions.weight_norm import prior
from interruption import assert_resumes

SIZES = {"n_bits": 6, "units": 3, "runs": 2, "learning_rate": 0.03, "seed": 0}


def test_logits_are_those_of_the_recurrence():
    stream = torch.Generator().manual_seed(0)
    weights, bias = torch.randn(1, 3, 3, generator=stream), torch.randn(1, 3, generator=stream)
    state, seen = np.zeros(3), []
    for _ in range(4):
        field = weights[0].numpy() @ state + bias[0].numpy()
        seen.append(field[0])
        state = 1 / (1 + np.exp(-field))
    np.testing.assert_allclose(prior.logits(weights, bias, 4)[0], seen, rtol=1e-5)


def test_bits_come_highest_first():
    assert prior.bits_of([0b0110], 4).tolist() == [[0, 1, 1, 0]]


def test_zeros_are_learnt_and_decay_makes_them_light():
    heavy, light = (
        prior.train_looped([0, 0b010101], steps=300, decay=decay, **SIZES) for decay in (0.0, 1e-2)
    )
    assert light.printed[0].all()
    assert (light.norm < heavy.norm).all()
    assert light.norm[0].min() < light.norm[1].min()


def test_a_killed_training_ends_in_the_same_norms():
    assert_resumes(lambda: prior.train_looped([5], steps=6, decay=1e-3, **SIZES), 3)
