"""Attention where the circuit needs it: counted by hand, and in a head written by hand."""

import torch

from chapters.companions.birth import attention, model, task
from oracles.birth_counts import COUNTS

from .test_training import planted


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
