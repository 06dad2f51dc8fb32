"""The task, linear attention, the transformer, trials, and laws read off made-up recalls."""

import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from chapters.companions.factual_recall import capacity
from chapters.companions.factual_recall import model as recall
from chapters.companions.factual_recall.capacity import Trial
from chapters.companions.factual_recall.model import (
    Facts,
    Parameters,
    Shape,
    initial,
    written_at_end,
)
from tools.this_book import ROOT

CPU = torch.device("cpu")
SMALL = Facts(subjects=4, relations=3, answers=2, noise=5, length=8)
SHAPE = Shape(dim=6, heads=2, head_dim=3, width=5)


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def test_even_answers_are_those_of_the_source():
    # printed in the source's notebook for S = 16, R = 4, D = 8
    printed = [[s // 2 + 8 * r for r in range(4)] for s in range(16)]
    assert recall.even_answers(Facts()).tolist() == printed


def test_sequences_have_one_subject_one_relation_noise_and_an_end():
    rows = recall.draw(SMALL, 500, stream())
    for row in rows.tolist():
        assert len(row) == SMALL.length
        assert [t for t in row if t < 4] == row[:1]
        assert [t for t in row if 4 <= t < 7] == row[1:2]
        assert [t for t in row if t == 12] == [12]
    assert [set(part.flatten().tolist()) for part in rows.split([1, 1, 5, 1], dim=1)] == [
        {0, 1, 2, 3}, {4, 5, 6}, set(range(7, 12)), {12}
    ]  # fmt: skip


def run(facts, **changes):
    settings = recall.FactualRecallSettings(facts, 0.5, 0.1, 16, 2, every=1, test_size=64)
    return recall.train_linear(replace(settings, **changes), [0, 1], device=CPU, label="test")


def test_a_step_is_autograds():
    record = run(SMALL, learning_rate=2.0)
    sequence = stream(1)
    answers = recall.even_answers(SMALL)

    def loss(a, v, seen):
        # attention as written: a score for each token from the end token, no counts
        logits = (a[seen][:, :, None] * v[seen]).sum(dim=1)
        return torch.nn.functional.cross_entropy(logits, answers[seen[:, 0], seen[:, 1] - 4])

    a = torch.full((13,), 0.5, requires_grad=True)
    v = torch.full((13, 6), 0.5, requires_grad=True)
    test = recall.draw(SMALL, 64, sequence)
    before = float(loss(a, v, test).detach())
    grad = torch.autograd.grad(loss(a, v, recall.draw(SMALL, 16, sequence)), (a, v))
    after = float(loss(a - 2 * grad[0], v - 2 * grad[1], test).detach())
    assert before == pytest.approx(math.log(6), abs=1e-5)
    assert record.loss[1] == pytest.approx([before, after], rel=1e-5)
    assert after != pytest.approx(before, rel=1e-3)


def test_measures_at_the_start_are_those_of_ignorance():
    record = run(Facts(), steps=1, alpha=1e-5, test_size=2048)
    assert record.loss[:, 0] == pytest.approx(math.log(32), abs=1e-4)
    assert record.relation_loss[:, 0] == pytest.approx(math.log(4), abs=1e-4)
    assert record.from_prior[:, 0] == pytest.approx(3 / 4, abs=1e-4)
    assert record.attention == pytest.approx(1e-5)


def enumerated_pull(facts, known):
    """Lengths of the mean of c_t (1{y = a} - p) over all facts, for a relation and a subject."""
    answers = recall.even_answers(facts)
    pulls = np.zeros((2, facts.outputs))
    for s, r in itertools.product(range(facts.subjects), range(facts.relations)):
        possible = {
            "nothing": slice(None),
            "relation": slice(r * facts.answers, (r + 1) * facts.answers),
            "subject": answers[s],
        }[known]
        guess = np.zeros(facts.outputs)
        guess[possible] = 1 / len(guess[possible])
        guess[int(answers[s, r])] -= 1
        pulls[[r == 0, s == 0]] -= guess / (facts.subjects * facts.relations)
    return np.linalg.norm(pulls, axis=1).tolist()


@pytest.mark.parametrize("facts", [Facts(), Facts(8, 4, 4), Facts(4, 16, 4), Facts(8, 8, 8)])
def test_growth_rates_are_lengths_of_the_enumerated_pulls(facts):
    rates = recall.growth_rates(facts)
    assert enumerated_pull(facts, "nothing") == pytest.approx(list(rates))
    # on either plateau the rate of what is still unknown is what it was
    assert enumerated_pull(facts, "relation")[1] == pytest.approx(rates.subject)
    assert enumerated_pull(facts, "relation")[0] == pytest.approx(0, abs=1e-12)
    assert enumerated_pull(facts, "subject")[0] == pytest.approx(rates.relation)
    assert enumerated_pull(facts, "subject")[1] == pytest.approx(0, abs=1e-12)
    ratio = facts.subjects / facts.relations * ((facts.relations - 1) / (facts.answers - 1)) ** 0.5
    assert recall.order_ratio(facts) == pytest.approx(ratio)


def test_the_predicted_step_is_where_the_linear_flow_reaches_one():
    rate, alpha, eta = 0.07, 1e-3, 0.1
    a, v, step = alpha, 0.0, 0
    while a < 1:
        a, v, step = a + eta * rate * v, v + eta * rate * a, step + 1
    assert recall.predicted_step(rate, alpha, eta) == pytest.approx(step, rel=0.01)


def test_phases_of_a_made_up_run():
    steps = np.arange(0, 60, 10)
    loss = np.array([[3.0, 2.0, 2.01, 1.99, 0.5, 0.05], [3.0, 3.0, 3.0, 3.0, 3.0, 3.0]])
    relation = np.array([[1.0, 0.05, 0, 0, 0, 0], [1.0] * 6])
    blank = np.zeros((2, 6))
    attention = np.zeros((2, 6, 3))
    attention[0, 2:, 0], attention[0, 1:, 1] = 1.0, 2.0
    record = recall.LinearRecord(steps, loss, relation, blank, blank, blank, attention)
    result = recall.phases(record, 2.0)
    assert [part.tolist() for part in result] == [
        [10, np.inf], [10, np.inf], [30, np.inf], [50, np.inf]
    ]  # fmt: skip
    assert recall.attention_steps(record).tolist() == [[10, np.inf], [20, np.inf]]
    single = recall.LinearRecord(steps, *(part[:1] for part in record[1:]))
    assert recall.midway(single, recall.phases(single, 2.0)).tolist() == [2]


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
    frozen, parameters = initial(SHAPE, SMALL, streams, torch.float64)
    return frozen, Parameters(*(3 * part.requires_grad_() + 0.1 for part in parameters))


def test_logits_and_gradients_are_those_of_attention_in_any_order(model, close):
    frozen, parameters = model
    sequences = [recall.draw(SMALL, 7, torch.Generator().manual_seed(i)) for i in range(2)]
    counts = torch.stack([recall.token_counts(SMALL, batch) for batch in sequences]).double()
    result = written_at_end(SHAPE, frozen, parameters, counts) @ frozen.u.mT
    order = [*torch.randperm(7, generator=torch.Generator().manual_seed(2)).tolist(), 7]
    rows = []
    for run, batch in enumerate(sequences):
        of_run = (type(parts)(*(part[run] for part in parts)) for parts in (frozen, parameters))
        written = partial(written_out, SHAPE, *of_run)
        rows.append(torch.stack([written(row[order]) for row in batch]))
    expected = torch.stack(rows)
    close(result, expected, 1e-12)
    weight = torch.randn(
        result.shape, generator=torch.Generator().manual_seed(3), dtype=result.dtype
    )
    fast, slow = (
        torch.autograd.grad((logits * weight).sum(), parameters, retain_graph=True)
        for logits in (result, expected)
    )
    for ours, other in zip(fast, slow, strict=True):
        close(ours, other, 1e-10)


def test_scores_that_are_far_apart_do_not_divide_by_zero():
    frozen, start = initial(SHAPE, SMALL, [torch.Generator().manual_seed(i) for i in range(2)])
    parameters = Parameters(*(part.requires_grad_() for part in start._replace(k=1e4 * start.k)))
    counts = recall.token_counts(SMALL, recall.draw(SMALL, 12, torch.Generator().manual_seed(0)))
    result = written_at_end(SHAPE, frozen, parameters, counts.expand(2, -1, -1))
    assert result.dtype == torch.float32
    slopes = torch.autograd.grad(result.sum(), parameters)
    assert all(torch.isfinite(part).all() for part in (result, *slopes))


TRIAL = Trial(
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
    outcome = capacity.train_until(TRIAL, CPU)
    assert outcome.recall(TRIAL) >= TRIAL.level
    assert outcome.steps < TRIAL.steps
    assert outcome.steps % TRIAL.every == 0
    assert outcome.right[0] > outcome.right[1]  # a rate of almost nothing learns almost nothing


def test_many_facts_are_given_up_half_way():
    many = replace(TRIAL, size=40, steps=100)
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
