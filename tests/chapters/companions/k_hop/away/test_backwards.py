"""Attempts to grow a head that attends away: what each changes, and what is read."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.k_hop import phases
from chapters.companions.k_hop.away import backwards
from chapters.companions.k_hop.away.backwards import Attempt, Attempted
from chapters.companions.k_hop.phases import Cell
from stored_runs import file_with

SHORT = Cell(2, ((1, 2, 3),), 30, n_seeds=2, n_hops=3, record_every=10, test_size=8, dim=16,
             spare=1)  # fmt: skip


def test_an_unchanged_attempt_is_a_cell():
    found = backwards.measure(Attempt(SHORT, exam_size=4))
    assert np.abs(found.right - phases.measure(SHORT).right).max() <= 1
    assert found.away.shape == (2, 4, 2)
    assert found.pull.shape == found.carried.shape == (2, 4, 2, 2)


def test_every_context_uses_all_of_one_alphabet():
    attempt = Attempt(replace(SHORT, spare=12), alphabets=2)
    streams = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    drawn = attempt.contexts(0).draw((3,), 20, streams)
    batch = attempt.lettered(drawn, streams)
    for run in range(2):
        symbols = torch.cat([batch.keys, batch.values], dim=-1)[run]
        used = {tuple(sorted(set(row.tolist()))) for row in symbols}
        assert used == {tuple(range(12)), tuple(range(12, 24))}
    assert torch.equal(batch.query // 12, batch.target // 12)
    assert torch.equal(batch.keys % 12, drawn.keys)
    assert attempt.cell.training().architecture.vocabulary == 24


def test_contexts_are_full_before_the_switch():
    attempt = Attempt(SHORT, full_until=5)
    stream = [torch.Generator().manual_seed(0)]
    before, after = (attempt.contexts(step).draw((3,), 64, stream) for step in (4, 5))
    assert before.keys.max() == 11
    assert after.keys.max() == 12


def test_a_head_that_was_idle_first_gives_another_network():
    plain, idle = (
        backwards.measure(Attempt(SHORT, idle_until=until, exam_size=4)) for until in (0, 20)
    )
    assert not np.allclose(plain.carried[:, -1], idle.carried[:, -1])
    assert np.allclose(plain.carried[:, 0], idle.carried[:, 0])


def test_readings_when_three_hops_are_learned():
    right = np.zeros((2, 3, 3), dtype=int)
    right[0, :, 2] = 8, 20, 24
    curve = np.arange(6.0).reshape(2, 3)
    nothing = np.zeros((2, 3, 2))
    made = Attempted(Attempt(SHORT), np.array([0, 10, 20]), right, nothing, nothing, nothing)
    taken = made.when_forward_ends(curve)
    assert taken[0] == 1
    assert np.isnan(taken[1])
    assert made.waits.tolist() == [10, np.inf]


def test_an_attempt_is_stored_as_it_was_measured():
    attempt = Attempt(SHORT, among="ends", full_until=10, exam_size=4)
    found = backwards.measure(attempt)
    (kept,) = backwards.stored(file_with(attempt, backwards.run(attempt))).values()
    assert kept.attempt == attempt
    assert (kept.right == found.right).all()
    for name, slack in (("away", 1e-4), ("pull", 0.01), ("carried", 1e-3)):
        assert np.abs(getattr(kept, name) - getattr(found, name)).max() < slack


def test_attempts_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="two layers"):
        Attempt(replace(SHORT, n_layers=3))
    with pytest.raises(ValueError, match="12 symbols each"):
        Attempt(SHORT, alphabets=2)
