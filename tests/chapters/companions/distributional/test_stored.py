"""What is read of a model, and the stored runs: declared, written, read, one begun again."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from chapters.companions.distributional import Recipe, model, probes, stored, task, training
from oracles.birth_counts import COUNTS
from stored_runs import file_with, stored_text

CPU = torch.device("cpu")
TINY = replace(
    Recipe(), length=24, dim=16, width=32, batch_size=8, steps=4, every=4, n_tested=8,
    precision="float32",
)  # fmt: skip


@pytest.fixture
def own():
    """A small model as it was drawn."""
    return model.draw(65, 24, 16, 32, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def probe():
    """Sequences to probe it with."""
    return training.probe(TINY, COUNTS, 0, CPU)


@pytest.fixture(scope="module")
def kept():
    """The stored runs by name and seed."""
    return {(run.name, run.seed): run for run in stored.read(stored_text("distributional"))}


def test_a_reading_is_that_of_models_made_one_by_one(own, probe):
    found = probes.followed(own, probe)
    table = probes.table(own, probe, TINY.shares)
    assert found[:3] == pytest.approx([float(value) for value in probe.answers(own)])
    for place, (layer, matrix, share) in enumerate(probes.FOLLOWED, start=1):
        cut = model.truncated(own, layer, matrix, share)
        wanted = [
            task.shares(model.logits(cut, one.batch.tokens, one.at, one.real), one.targets)
            for one in (probe.noisy, probe.clean)
        ]
        reading = [float(wanted[0][0]), *map(float, wanted[1])]
        assert found[3 * place : 3 * place + 3] == pytest.approx(reading, abs=1e-6)
        assert table[f"{layer}.{matrix}.{share:g}"] == pytest.approx(reading, abs=1e-6)
    assert len(found) == 3 * (1 + len(probes.FOLLOWED)) + 2
    assert len(table) == 2 * (4 * (len(TINY.shares) + 1) + len(TINY.shares))
    narrow = model.truncated(own, "first", "w_in", 0.2)
    both = model.truncated(narrow, "first", "w_out", 0.2)
    assert table["first.both.0.2"] == pytest.approx([float(value) for value in probe.answers(both)])


def test_a_push_is_what_removal_takes_from_the_logits(own, probe):
    found, clean = probes.pushes(own, probe, (0.0, 0.2)), probe.clean
    none = model.truncated(own, "last", "w_out", 0.0)
    for name, cut in (("full", own), ("w_in.0.2", model.truncated(own, "last", "w_in", 0.2))):
        lifted = model.logits(cut, clean.batch.tokens, clean.at, clean.real)
        lifted -= model.logits(none, clean.batch.tokens, clean.at, clean.real)
        wanted = (lifted[:, task.NOISE] - lifted.mean(dim=1)).mean().item()
        assert found[name] == pytest.approx(wanted, abs=1e-5)
    assert found["w_in.0"] == found["w_out.0"] == 0


def test_less_one_is_the_model_without_that_value(own, probe):
    w = own.last.w_out
    left, values, right = torch.linalg.svd(w, full_matrices=False)
    less = w - values[0] * torch.outer(left[:, 0], right[0])
    cut = own._replace(last=own.last._replace(w_out=less))
    found = probes.table(own, probe, ())["last.w_out.less one"]
    assert found == pytest.approx([float(value) for value in probe.answers(cut)], abs=1e-5)


def test_spectrum_of_a_planted_association():
    u = torch.randn(9, generator=torch.Generator().manual_seed(0))
    w = torch.randn(9, 12, generator=torch.Generator().manual_seed(1)) / 10
    found = probes.spectrum(w + 5 * torch.outer(u, torch.ones(12)), -3 * u)
    assert found.values[0] > 100 * found.values[1]
    assert found.cosines[0] > 0.999
    assert found.cosines.square().sum().item() == pytest.approx(1, abs=1e-5)


def test_the_edge_is_where_the_drawn_values_end():
    drawn = model.draw(65, 8, 200, 800, generator=torch.Generator().manual_seed(0))
    for w in (drawn.last.w_in, drawn.last.w_out, drawn.last.k):
        greatest = torch.linalg.matrix_norm(w, ord=2).item()
        assert greatest == pytest.approx(probes.edge(*w.shape), rel=0.03)


def test_a_run_goes_through_the_file_unchanged():
    cell = stored.Cell("made", TINY, 1)
    entry = stored.measure(cell, COUNTS)
    (back,) = stored.read(file_with(cell, entry))
    assert back.settings == json.loads(json.dumps(asdict(TINY)))
    assert back.probed.tolist() == [0, 1, 2, 3, 4]
    assert len(back.loss) == 4
    full = [back.curve(None, name)[-1] for name in probes.Answers._fields]
    assert full == [row[-1] for row in entry["readings"][:3]]
    for change in probes.FOLLOWED:
        last = [back.curve(change, name)[-1] for name in probes.Answers._fields]
        layer, matrix, share = change
        assert last == pytest.approx(back.table[f"{layer}.{matrix}.{share:g}"], abs=2e-4)
    assert back.looks[1][-1] == entry["readings"][-1][-1]
    with pytest.raises(ValueError, match="readings a step"):
        stored.read(file_with(cell, entry | {"readings": entry["readings"][:-1]}))


def test_unsettled_by_hand():
    loss = np.array([9.0, 9, 9, 9, 9, 9, 3, 5, 1, 2])
    run = stored.DistributionalRun(
        "made", 0, {}, loss, np.zeros(0, dtype=int), np.zeros((2, 0)), {}, {}, {}
    )
    assert run.unsettled == pytest.approx(2.5)


def test_every_stored_run_is_declared(kept):
    declared = {(cell.name, cell.seed): cell for cell in stored.CELLS}
    for key, run in kept.items():
        assert run.settings == json.loads(json.dumps(asdict(declared[key].recipe)))
        assert len(run.loss) == run.settings["steps"]
    assert set(kept) == set(declared)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("key", [("source", 0), ("small", 0)])
def test_a_stored_run_begins_as_it_is_stored(kept, key):
    """Its first steps, and the first reading."""
    cell = next(cell for cell in stored.CELLS if (cell.name, cell.seed) == key)
    found = training.train(replace(cell.recipe, steps=2), COUNTS, cell.seed, device=CPU)
    assert found.loss == pytest.approx(kept[key].loss[:2], rel=5e-3)
    assert found.readings[0] == pytest.approx(kept[key].readings[:, 0], abs=2e-3)
