"""Probes on planted memories, attention where the circuit needs it, and a short training."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.birth import PRESET, attention, memories, model, task, training
from chapters.companions.birth import task_tables as tables
from emergence.presets import choose
from oracles.birth_counts import COUNTS

CPU = torch.device("cpu")
TINY = replace(choose(PRESET, "smoke").settings, steps=12, steps_one_layer=6, length=20, dim=16)


def planted(dim=400, length=40):
    """Random embeddings, in which the induction head is written by hand."""
    stream = torch.Generator().manual_seed(0)
    frozen, trained = model.initial(65, length, dim, 2, generator=stream)
    triggers = task.make(COUNTS, 5).triggers
    asking = frozen.e[triggers]
    previous = frozen.p[1:].T @ frozen.p[:-1]
    match = asking.T @ (asking @ frozen.ov1.T)
    copy = frozen.u.T @ frozen.e @ torch.linalg.inv(frozen.v)
    return frozen, trained, model.Trained((previous, match), copy), triggers


def test_recalls_of_nothing_and_of_the_head():
    frozen, random, head, triggers = planted()
    assert memories.recalls(frozen, head, triggers) == (1, 1, 1, 1)
    chance = memories.recalls(frozen, random, triggers)
    assert chance.ov2 < 0.15
    assert chance.kq1 < 0.25


@pytest.mark.parametrize("part", range(3))
def test_each_recall_is_of_its_own_matrix(part):
    frozen, random, head, triggers = planted()
    mixed = [*model.parts(head)]
    mixed[part] = model.parts(random)[part]
    found = memories.recalls(frozen, model.from_parts(mixed), triggers)
    by_part = found.kq1, found.kq2, found.ov2
    assert [value == 1 for value in by_part] == [i != part for i in range(3)]


def test_the_head_answers():
    """Written strongly enough: scores and logits of 30 for what belongs together."""
    frozen, _, head, triggers = planted()
    found = tables.tables(frozen, head)
    n = found.kq1.shape[0]
    first = found.kq1[65:, 65:].diagonal(-1).mean()
    second = found.kq2[triggers, n + triggers].mean()
    kq = head.kq[0] * 30 / first, head.kq[1] * 30 / second
    strong = model.Trained(kq, head.o * 30 / found.out[:, :65].diagonal().mean())
    batch = task.sample(task.make(COUNTS, 5), 50, 40, generator=torch.Generator().manual_seed(1))
    record = training.Record(*[np.zeros(0)] * 4, frozen, strong)
    assert training.accuracy_on(record, batch) > 0.9  # embeddings are nearly orthogonal only


def test_entries_of_each_memory():
    assert memories.entries(65, 5, 128) == (65, 5, 127, 31)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_same_seed_same_run(n_layers):
    first, again, other = (
        training.train(TINY, COUNTS, seed, n_layers=n_layers, device=CPU) for seed in (0, 0, 1)
    )
    assert (first.loss == again.loss).all()
    assert torch.equal(first.trained.o, again.trained.o)
    assert (first.loss != other.loss).any()
    assert len(first.loss) == (12 if n_layers == 2 else 6)
    assert first.probed.tolist() == ([0, 5, 10, 12] if n_layers == 2 else [])


def test_diverging_run_is_an_error():
    with pytest.raises(ArithmeticError, match="not finite"):
        training.train(replace(TINY, learning_rate=1e30), COUNTS, 0, n_layers=2, device=CPU)


def test_share_learnt_takes_chance_off():
    found = memories.learnt(np.array([0.2, 0.6, 1.0]), 5)
    assert found == pytest.approx([0.0, 0.5, 1.0])


def test_a_part_moves_from_its_release_on():
    """Until then it keeps every bit, without decay; the others move from the start."""
    free = training.train(TINY, COUNTS, 0, n_layers=2, device=CPU)
    start = model.initial(65, 20, 16, 2, generator=torch.Generator().manual_seed(0))[1]
    for still in range(3):  # W_KQ^1, W_KQ^2, W_O^2, the reverse of `released`
        late = replace(TINY, released=tuple(12 if i == 2 - still else 0 for i in range(3)))
        held = training.train(late, COUNTS, 0, n_layers=2, device=CPU).trained
        same = [*map(torch.equal, model.parts(held), model.parts(start))]
        assert same == [part == still for part in range(3)]
    again = training.train(replace(TINY, released=(0, 0, 11)), COUNTS, 0, n_layers=2, device=CPU)
    assert free.loss[0] == again.loss[0]
    assert free.loss[-1] != again.loss[-1]


def test_followers_by_hand():
    found = attention.followers(torch.tensor([[7, 3, 7, 7, 5]]))[0]
    wanted = torch.zeros(5, 5, dtype=torch.bool)
    wanted[2, 1] = wanted[3, 1] = wanted[3, 3] = True  # what stands after the sevens before
    assert torch.equal(found, wanted)


def test_patterns_are_those_of_the_model():
    frozen, trained, _, _ = planted(dim=32, length=12)
    tokens = torch.randint(65, (3, 12), generator=torch.Generator().manual_seed(0))
    logits, (first, second) = model.forward(frozen, trained, tokens)
    x = frozen.e[tokens] + frozen.p
    h = x + first @ x @ frozen.ov1.T
    out = h + second @ h @ (trained.o @ frozen.v).T
    assert torch.allclose(out @ frozen.u.T, logits, atol=1e-4)
    assert not first.triu(1).any()


def test_focus_of_uniform_attention_and_of_the_head():
    frozen, trained, head, triggers = planted()
    what = task.make(COUNTS, 5)
    batch = task.sample(what, 40, 40, generator=torch.Generator().manual_seed(1))
    batch = task.Batch(batch.tokens, batch.targets, batch.scored & ~task.stuck(batch.scored, 5))
    nothing = model.Trained(tuple(0 * kq for kq in trained.kq), trained.o)
    uniform = attention.focus(frozen, nothing, batch.tokens, batch.scored)
    rows = torch.arange(1, 41.0).expand_as(batch.scored)
    expected = (attention.followers(batch.tokens).sum(2) / rows)[batch.scored].mean()
    assert abs(uniform.match - float(expected)) < 1e-5
    assert abs(uniform.previous - float((1 / rows[:, 1:])[batch.scored[:, :-1]].mean())) < 1e-5
    strong = model.Trained(tuple(3 * kq / kq.std() / 20 for kq in head.kq), head.o)
    found = attention.focus(frozen, strong, batch.tokens, batch.scored)
    assert found.previous_top > 0.95
    assert found.match_top > 0.8
    assert found.match > 3 * uniform.match
    reader = attention.RecallsAndFocus.of(what, batch)
    assert reader(frozen, strong, triggers)[4:8] == found
    assert reader(frozen, strong, triggers)[8] == 1
    assert reader(frozen, nothing, triggers)[8] < 1
