"""The task of hidden permutations: answers, and that one hop is learned."""

from dataclasses import replace

import pytest
import torch

from chapters.companions.k_hop import hidden
from chapters.companions.k_hop.hidden import Hidden
from stored_runs import file_with


def test_answers_are_those_of_the_composition():
    stream = torch.Generator().manual_seed(0)
    secret = hidden.permutations((3, 4), stream)
    hops = torch.randint(1, 4, (6, 4), generator=stream)
    batch = hidden.drawn(secret, hops, stream)
    for context in range(6):
        given = batch.values[context].view(3, 4).tolist()
        for x in range(4):
            value = x
            for i in range(hops[context, x]):
                value = given[i][secret[i][value]]
            assert batch.target[context, x] == value
            assert batch.query[context, x] == 4 * (hops[context, x] - 1) + x
    assert (batch.keys == torch.arange(12)).all()
    assert (batch.values.view(6, 3, 4).sort(dim=-1).values == torch.arange(4)).all()


def test_one_hop_is_learned_and_stored_as_it_was_measured():
    cell = Hidden(3, (1,), 200, n_seeds=2, n_layers=1, test_size=16, record_every=50)
    found = hidden.measure(cell)
    assert found.moments[-1] < 200
    assert (found.right[:, -1] >= 0.95 * 48).all()
    (kept,) = hidden.stored(file_with(cell, hidden.run(cell))).values()
    assert (kept.right == found.right).all()
    assert (kept.waits <= found.moments[-1]).all()


def test_runs_differ_by_seed_and_not_by_their_company(close):
    cell = Hidden(3, (1, 2), 20, n_seeds=2, n_layers=1, test_size=64, record_every=20)
    both = hidden.measure(cell).right
    second = hidden.measure(replace(cell, first_seed=1, n_seeds=1)).right
    assert both[1].tolist() == pytest.approx(second[0].tolist(), abs=2)
    assert both[0].tolist() != both[1].tolist()


def test_cells():
    assert hidden.alone(4, 3).asked == (3,)
    assert hidden.mixed(4, 3).asked == (1, 2, 3)
    assert hidden.mixed(4, 3).k == hidden.alone(4, 3).k == 3
