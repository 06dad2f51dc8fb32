"""Trials, cells and their copies, the stored record, and laws read off made-up recalls."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.factual_recall import capacity
from chapters.companions.factual_recall.capacity import Trial
from chapters.companions.factual_recall.model import Shape
from tools.this_book import ROOT

CPU = torch.device("cpu")
SMALL = Trial(
    Shape(8, 2, 2, 16), 6, rates=(0.03, 1e-5), answers=4, length=8, batch_size=64, steps=600,
    every=20, test_size=200,
)  # fmt: skip


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
        corrections = torch.tensor(
            [1 - beta**step for beta in capacity.MEMORY], dtype=torch.float64
        )
        capacity.adam(ours, slope, moments, rates, corrections)
        for row, gradient, optimiser in zip(plain, slope, optimisers, strict=True):
            row.grad = gradient.clone()
            optimiser.step()
    close(ours, torch.stack([row.detach() for row in plain]), 1e-12)


def test_few_facts_are_stored_and_the_run_ends_there():
    outcome = capacity.train_until(SMALL, CPU)
    assert outcome.recall(SMALL) >= SMALL.level
    assert outcome.steps < SMALL.steps
    assert outcome.steps % SMALL.every == 0
    assert outcome.right[0] > outcome.right[1]  # a rate of almost nothing learns almost nothing


def test_many_facts_are_given_up_half_way():
    many = replace(SMALL, size=40, steps=100)
    outcome = capacity.train_until(many, CPU)
    assert outcome.half == outcome.right
    assert outcome.recall(many) < many.hopeless
    whole = capacity.train_until(replace(many, hopeless=0.0), CPU)
    assert (outcome.steps, whole.steps) == (50, 100)
    assert whole.half == outcome.half


def test_a_copy_has_everything_in_proportion():
    whole, copy = capacity.cell(12, 16), capacity.cell(12, 16, 16)
    assert copy.shape == Shape(16, 12, 4, 8)
    assert 4 * copy.shape.attention_parameters == whole.shape.attention_parameters
    assert 4 * copy.shape.mlp_parameters == whole.shape.mlp_parameters
    products = [trial.facts.subjects * trial.facts.relations for trial in (whole, copy)]
    assert products == [1024, 256]
    with pytest.raises(ValueError, match="no copy"):
        capacity.cell(12, 1, 16)


def made_up(power=1.0, ratio=3.5):
    rng = np.random.default_rng(1)
    facts = np.repeat([256.0, 1024.0], 20)
    share = facts ** (1 / power) / 1024 ** (1 / power)
    attention, mlp = share * rng.uniform(5000, 15000, 40), share * rng.uniform(50, 2500, 40)
    worth = np.log(attention + ratio * mlp) - np.log(facts) / power
    return attention, mlp, facts, 0.5 * worth - 0.4


def test_an_exchange_is_recovered():
    ratio = 0.7
    attention, mlp, _, recall = (part[20:] for part in made_up(ratio=ratio))
    result = capacity.exchange(attention, mlp, recall)
    assert result.ratio == pytest.approx((ratio, ratio, ratio), rel=1e-3)
    worth = np.exp((recall[3] - result.base) / result.slope)
    assert worth == pytest.approx(attention[3] + ratio * mlp[3], rel=1e-3)
    assert result.mlp_at(float(attention[3]), float(recall[3])) == pytest.approx(mlp[3], rel=1e-2)


def test_a_power_is_recovered():
    assert capacity.power(*made_up(0.8)) == pytest.approx((0.8,) * 3, rel=1e-3)


def test_the_published_map_has_a_recall_for_each_cell():
    text = (ROOT / "data/companions/factual_recall_map.csv").read_text(encoding="ascii")
    result = capacity.published(text)
    assert len(result.heads) == len(result.widths) == len(result.recall) == 169
    at = dict(zip(zip(result.heads, result.widths, strict=True), result.recall, strict=True))
    assert at[8, 32] == 0.87
    assert at[20, 1] == 1.0
    above = 32 * result.widths + 128 * result.heads >= capacity.LINE
    inside = above & (256 * result.heads >= capacity.FEWEST)
    assert result.recall[inside].min() > 0.93
    assert (result.recall[~inside] >= 0.99).mean() < 0.1
