"""Two layers taken apart are the same network, and its pulls are gradients."""

from dataclasses import replace

import pytest
import torch

from chapters.companions.k_hop.away import two_layers
from chapters.companions.k_hop.phases import Cell
from chapters.companions.retrieval import heads, model, training

CPU = torch.device("cpu")
CELL = Cell(2, ((1, 2, 3),), 10, n_seeds=2, n_hops=3, dim=16, spare=2)


@pytest.fixture
def drawn():
    """Two networks and contexts that ask for three hops."""
    settings = CELL.training()
    streams = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    parameters = model.initial(settings.architecture, streams)
    return parameters, training.contexts(settings, [0, 1], 6, device=CPU)[2]


def test_it_is_the_network_of_the_retrieval_problem(drawn):
    parameters, batch = drawn
    torch.testing.assert_close(
        two_layers.logits(parameters, batch, 2), model.forward(parameters, batch, 2).logits
    )


def test_an_idle_head_attends_evenly_in_every_row(drawn):
    parameters, batch = drawn
    first = parameters.layers[0]
    blind = first.attend.detach().clone()
    blind[:, :, 8:16] = 0  # queries of the last head
    without = parameters._replace(layers=(first._replace(attend=blind), parameters.layers[1]))
    idle = two_layers.logits(parameters, batch, 2, idle=True)
    torch.testing.assert_close(idle, two_layers.logits(without, batch, 2))
    assert not torch.allclose(idle, two_layers.logits(parameters, batch, 2))


def test_attention_away_is_that_of_the_sorted_maps(drawn):
    parameters, batch = drawn
    maps = heads.sorted_maps(model.forward(parameters, batch, 2).attention, batch)
    expected = heads.masses(maps[:, 0, :, :-1].detach().numpy(), (-1,))[..., 0]
    found = two_layers.attention_away(parameters, batch, 2)
    torch.testing.assert_close(found.detach(), torch.tensor(expected))


def test_pulls_are_a_difference_of_losses(drawn):
    parameters, batch = drawn
    parameters = model.Parameters(
        parameters.keys.double(),
        parameters.values.double(),
        tuple(model.Layer(*(part.double() for part in layer)) for layer in parameters.layers),
        parameters.readout.double(),
    )
    found = two_layers.pulls_away(parameters, batch, 2).sum(dim=-1)
    stream, scores = two_layers.first_scores(parameters, batch, 2)
    for head in range(2):
        losses = []
        for step in (-1e-5, 1e-5):
            moved = scores.detach().clone()
            for run, context, chain in torch.cartesian_prod(*map(torch.arange, (2, 6, 3))):
                fact, behind = batch.places[run, context, chain, 1:3]
                moved[run, context, head, fact, behind] += step
            given = two_layers._answered(parameters, batch, 2, stream, moved)
            right = given.log_softmax(-1).gather(-1, batch.target[..., None])
            losses.append(-right.sum(dim=(1, 2, 3)))
        slope = (losses[0] - losses[1]) / 2e-5 / (6 * 3)
        torch.testing.assert_close(found[:, head], slope, rtol=1e-5, atol=1e-9)


def test_what_a_head_carries_is_its_map_of_the_tables(drawn):
    parameters, _ = drawn
    layer = parameters.layers[0]
    product = layer.attend[1, :, 32 + 8 : 48] @ layer.merge[1, 8:]
    for place, table in enumerate((parameters.keys[1], parameters.values[1])):
        passed = (table - table.mean(dim=0)) @ product
        expected = passed.square().mean().sqrt()
        torch.testing.assert_close(two_layers.carried(parameters, 2)[1, 1, place], expected)


def test_it_is_for_two_layers(drawn):
    settings = replace(CELL, n_layers=3).training()
    streams = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    deep = model.initial(settings.architecture, streams)
    with pytest.raises(ValueError, match="unpack"):
        two_layers.logits(deep, drawn[1], 2)
