"""The stored runs: declared, written and read back, and one of them begun again."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from chapters.companions.birth import attention, task
from chapters.companions.birth.runs import cells, generic, record
from oracles.birth_counts import COUNTS
from stored_runs import file_with, stored_text

SMALL = generic.Generic(length=20, dim=16, batch_size=8, steps=3)


@pytest.fixture(scope="module")
def stored():
    return {(run.name, run.seed): run for run in record.read(stored_text("birth"))}


def test_the_generic_transformer_looks_at_no_later_token():
    parts = generic.initial(65, SMALL, generator=torch.Generator().manual_seed(0))
    tokens = torch.randint(65, (2, 20), generator=torch.Generator().manual_seed(1))
    other = tokens.clone()
    other[:, 12:] = (other[:, 12:] + 1) % 65
    first, second = (generic.logits(parts, some, 4) for some in (tokens, other))
    assert torch.equal(first[:, :12], second[:, :12])
    assert (first[:, 12:] != second[:, 12:]).any()


def test_the_generic_transformer_by_hand():
    """One sequence, head by head, with the feed-forward layer beside attention."""
    parts = generic.initial(65, SMALL, generator=torch.Generator().manual_seed(0))
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    x = parts.e[tokens[0]] + parts.p[:5]

    def normed(rows):
        spread = (rows.var(1, False, keepdim=True) + 1e-5).sqrt()
        return (rows - rows.mean(1, keepdim=True)) / spread

    block, found = parts.blocks[0], []
    q, k, v = (normed(x) @ block.qkv.T).split(16, dim=1)
    for head in range(4):
        own = slice(4 * head, 4 * head + 4)
        scores = (q[:, own] @ k[:, own].T / 2).masked_fill(~torch.ones(5, 5).tril().bool(), -1e9)
        found.append(scores.softmax(1) @ v[:, own])
    told = (normed(x) @ block.w_in.T).relu() @ block.w_out.T
    wanted = normed(x + torch.cat(found, 1) @ block.o.T + told) @ parts.u.T
    assert torch.allclose(generic.logits(parts, tokens, 4)[0], wanted, atol=1e-4)


@pytest.mark.usefixtures("unchecked")
def test_the_generic_transformer_learns_and_repeats():
    longer = replace(SMALL, steps=40)
    first, again = (generic.train(longer, COUNTS, 0) for _ in range(2))
    assert (first.loss == again.loss).all()
    assert first.loss[-5:].mean() < first.loss[:5].mean() - 0.3


def test_accuracies_are_taken_apart():
    """An answer that is right in stuck tails only."""
    batch = task.sample(task.make(COUNTS, 5), 300, 60, generator=torch.Generator().manual_seed(0))
    tails = task.stuck(batch.scored, 5)
    wanted = torch.where(tails, batch.targets, (batch.targets + 1) % 65)
    rows = iter(wanted.split(cells.CHUNK))
    found = cells.accuracies(lambda _: torch.nn.functional.one_hot(next(rows), 65), batch, 5)
    assert (found["stuck"], found["free"]) == (1, 0)
    assert found["all"] == pytest.approx(found["stuck_positions"], abs=1e-4)


def test_a_run_goes_through_the_file_unchanged():
    tiny = replace(cells.RANDOM, length=16, dim=16, batch_size=8, steps=6)
    cell = cells.Cell(cells.SHOWN[0], cells.Simplified.of(tiny), cells.SHOWN[1])
    entry = cells.measure(cell, COUNTS)
    (back,) = record.read(file_with(cell, entry))
    assert back.settings == json.loads(json.dumps(asdict(cell.settings)))
    assert {name: getattr(tiny, name) for name in back.settings} == asdict(cell.settings)
    assert back.probed.tolist() == [0, 5, 6]
    assert len(back.loss) == 6
    assert len(back.curves) == 9
    assert back.maps["kq2"].shape == (65, 65)
    assert (back.curves.matched <= 1).all()
    with pytest.raises(ValueError, match="readings a step"):
        record.read(file_with(cell, entry | {"readings": entry["readings"][:-1]}))


def test_every_stored_run_is_declared(stored):
    declared = {(cell.name, cell.seed): cell for cell in cells.CELLS}
    for key, run in stored.items():
        assert run.settings == json.loads(json.dumps(asdict(declared[key].settings)))
        assert len(run.loss) == run.settings["steps"]
    assert set(stored) == set(declared)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("key", [("random 128", 0), ("fixed 128", 0), ("generic", 0)])
def test_a_stored_run_begins_as_it_is_stored(stored, key):
    """Its first steps, and what is read at the first probes."""
    cell = next(cell for cell in cells.CELLS if (cell.name, cell.seed) == key)
    n_steps = 6 if key[0] == "generic" else 11
    if isinstance(cell.settings, generic.Generic):
        found = generic.train(replace(cell.settings, steps=n_steps), COUNTS, cell.seed)
    else:
        cell = replace(cell, settings=replace(cell.settings, steps=n_steps))
        (found,) = record.read(file_with(cell, cells.measure(cell, COUNTS)))
        for name in attention.Focus._fields:
            kept = getattr(stored[key].curves, name)[:3]
            assert getattr(found.curves, name)[:3] == pytest.approx(kept, abs=2e-3)
        assert found.curves.ov2[:3] == pytest.approx(stored[key].curves.ov2[:3], abs=0.02)
    assert found.loss == pytest.approx(stored[key].loss[:n_steps], rel=1e-3)
    assert np.abs(found.accuracy - stored[key].accuracy[:n_steps]).max() < 0.01


def made(ov2, kq2, kq1, *, early=None, matched=None, drawn=True):
    """A run whose recalls are given at steps 0, 10, ..."""
    recalls = [np.array(curve, dtype=float) for curve in (ov2, kq2, kq1, early or kq1)]
    looks = [np.zeros(len(ov2))] * 4
    curves = record.Curves(*recalls, *looks, np.array(matched or kq2, dtype=float))
    settings = {"random_triggers": drawn, "n_triggers": 5, "length": 128}
    steps = 10 * np.arange(len(ov2))
    return record.BirthRun("made", 0, settings, np.zeros(1), np.zeros(1), {}, steps, curves, {})


def test_arrivals_stay():
    run = made([0, 0.6, 0.2, 1, 1], [0, 0, 0, 0.1, 0.8], [0, 0, 0, 0, 0])
    found = record.arrivals(run)
    assert found.begun == (10, 30, np.inf)
    assert found.half == (30, 40, np.inf)
    assert found.levels[0] == (10, 40, np.inf)  # a tenth beyond chance is more than .1
    assert found.levels[8] == (30, np.inf, np.inf)


def test_order_of_what_is_decided():
    right = made([0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1])
    wrong = made([0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1])
    open_ = made([0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0])
    assert record.compare([right]) == (1, 1, 1, 1, 1)
    assert record.compare([wrong]) == (0, 0, 0, 1, 0)
    found = record.compare([open_])
    assert found.output_first == 1
    assert np.isnan([found.begun, found.half, found.levels, found.match_first]).all()
    assert record.compare([right, wrong, open_]).levels == 0.5
    assert record.follows((5.0, 5.0, 9.0)) is False
    assert record.follows((5.0, np.inf, 9.0)) is False
    assert record.follows((5.0, 9.0, np.inf)) is True


def test_order_by_use_reads_other_curves():
    run = made([0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1], early=[0, 0, 0, 1], matched=[0, 0, 1, 1])
    assert record.compare([run]).levels == 0
    assert record.compare([run], by_use=True).levels == 1
    few = made([0, 1, 1], [0.2, 0.2, 1], [0, 0, 1], drawn=False)
    assert record.shares(few)["kq2"] == pytest.approx([0, 0, 1])  # a fifth is chance among five
