"""Trials of a full vocabulary: what each changes and what is read."""

from dataclasses import replace

import pytest
import torch

from chapters.companions.k_hop import phases, vocabulary
from chapters.companions.k_hop.phases import Cell
from chapters.companions.k_hop.vocabulary import Trial
from chapters.companions.retrieval import model, training

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
