"""Trials of a full vocabulary: what each changes and what is read."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.k_hop import phases, vocabulary
from chapters.companions.k_hop.phases import Cell
from chapters.companions.k_hop.vocabulary import Trial
from chapters.companions.retrieval import model, training
from stored_runs import file_with

CPU = torch.device("cpu")
SHORT = Cell(2, ((2,),), 30, n_seeds=2, n_hops=2, record_every=10, test_size=8, dim=16, spare=1)


@pytest.fixture
def drawn():
    """A network of two layers and contexts with one symbol to spare."""
    settings = SHORT.training()
    parameters = model.initial(settings.architecture, [torch.Generator().manual_seed(0)])
    return parameters, training.contexts(settings, [0], 16, device=CPU)[1]


def test_an_unchanged_trial_is_a_cell():
    cell = replace(SHORT, spare=0)
    assert (vocabulary.measure(Trial(cell)).right == phases.measure(cell).right[..., 1]).all()


def test_symbols_of_the_softmax(drawn):
    parameters, batch = drawn
    masks = {among: vocabulary.allowed(batch, among, 10)[0, :, 0] for among in
             ("all", "context", "ends")}  # fmt: skip
    assert masks["all"].all()
    for context in range(16):
        keys, values = (set(part[0, context].tolist()) for part in (batch.keys, batch.values))
        assert set(masks["context"][context].nonzero().flatten().tolist()) == keys | values
        assert set(masks["ends"][context].nonzero().flatten().tolist()) == values - keys
        assert len(values - keys) == 3
    logits = vocabulary.logits_among(parameters, batch, 2, "ends")
    assert torch.isfinite(logits).sum() == 16 * 3 * 3


def test_contexts_lose_their_spare_symbols_at_the_switch():
    trial = Trial(SHORT, full_from=5)
    stream = [torch.Generator().manual_seed(0)]
    before, after = (trial.contexts(step).draw((2,), 64, stream) for step in (4, 5))
    assert before.values.max() == before.keys.max() == 9
    assert max(after.values.max(), after.keys.max()) == 8
    assert trial.network().vocabulary == 10
    assert Trial(SHORT, unused=3).network().vocabulary == 13


def test_a_lone_fact_holds_the_answer(drawn):
    _, batch = drawn
    lone = vocabulary.lone_facts(batch)
    assert lone.keys.shape == lone.query.shape == (1, 48, 1)
    assert torch.equal(lone.values, lone.target)
    assert torch.equal(lone.target.flatten(), batch.target.flatten())


def test_values_are_replaced_by_their_mean_in_facts_alone(drawn):
    parameters, batch = drawn
    wider, blank = vocabulary.without_values(parameters, batch)
    mean = parameters.values.mean(dim=1)
    torch.testing.assert_close(wider.values[:, -1], mean)
    assert (blank.values == 10).all()
    assert torch.equal(blank.query, batch.query)
    others = batch._replace(values=batch.values.flip(-1))
    same = (
        model.forward(*vocabulary.without_values(parameters, b), 2).logits for b in (batch, others)
    )
    assert torch.equal(*same)


def test_a_copying_network_names_the_value_of_a_lone_fact(drawn):
    parameters, batch = drawn
    wide = replace(SHORT, dim=64, n_layers=1).training().architecture
    parameters = model.initial(wide, [torch.Generator().manual_seed(1)])
    before = vocabulary.read(parameters, batch, 2, "all")[1]
    vocabulary.copying(parameters)
    right, lone, ends, without = vocabulary.read(parameters, batch, 2, "all")
    assert 48 * 0.6 < lone > before
    assert 0 <= right <= 48
    assert 0 < without < 1 > ends > 0


def test_a_trial_is_stored_as_it_was_measured():
    trial = Trial(SHORT, among="ends", full_from=10, copying=True)
    found = vocabulary.measure(trial)
    (kept,) = vocabulary.stored(file_with(trial, vocabulary.run(trial))).values()
    assert kept.trial == trial
    assert (kept.right == found.right).all()
    assert np.abs(kept.ends - found.ends).max() < 1e-4
    assert kept.waits.tolist() == found.waits.tolist()
    assert kept.at(20) == 2


def test_trials_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="one number of hops"):
        Trial(replace(SHORT, stages=((1, 2),)))
