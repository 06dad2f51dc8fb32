"""Probes on planted memories, attention where the circuit needs it, and a short training."""

from dataclasses import replace

import pytest
import torch

from chapters.companions.birth import Settings, model, stored, task
from oracles.birth_counts import COUNTS

CPU = torch.device("cpu")
TINY = Settings(length=20, dim=16, batch_size=16, steps=12)


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


@pytest.mark.parametrize("part", range(3))
def test_each_recall_is_of_its_own_matrix(part):
    frozen, random, head, triggers = planted()
    assert model.recalls(frozen, head, triggers) == (1, 1, 1, 1)
    mixed = [*model.matrices_of(head)]
    mixed[part] = model.matrices_of(random)[part]
    result = model.recalls(frozen, model.from_matrices(mixed), triggers)
    by_part = result.kq1, result.kq2, result.ov2
    assert [value == 1 for value in by_part] == [i != part for i in range(3)]


def test_a_part_moves_from_its_release_on():
    """Until then it keeps every bit, without decay; the others move from the start."""
    free = stored.train(TINY, COUNTS, 0, n_layers=2, device=CPU)
    start = model.initial(65, 20, 16, 2, generator=torch.Generator().manual_seed(0))[1]
    for still in range(3):  # W_KQ^1, W_KQ^2, W_O^2, the reverse of `released`
        late = replace(TINY, released=tuple(12 if i == 2 - still else 0 for i in range(3)))
        held = stored.train(late, COUNTS, 0, n_layers=2, device=CPU).trained
        same = [*map(torch.equal, model.matrices_of(held), model.matrices_of(start))]
        assert same == [part == still for part in range(3)]
    again = stored.train(replace(TINY, released=(0, 0, 11)), COUNTS, 0, n_layers=2, device=CPU)
    assert free.loss[0] == again.loss[0]
    assert free.loss[-1] != again.loss[-1]


def test_followers_by_hand():
    result = model.followers(torch.tensor([[7, 3, 7, 7, 5]]))[0]
    wanted = torch.zeros(5, 5, dtype=torch.bool)
    wanted[2, 1] = wanted[3, 1] = wanted[3, 3] = True  # what stands after the sevens before
    assert torch.equal(result, wanted)


def test_focus_of_uniform_attention_and_of_the_head():
    frozen, trained, head, triggers = planted()
    what = task.make(COUNTS, 5)
    batch = task.sample(what, 40, 40, generator=torch.Generator().manual_seed(1))
    nothing = model.Trained(tuple(0 * kq for kq in trained.kq), trained.o)
    uniform = model.focus(frozen, nothing, batch.tokens, batch.scored)
    rows = torch.arange(1, 41.0).expand_as(batch.scored)
    expected = (model.followers(batch.tokens).sum(2) / rows)[batch.scored].mean()
    assert abs(uniform.match - float(expected)) < 1e-5
    assert abs(uniform.previous - float((1 / rows[:, 1:])[batch.scored[:, :-1]].mean())) < 1e-5
    strong = model.Trained(tuple(3 * kq / kq.std() / 20 for kq in head.kq), head.o)
    result = model.focus(frozen, strong, batch.tokens, batch.scored)
    assert result.previous_top > 0.95
    assert result.match_top > 0.8
    assert result.match > 3 * uniform.match
    reader = model.RecallsAndFocus.of(what, batch)
    assert reader(frozen, strong, triggers)[4:8] == result
    assert reader(frozen, strong, triggers)[8] == 1
    assert reader(frozen, nothing, triggers)[8] < 1
