"""Trainings of the attention-only transformer: their steps, their ends, and when heads emerge."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from chapters.beyond import knock_in
from chapters.paper.induction_heads.products import products_of
from emergence import models, tasks, theory, training
from emergence.experiments import first_passage
from emergence.running import devices
from emergence.training import MinimalTraining, TokenTraining, train_tokens

CPU = torch.device("cpu")
TOKENS = TokenTraining(
    dim=32, vocabulary=8, block_size=8, n_pairs=2, batch_size=64, steps=80, learning_rate=0.005,
    embedding_scale=0.5,
)  # fmt: skip


def token_start(**options):
    """The model before training with seed 5, and its first batch."""
    stream = devices.generator(5, CPU)
    model = models.AttentionOnlyTransformer(
        32, 8, 8, embedding_scale=0.5, generator=stream, **options
    )
    return model, tasks.token_pairs(64, 2, 8, 8, generator=stream)


@pytest.fixture
def double_precision():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize("mask", ["causal", "strict"])
def test_dense_and_fast_token_training_agree(close, mask):
    settings = dataclasses.replace(TOKENS, mask=mask, steps=20)
    dense, fast = (train_tokens(settings, 1, device=CPU, method=name) for name in ("dense", "fast"))
    close(fast.loss, dense.loss, 1e-9)
    assert torch.equal(fast.accuracy, dense.accuracy)
    for fast_part, two in zip(fast.model.parameters(), dense.model.parameters(), strict=True):
        close(fast_part, two, 1e-9)


def test_token_training_learns_from_the_context():
    """From log 8 (any token) far below log 2 (either of the two labels in the context)."""
    record = train_tokens(TOKENS, 0, device=CPU)
    assert record.loss.shape == record.accuracy.shape == (80,)
    assert abs(float(record.loss[0]) - math.log(8)) < 0.5
    assert float(record.loss[-10:].mean()) < math.log(2) / 2
    assert float(record.accuracy[:5].mean()) < 0.3
    assert float(record.accuracy[-10:].mean()) > 0.9


def test_token_record_is_of_the_batch_before_its_update():
    """The first loss and accuracy, from the initial model on the first batch."""
    model, batch = token_start()
    record = train_tokens(dataclasses.replace(TOKENS, steps=2), 5, device=CPU)
    logits = model(batch.tokens, batch.positions)[:, -1].detach().double().numpy()
    log_sums = np.log(np.exp(logits).sum(axis=1))
    losses = log_sums - logits[np.arange(64), batch.target.numpy()]
    assert float(record.loss[0]) == pytest.approx(losses.mean(), rel=1e-5)
    assert float(record.accuracy[0]) == np.mean(logits.argmax(axis=1) == batch.target.numpy())
    other = train_tokens(dataclasses.replace(TOKENS, steps=2), 6, device=CPU)
    assert not torch.equal(record.loss, other.loss)


def test_first_adam_step_moves_each_weight_by_the_learning_rate():
    """AdamW: decay by L times 0.1, then L times the gradient's sign."""
    settings = dataclasses.replace(TOKENS, steps=1, learning_rate=0.01, weight_decay=0.1)
    model, _ = token_start()
    trained = train_tokens(settings, 5, device=CPU).model
    for old, new in zip(model.parameters(), trained.parameters(), strict=True):
        moved = (new - old * (1 - 0.01 * 0.1)).detach().abs() / 0.01
        assert torch.all(moved < 1.001)
        assert moved.median() > 0.99


def test_plain_descent_goes_down_the_gradient(close):
    settings = dataclasses.replace(TOKENS, steps=1, learning_rate=0.3, optimiser="sgd")
    model, batch = token_start()
    logits = training.query_logits(model, batch, "causal", "fast")
    torch.nn.functional.cross_entropy(logits, batch.target).backward()
    trained = train_tokens(settings, 5, device=CPU).model
    for old, new in zip(model.parameters(), trained.parameters(), strict=True):
        close(new, old - 0.3 * old.grad, 1e-5)


def test_token_training_ends_at_its_level():
    record = train_tokens(dataclasses.replace(TOKENS, until_loss=1.0), 0, device=CPU)
    in_full = train_tokens(TOKENS, 0, device=CPU)
    assert 1 < len(record.loss) < 80
    assert torch.equal(record.loss, in_full.loss[: len(record.loss)])
    assert record.loss[-1] <= 1.0 < record.loss[:-1].min()


def test_a_given_piece_is_in_place_before_the_first_step():
    settings = dataclasses.replace(TOKENS, dim=48, steps=1, learning_rate=1e-30, weight_decay=0.0)
    start = knock_in.Given(("previous",))
    scores = products_of(train_tokens(settings, 0, device=CPU, start=start).model).layer1
    assert np.diagonal(scores[8:, 8:], -1) == pytest.approx(8.0, abs=1e-3)


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_optimiser_and_unknown_initial_maps_raise():
    with pytest.raises(ValueError, match="setting optimiser should be 'adamw' or 'sgd'"):
        TokenTraining(optimiser="rmsprop")
    with pytest.raises(ValueError, match="setting maps should be"):
        TokenTraining(maps="ones")


def test_training_starts_from_the_maps_and_with_the_scores_of_its_settings():
    frozen = dataclasses.replace(TOKENS, steps=1, learning_rate=1e-30, weight_decay=0.0)
    for change_of in ({}, {"maps": "normal"}, {"maps": "xavier"}, {"scaled": False}):
        trained = train_tokens(dataclasses.replace(frozen, **change_of), 5, device=CPU).model
        model, _ = token_start(**change_of)
        assert trained.score_scale == model.score_scale
        for trained_part, two in zip(trained.parameters(), model.parameters(), strict=True):
            assert torch.equal(trained_part, two)


EMERGING = TokenTraining(
    dim=32, vocabulary=8, block_size=8, n_pairs=2, batch_size=64, steps=150, learning_rate=0.005,
    embedding_scale=0.5, until_loss=np.log(2) / 2,
)  # fmt: skip


def test_token_steps_are_where_the_loss_is_half_of_ln_n():
    result = first_passage.token_steps(EMERGING, (0, 1), device=CPU, label="here")
    full = training.train_tokens(dataclasses.replace(EMERGING, until_loss=None), 0, device=CPU)
    below = (full.loss <= np.log(2) / 2).nonzero()[0].item()
    assert result[0] == below > 0
    assert result[0] != result[1]


def test_runs_too_short_or_diverged_never_emerge():
    short = dataclasses.replace(EMERGING, steps=3)
    wild = dataclasses.replace(EMERGING, learning_rate=1e30)
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
