"""Trials against a plain optimiser, cells and their copies, and the stored record."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from chapters.companions.factual_recall import cells, stored, trials
from chapters.companions.factual_recall.model import Shape
from chapters.companions.factual_recall.trials import Outcome, Trial
from running.records import Entry, written

RECORD = Path(__file__).parents[4] / "data" / "companions" / "factual_recall.json"
CPU = torch.device("cpu")
SMALL = Trial(
    Shape(8, 2, 2, 16), 6, rates=(0.03, 1e-5), answers=4, length=8, batch_size=64, steps=600,
    every=20, test_size=200,
)  # fmt: skip


@pytest.fixture(scope="module")
def record():
    return stored.read(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("size", [5, 8, 31])
def test_subjects_and_relations_are_as_equal_as_can_be(size):
    facts = replace(SMALL, size=size).facts
    assert facts.subjects + facts.relations == size == facts.noise
    assert 0 <= facts.subjects - facts.relations <= 1


def test_each_run_takes_adams_steps_at_its_own_rate(close):
    stream = torch.Generator().manual_seed(0)
    start = torch.randn(2, 5, generator=stream, dtype=torch.float64)
    rates = torch.tensor([[0.1], [0.003]], dtype=torch.float64)
    ours, moments = start.clone(), (torch.zeros_like(start), torch.zeros_like(start))
    plain = [row.clone().requires_grad_() for row in start]
    optimisers = [
        torch.optim.AdamW([row], lr=float(rate), weight_decay=0.0)
        for row, rate in zip(plain, rates, strict=True)
    ]
    for step in range(1, 8):
        slope = torch.randn(2, 5, generator=stream, dtype=torch.float64)
        trials.adam(ours, slope, moments, rates, step)
        for row, own, optimiser in zip(plain, slope, optimisers, strict=True):
            row.grad = own.clone()
            optimiser.step()
    close(ours, torch.stack([row.detach() for row in plain]), 1e-12)


def test_few_facts_are_stored_and_the_run_ends_there():
    outcome = trials.run(SMALL, CPU)
    assert outcome.recall(SMALL) >= SMALL.level
    assert outcome.steps < SMALL.steps
    assert outcome.steps % SMALL.every == 0
    assert outcome.right[0] > outcome.right[1]  # a rate of almost nothing learns almost nothing


def test_many_facts_are_given_up_half_way():
    many = replace(SMALL, size=40, steps=100)
    outcome = trials.run(many, CPU)
    assert outcome.half == outcome.right
    assert outcome.recall(many) < many.hopeless
    whole = trials.run(replace(many, hopeless=0.0), CPU)
    assert (outcome.steps, whole.steps) == (50, 100)
    assert whole.half == outcome.half


def test_rates_share_facts_and_batches():
    twice = trials.run(replace(SMALL, rates=(0.03, 0.03), steps=40), CPU)
    assert twice.right[0] == twice.right[1]


def test_a_diverged_run_says_so():
    with pytest.raises(ArithmeticError, match=r"9 facts, .* the loss is not finite at step \d"):
        trials.run(replace(SMALL, rates=(1e30,)), CPU)


def test_a_copy_has_everything_in_proportion():
    whole, copy = cells.cell(12, 16), cells.cell(12, 16, 16)
    assert copy.shape == Shape(16, 12, 4, 8)
    assert 4 * copy.shape.attention_parameters == whole.shape.attention_parameters
    assert 4 * copy.shape.mlp_parameters == whole.shape.mlp_parameters
    products = [trial.facts.subjects * trial.facts.relations for trial in (whole, copy)]
    assert products == [1024, 256]
    with pytest.raises(ValueError, match="no copy"):
        cells.cell(12, 1, 16)


def test_the_guide_of_the_source_counts_a_quarter_of_attention():
    shape = cells.cell(12, 24).shape
    assert shape == Shape(32, 12, 8, 24)
    assert cells.worth(shape) / 2 == 32 * 24 + 32 * 8 * 12 / 2


def test_a_trial_is_stored_as_it_ended(monkeypatch):
    monkeypatch.setattr(trials, "run", lambda trial, device: Outcome((3, 2), (5, 2), 40))
    text = written([Entry(SMALL, None, None, None, {}, None, None, stored.run(SMALL))])
    assert stored.read(text) == {SMALL: Outcome((3, 2), (5, 2), 40)}


def test_stored_trials_end_as_they_say(record):
    for trial, outcome in record.items():
        assert len(outcome.right) == len(outcome.half) == len(trial.rates)
        whole = outcome.steps == trial.steps
        given_up = outcome.steps == trial.steps // 2
        full = outcome.recall(trial) >= trial.level
        assert full or whole or given_up
        assert all(h <= r for h, r in zip(outcome.half, outcome.right, strict=True))
        if given_up and not full:
            assert outcome.recall(trial) < trial.hopeless


def test_a_stored_trial_is_what_its_settings_give(record):
    """The shortest; processors round differently, so some answers may turn."""
    trial = min(record, key=lambda trial: record[trial].steps)
    again = trials.run(trial, CPU)
    assert again.recall(trial) >= trial.level
    assert abs(again.steps - record[trial].steps) <= 2 * trial.every
