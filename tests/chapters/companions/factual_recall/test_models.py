"""The task, linear attention and its growth rates, the transformer, by loops and enumeration."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch

from chapters.companions.factual_recall import model as recall
from chapters.companions.factual_recall.model import (
    Facts,
    Parameters,
    Shape,
    initial,
    written_at_end,
)

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
    sequences = recall.draw(SMALL, 500, stream())
    rows = recall.tokens(SMALL, sequences).tolist()
    for row, s, r in zip(rows, sequences.s, sequences.r, strict=True):
        assert len(row) == SMALL.length
        assert [t for t in row if t < 4] == [int(s)]
        assert [t for t in row if 4 <= t < 7] == [4 + int(r)]
        assert [t for t in row if t == 12] == [12]
    assert set(sequences.noise.flatten().tolist()) == set(range(7, 12))


def run(facts, **changes):
    options = {
        "alpha": [0.5, 0.5], "learning_rate": 0.1, "batch_size": 16, "steps": 2, "every": 1,
        "test_size": 64, "device": CPU, "label": "test",
    }  # fmt: skip
    return recall.train_linear(facts, [0, 1], **(options | changes))


def test_a_step_is_autograds():
    record = run(SMALL, learning_rate=2.0)
    sequence = stream(1)
    answers = recall.even_answers(SMALL)

    def loss(a, v, batch):
        # attention as written: a score for each token from the end token, no counts
        seen = recall.tokens(SMALL, batch)
        logits = (a[seen][:, :, None] * v[seen]).sum(dim=1)
        return torch.nn.functional.cross_entropy(logits, answers[batch.s, batch.r])

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
    record = run(Facts(), steps=1, alpha=[1e-5, 1e-5], test_size=2048)
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
        rows.append(torch.stack([written(row[order]) for row in recall.tokens(SMALL, batch)]))
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
