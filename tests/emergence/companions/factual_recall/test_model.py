"""The fast one-layer transformer against attention as it is written, and the count of facts."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from emergence.companions.associative_memories.capacity import Bracket
from emergence.companions.factual_recall import capacity, task
from emergence.companions.factual_recall.model import Parameters, Shape, initial, retrieved
from emergence.companions.factual_recall.settings import PRESET
from emergence.companions.factual_recall.task import Facts

CPU = torch.device("cpu")
FACTS = Facts(subjects=4, relations=3, answers=2, noise=5, length=8)
SHAPE = Shape(dim=6, heads=2, head_dim=3, width=5)


def written_out(shape, frozen, p, tokens):
    """One run, one sequence: softmax attention from the last token, head by head."""
    x = frozen.e[tokens]
    heads = []
    for h in range(shape.heads):
        part = slice(h * shape.head_dim, (h + 1) * shape.head_dim)
        query = x[-1] @ p.q[:, part]
        scores = (x @ p.k[:, part]) @ query / shape.head_dim**0.5
        heads.append(torch.softmax(scores, dim=0) @ (x @ p.v[:, part]))
    y = torch.cat(heads) @ p.o
    y = y + torch.relu(y @ p.a + p.b[0]) @ p.w
    return frozen.u @ y


@pytest.fixture
def model():
    streams = [torch.Generator().manual_seed(i) for i in range(2)]
    frozen, parameters = initial(SHAPE, FACTS, streams, torch.float64)
    return frozen, Parameters(*(3 * part.requires_grad_() + 0.1 for part in parameters))


def test_logits_and_gradients_are_those_of_attention_in_any_order(model, close):
    frozen, parameters = model
    sequences = [task.draw(FACTS, 7, torch.Generator().manual_seed(i)) for i in range(2)]
    counts = torch.stack([task.counts(FACTS, batch) for batch in sequences]).double()
    found = retrieved(SHAPE, frozen, parameters, counts) @ frozen.u.mT
    order = torch.cat(
        [torch.randperm(7, generator=torch.Generator().manual_seed(2)), torch.tensor([7])]
    )
    expected = torch.stack([
        torch.stack([
            written_out(
                SHAPE,
                type(frozen)(*(part[run] for part in frozen)),
                Parameters(*(part[run] for part in parameters)),
                row[order],
            )
            for row in task.tokens(FACTS, batch)
        ])
        for run, batch in enumerate(sequences)
    ])  # fmt: skip
    close(found, expected, 1e-12)
    weight = torch.randn(found.shape, generator=torch.Generator().manual_seed(3), dtype=found.dtype)
    pairs = zip(
        torch.autograd.grad((found * weight).sum(), parameters, retain_graph=True),
        torch.autograd.grad((expected * weight).sum(), parameters),
        strict=True,
    )
    for fast, slow in pairs:
        close(fast, slow, 1e-10)


def test_scores_that_are_far_apart_do_not_divide_by_zero():
    frozen, start = initial(SHAPE, FACTS, [torch.Generator().manual_seed(i) for i in range(2)])
    parameters = Parameters(*(part.requires_grad_() for part in start._replace(k=1e4 * start.k)))
    counts = task.counts(FACTS, task.every_fact(FACTS, torch.Generator().manual_seed(0)))
    found = retrieved(SHAPE, frozen, parameters, counts.expand(2, -1, -1))
    assert found.dtype == torch.float32
    slopes = torch.autograd.grad(found.sum(), parameters)
    assert all(torch.isfinite(part).all() for part in (found, *slopes))


def test_initial_values_have_the_sources_scales():
    shape = Shape(dim=64, heads=2, head_dim=16, width=128)
    frozen, p = initial(shape, Facts(50, 50, 8, 100), [torch.Generator().manual_seed(0)])
    deviations = {
        "q": 16**-0.5, "k": 16**-0.5, "v": 16**-0.5, "o": 64**-0.5, "a": 64**-0.5, "w": 128**-0.5,
    }  # fmt: skip
    for name, expected in deviations.items():
        assert float(getattr(p, name).std()) == pytest.approx(expected, rel=0.1)
    assert float(frozen.e.std()) == pytest.approx(1 / 8, rel=0.1)
    assert not p.b.any()


def test_parameters_are_counted_as_in_the_source():
    shape = Shape(16, 8, 2, 16)
    assert shape.attention_parameters == 4 * 8 * 2 * 16
    assert shape.mlp_parameters == 2 * 16 * 16
    _, p = initial(shape, FACTS, [torch.Generator().manual_seed(0)])
    biases = p.b.numel()
    assert shape.parameters == sum(part.numel() for part in p) - biases


@pytest.mark.parametrize("n", [5, 8, 31])
def test_subjects_and_relations_are_as_equal_as_can_be(n):
    facts = capacity.square(n, 8, 32)
    assert facts.subjects + facts.relations == n == facts.noise
    assert 0 <= facts.subjects - facts.relations <= 1


def test_facts_stored_lie_between_the_last_size_that_is_and_the_first_that_is_not():
    settings = PRESET["smoke"].settings
    found = capacity.facts_stored(Bracket(6, 7), settings)
    assert found == pytest.approx((3 * 3 * 4 * 3) ** 0.5)


def test_few_facts_are_stored_and_many_are_not():
    settings = replace(PRESET["smoke"].settings, capacity_steps=500)
    shape = Shape(8, 2, 2, 16)
    few = capacity.best_recall(shape, capacity.square(6, 4, 8), [0, 1], settings, CPU)
    many = capacity.best_recall(shape, capacity.square(40, 4, 8), [0, 1], settings, CPU)
    assert few.mean() > 0.9
    assert many.max() < 0.7


def test_a_diverged_run_says_so():
    settings = replace(PRESET["smoke"].settings, capacity_rate=1e30)
    with pytest.raises(ArithmeticError, match=r"9 facts, .* the loss is not finite at step \d"):
        capacity.best_recall(SHAPE, capacity.square(6, 4, 8), [0, 1], settings, CPU)


def test_interchangeability_is_recovered_from_made_up_capacities():
    attention, mlp = (
        np.array([500.0, 1000, 2000, 500, 1000]),
        np.array([250.0, 1000, 500, 2000, 250]),
    )
    found = capacity.exchange(attention, mlp, 0.1 * (attention + 0.6 * mlp))
    assert found.per_attention == pytest.approx(0.1)
    assert found.ratio == pytest.approx(0.6)
    assert found.low == pytest.approx(0.6, abs=1e-3)
    assert found.high == pytest.approx(0.6, abs=1e-3)
