"""Queries of prefixes: what the networks answer, what is asked, and the stored runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from chapters.beyond.every_position import dropped, stored
from chapters.beyond.every_position.stored import (
    CELLS,
    StoredTrainings,
    TokensCell,
    WeightsCell,
    crossed,
)
from chapters.beyond.every_position.training import AskedWeights, prefix_logits, train_asked_weights
from emergence import models, tasks, training
from emergence.models import Weights
from emergence.training import draw_queries, prefix_output

CPU = torch.device("cpu")
FILE = Path(__file__).parents[4] / "data" / "every_position.json"
KINDS = ("one", "length", "queries", "every", "last", "inverse")


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_a_prefix_is_answered_as_a_sequence_of_its_own(mask):
    """One pass over a context against the network on each sequence alone."""
    stream = torch.Generator().manual_seed(0)
    n, dim = 4, 8
    shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)
    drawn = (torch.randn(s, generator=stream, dtype=torch.float64) for s in shapes)
    weights = Weights(*(0.3 * part for part in drawn))
    context = tasks.gaussian_pairs(3, n, dim, generator=stream).inputs[:, :-1]
    queries = torch.randn(3, n, 2 * dim, generator=stream, dtype=torch.float64)
    result = prefix_output(weights, context, queries, torch.arange(1, n + 1).expand(3, -1), mask)
    for j in range(n):
        alone = torch.cat([context[:, : 2 * (j + 1)], queries[:, j : j + 1]], dim=1)
        expected = models.disentangled_output(weights, alone, mask=mask)
        assert torch.allclose(result[:, j], expected, atol=1e-12)


def test_the_transformer_answers_a_prefix_as_a_sequence_of_its_own():
    stream = torch.Generator().manual_seed(0)
    model = models.AttentionOnlyTransformer(8, 12, 9, embedding_scale=1.0, generator=stream)
    model = model.double()
    context = tasks.token_pairs(3, 4, 12, 9, generator=stream).tokens[:, :-1]
    items = context[:, [0, 2, 0, 6]]
    result = prefix_logits(model, context, items, torch.arange(1, 5).expand(3, -1))
    for j in range(4):
        alone = torch.cat([context[:, : 2 * (j + 1)], items[:, j : j + 1]], dim=1)
        places = torch.arange(alone.shape[1]).expand(3, -1)
        assert torch.allclose(result[:, j], model(alone, places)[:, -1], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_asked(kind):
    result = draw_queries(kind, 4000, 6, generator=torch.Generator().manual_seed(0))
    assert result.sizes.shape == result.wanted.shape == (4000, len(result.weights))
    assert (result.wanted < result.sizes).all()
    assert (result.wanted >= 0).all()
    assert float(result.weights.sum()) == pytest.approx(1)
    if kind in ("one", "queries"):
        assert (result.sizes == 6).all()
    if kind == "length":
        assert torch.bincount(result.sizes[:, 0]).tolist()[1:] == pytest.approx(
            [4000 / 6] * 6, rel=0.2
        )
    if kind == "queries":
        assert (result.wanted.sort(dim=1).values == torch.arange(6)).all()
    if kind == "last":
        assert (result.wanted == result.sizes - 1).all()
    if kind in ("one", "every", "inverse"):
        chosen = torch.bincount(result.wanted[:, -1], minlength=6) / 4000
        assert chosen.tolist() == pytest.approx([1 / 6] * 6, abs=0.03)
    if kind == "inverse":
        assert float(result.weights[0] / result.weights[5]) == pytest.approx(6)
    if kind == "last":
        skipping = draw_queries(kind, 2, 6, generator=torch.Generator(), skipped=2)
        assert skipping.weights.tolist() == [0, 0, 0.25, 0.25, 0.25, 0.25]


def test_one_query_of_the_whole_context_is_section_4():
    """The first step is that of the library's own training, in the mean over many contexts."""
    settings = AskedWeights("one", 4, 4000, 2)
    rows = train_asked_weights(settings, 0, device=CPU)
    usual = training.MinimalTraining(n_pairs=4, dim=8, batch_size=4000, steps=2)
    record = training.train_minimal(usual, [0], device=CPU)
    assert rows[1, 2] == pytest.approx(float(record.pseudo[0, 1, 17]), rel=0.05)
    assert rows[0, 3] == pytest.approx(float(record.loss[0, 0]), rel=0.05)


def test_a_crossing_is_on_a_line():
    times, curve = np.arange(4.0), np.array([0.0, 0.2, 0.6, 0.4])
    assert crossed(times, curve, 0.5) == 1.75
    assert crossed(times, curve, 0.7) is None
    assert crossed(times, curve, 0.0) == 0.0


def test_a_run_that_diverges_is_told(monkeypatch):
    monkeypatch.setattr(stored, "SGD", 1e4)
    (row,) = stored.run(TokensCell("one", 4, "sgd", 60, seeds=(0,)))
    assert row["steps"] == [None, None, None]


def test_a_sample_is_computed_again():
    kept = StoredTrainings(FILE)
    cell = next(c for c in kept.entries if isinstance(c, WeightsCell) and c.n_pairs == 16)
    (again,) = stored.run(replace(cell, seeds=(1,)))
    row = next(row for row in kept.entries[cell] if row["seed"] == 1)
    assert again["alpha"] == pytest.approx(row["alpha"], rel=0.02)


def test_stored_cells_are_the_declared_ones():
    assert set(StoredTrainings(FILE).entries) == set(CELLS)
    assert len(CELLS) == len(set(CELLS))


def test_the_head_is_there_once_both_scores_are():
    curve = np.array([[0.0, 0.0], [0.6, 0.1], [0.7, 0.9]])
    assert dropped.steps_to_both(curve) == pytest.approx(1.5)
    assert dropped.steps_to_both(curve[:2]) == np.inf


def test_a_run_ends_once_both_scores_have_emerged():
    settings = AskedWeights("last", 3, 32, 30)
    whole = train_asked_weights(settings, 0, device=CPU)
    level = float(whole[12, :2].min())
    ended = train_asked_weights(settings, 0, device=CPU, until_both=level)
    assert (ended == whole[: len(ended)]).all()
    assert (ended[:, :2].max(axis=0) >= level).all()
    assert (ended[:-1, :2].max(axis=0) < level).any()
