"""Steps to emergence, with runs that never emerge."""

import dataclasses

import numpy as np
import torch

from emergence import theory, training
from emergence.experiments import first_passage
from emergence.training import MinimalTraining, TokenTraining

CPU = torch.device("cpu")
TOKENS = TokenTraining(
    dim=32, vocabulary=8, block_size=8, n_pairs=2, batch_size=64, steps=150, learning_rate=0.005,
    embedding_scale=0.5, until_loss=np.log(2) / 2,
)  # fmt: skip


def test_token_steps_are_where_the_loss_is_half_of_ln_n():
    result = first_passage.token_steps(TOKENS, (0, 1), device=CPU, label="here")
    full = training.train_tokens(dataclasses.replace(TOKENS, until_loss=None), 0, device=CPU)
    below = (full.loss <= np.log(2) / 2).nonzero()[0].item()
    assert result[0] == below > 0
    assert result[0] != result[1]


def test_runs_too_short_or_diverged_never_emerge():
    short = dataclasses.replace(TOKENS, steps=3)
    wild = dataclasses.replace(TOKENS, learning_rate=1e30)
    for settings in (short, wild):
        assert np.all(np.isinf(first_passage.token_steps(settings, (0, 1), device=CPU, label="no")))


def test_minimal_steps_have_a_column_for_each_and_the_loss():
    settings = MinimalTraining(2, 8, 64, 60, learning_rate=1.0)
    result = first_passage.minimal_steps(
        settings, (0, 1), device=CPU, label="here", levels=(0.5 / 8, 0.5 / 8, 0.5)
    )
    record = training.train_minimal(settings, (0, 1), device=CPU)
    assert result.shape == (2, 4)
    assert result[0, 3] == (record.loss[0] <= 0.5).nonzero()[0].item()
    assert np.all(result[:, 1] < result[:, 0])  # beta before alpha on Gaussian data


def test_predicted_steps_are_those_of_theory_and_hold_what_is_held():
    settings, levels = MinimalTraining(8, 16, 1, 60), (0.5 / 16, 0.5 / 16, 0.5)
    result = first_passage.predicted_minimal_steps(settings, levels=levels)
    assert tuple(result) == tuple(theory.predicted_steps(8, 16))
    given = dataclasses.replace(settings, held=(("gamma_3", 1.0),))
    sooner = first_passage.predicted_minimal_steps(given, levels=levels)
    assert sooner[2] == 0
    assert np.all(sooner[[0, 1, 3]] < result[[0, 1, 3]])
