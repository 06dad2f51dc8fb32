"""Contexts, the network, attention along chains, spans and training, by loops and by hand."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.retrieval import model, training
from chapters.companions.retrieval.model import Architecture, Cut, forward, initial


def contexts(n_hops=4, n_chains=3, size=300, vocabulary=32, hops=None, seed=0):
    stream = torch.Generator().manual_seed(seed)
    if hops is None:
        hops = torch.randint(1, n_hops + 1, (size, n_chains), generator=stream)
    return model.draw_contexts(hops, n_hops, vocabulary, stream)


def test_following_the_facts_gives_the_target_after_so_many_hops():
    batch = contexts()
    for row in range(len(batch.query)):
        facts = dict(zip(batch.keys[row].tolist(), batch.values[row].tolist(), strict=True))
        assert len(facts) == 12
        assert len(facts.keys() | set(facts.values())) == 15
        for chain in range(3):
            symbol, count = int(batch.query[row, chain]), 0
            while symbol in facts:
                symbol, count = facts[symbol], count + 1
            assert symbol == int(batch.target[row, chain])
            assert count == int(batch.hops[row, chain])
        assert len(set(batch.target[row].tolist())) == 3


def test_places_list_each_chain_from_its_end():
    batch = contexts()
    values, keys = (
        of.gather(1, batch.places.flatten(1)).view(-1, 3, 4) for of in (batch.values, batch.keys)
    )
    assert torch.equal(values[..., 0], batch.target)
    assert torch.equal(values[..., 1:], keys[..., :-1])
    queries = keys.gather(2, batch.hops[..., None] - 1).squeeze(2)
    assert torch.equal(queries, batch.query)


def test_order_and_symbols_are_uniform():
    batch = contexts(size=6000)
    for counted in (torch.bincount(batch.places[:, 0, 0]), torch.bincount(batch.target[:, 2])):
        mean = 6000 / len(counted)
        assert len(counted) in (12, 32)
        assert float(((counted - mean) ** 2 / mean).sum()) < 3 * len(counted)


def test_hops_are_drawn_from_the_allowed_ones_alike():
    drawn = model.draw((2, 5), 1000, 4, generator=torch.Generator().manual_seed(0))
    assert drawn.shape == (1000, 4)
    assert set(drawn.flatten().tolist()) == {2, 5}
    assert abs(float((drawn == 5).double().mean()) - 0.5) < 0.04


SMALL = Architecture(n_layers=3, n_heads=2, dim=8, hidden=16, vocabulary=12)


def batch_of(seeds, size=3):
    batches = []
    for seed in seeds:
        stream = torch.Generator().manual_seed(seed)
        hops = torch.randint(1, 4, (size, 2), generator=stream)
        batches.append(model.draw_contexts(hops, 3, 12, stream))
    return model.stacked(batches)


def double(parameters):
    def free(tensor):
        return tensor.detach().double().requires_grad_()

    layers = tuple(type(layer)(*map(free, layer)) for layer in parameters.layers)
    return type(parameters)(*map(free, parameters[:2]), layers, free(parameters.readout))


def plain(parameters, run, keys, values, query, n_heads, cut=None):
    """One context of one run with one question, all rows of all layers, head by head."""

    def norm(x):
        centred = x - x.mean(-1, keepdim=True)
        return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5)

    key, value = parameters.keys[run], parameters.values[run]
    tokens = [key[k] + value[v] for k, v in zip(keys.tolist(), values.tolist(), strict=True)]
    x = torch.stack([*tokens, value[query]])
    maps = []
    for number, layer in enumerate(parameters.layers, start=1):
        q, k, v = (norm(x) @ part for part in layer.attend[run].chunk(3, dim=1))
        width = x.shape[1] // n_heads
        heard = []
        for head in range(n_heads):
            part = slice(head * width, (head + 1) * width)
            weights = (q[:, part] @ k[:-1, part].T / math.sqrt(width)).softmax(-1)
            if cut and cut.layer == number:
                rows = [len(weights) - 1] if cut.rows == "queries" else range(len(weights) - 1)
                weights[list(rows)] = 1 / weights.shape[1]
            maps.append(weights)
            heard.append(weights @ v[:-1, part])
        x = x + torch.cat(heard, dim=1) @ layer.merge[run]
        hidden = (norm(x) @ layer.up[run] + layer.up_bias[run]).clamp(min=0)
        x = x + hidden @ layer.down[run] + layer.down_bias[run]
    return norm(x)[-1] @ parameters.readout[run], maps


@pytest.mark.parametrize("n_layers", [1, 3])
def test_values_and_gradients_as_by_the_plain_network(n_layers, close):
    architecture = Architecture(n_layers, 2, 8, 16, 12)
    streams = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    parameters = double(initial(architecture, streams))
    for layer in parameters.layers:  # biases that matter
        layer.up_bias.data.normal_(generator=streams[0])
        layer.down_bias.data.normal_(generator=streams[0])
    batch = batch_of((4, 5))
    result = forward(parameters, batch, 2)
    expected = torch.empty(2, 3, 2, 12, dtype=torch.float64)
    for run, i, chain in np.ndindex(2, 3, 2):
        context = batch.keys[run, i], batch.values[run, i], batch.query[run, i, chain]
        logits, maps = plain(parameters, run, *context, 2)
        expected[run, i, chain] = logits
        for number, weights in enumerate(result.attention):
            theirs = torch.stack(maps[2 * number : 2 * number + 2])
            close(weights[run, i, :, chain - 2], theirs[:, -1])
            if number < n_layers - 1:
                close(weights[run, i, :, :-2], theirs[:, :-1])
    close(result.logits, expected)
    probe = torch.randn(2, 3, 2, 12, dtype=torch.float64, generator=streams[0])
    ours = torch.autograd.grad((result.logits * probe).sum(), parameters.tensors())
    theirs = torch.autograd.grad((expected * probe).sum(), parameters.tensors())
    for mine, other in zip(ours, theirs, strict=True):
        close(mine, other, 1e-10)


@pytest.mark.parametrize(
    "cut", [Cut(1, "facts"), Cut(2, "facts"), Cut(2, "queries"), Cut(3, "queries")]
)
@torch.no_grad()
def test_a_look_is_taken_away_as_from_the_plain_network(cut, close):
    parameters, batch = double(initial(SMALL, [torch.Generator().manual_seed(0)])), batch_of((4,))
    result, whole = (forward(parameters, batch, 2, each).logits for each in (cut, None))
    assert float((result - whole).abs().max()) > 1e-3
    for i, chain in np.ndindex(3, 2):
        context = batch.keys[0, i], batch.values[0, i], batch.query[0, i, chain]
        close(result[0, i, chain], plain(parameters, 0, *context, 2, cut)[0])


def whole_chains(hops):
    stream = torch.Generator().manual_seed(0)
    queries = torch.full((4, 2), hops)
    drawn = (model.draw_contexts(queries, 3, 12, stream) for _ in range(2))
    return model.stacked([*drawn])


def test_sorted_maps_look_up_the_tokens_of_each_chain():
    stream, batch = torch.Generator().manual_seed(1), whole_chains(3)
    whole = torch.rand(2, 4, 2, 8, 6, generator=stream)
    rows = torch.rand(2, 4, 2, 2, 6, generator=stream)
    maps = model.sorted_maps((whole, rows), batch)
    assert maps.shape == (2, 2, 2, 4, 3)

    def place(run, i, chain, token):
        """Where the fact stands that is `token` steps from the one that names the end."""
        if token == 3:
            return 6 + chain
        symbol = int(batch.target[run, i, chain])
        for _ in range(token):
            at = batch.values[run, i].tolist().index(symbol)
            symbol = int(batch.keys[run, i, at])
        return batch.values[run, i].tolist().index(symbol)

    each = list(np.ndindex(4, 2))
    for run, head, row, other in np.ndindex(2, 2, 4, 3):
        entries = [
            whole[run, i, head, place(run, i, c, row), place(run, i, c, other)] for i, c in each
        ]
        assert maps[run, 0, head, row, other] == pytest.approx(float(sum(entries)) / 8)
        if row == 3:
            entries = [rows[run, i, head, c, place(run, i, c, other)] for i, c in each]
            assert maps[run, 1, head, row, other] == pytest.approx(float(sum(entries)) / 8)
        else:
            assert torch.isnan(maps[run, 1, head, row, other])


def test_maps_need_queries_for_the_whole_chain():
    with pytest.raises(ValueError, match="ask for the whole chain"):
        model.sorted_maps((torch.rand(2, 4, 2, 8, 6),), whole_chains(2))


def test_masses_are_means_of_diagonals():
    matrix = np.arange(12.0).reshape(4, 3)
    assert model.masses(matrix, (1, 2, 3)).tolist() == [(3 + 7 + 11) / 3, (6 + 10) / 2, 9.0]
    assert model.masses(matrix, (-1, -2)).tolist() == [(1 + 5) / 2, 2.0]
    matrix[:3] = np.nan
    assert model.masses(matrix, (1, 2, 3)).tolist() == [11.0, 10.0, 9.0]


def test_the_strongest_head_of_each_layer():
    """Head 1 of layer 1 attends to offset 1, head 0 of layer 2 to offset 2; others are diffuse."""
    maps = np.full((1, 2, 2, 4, 3), 0.25)
    maps[0, 0, 1] = np.eye(4, 3, k=-1) * 0.8
    maps[0, 1, 0, -1] = np.eye(4, 3, k=-2)[-1] * 0.7
    maps[0, 1, 0, :-1] = np.nan
    head, offset = model.strongest(maps)
    assert head.tolist() == [[1, 0]]
    assert offset.tolist() == [[1, 2]]


def test_a_look_is_needed_since_its_absence_costs_enough():
    """Two runs, four records, the three looks of two layers, one number of hops."""
    accuracy = np.array([[[0.3], [0.6], [0.9], [1.0]], [[0.3], [0.3], [0.3], [0.3]]])
    cut = np.stack([accuracy] * 3, axis=2)
    cut[0, 2:, 1] -= 0.5
    cut[0, 3:, 2] -= 0.4
    cut[0, 1:, 0] -= 0.2
    since = model.needed_since(np.array([0, 10, 20, 30]), accuracy, cut, 1 / 3)
    assert since[0, :, 0].tolist() == [np.inf, 20, 30]
    assert np.isinf(since[1]).all()
    assert model.by_layer(since, 2).tolist() == [[20, 30], [np.inf, np.inf]]


def knows_end(n_hops, n_layers, merging, n_chains=3, seed=0):
    """By brute force on a shuffled prompt: sets of edges, and the symbols that they touch."""
    facts = [((c, j), (c, j - 1)) for c in range(n_chains) for j in range(1, n_hops + 1)]
    random.Random(seed).shuffle(facts)
    states = [{fact} for fact in facts]
    asked = (0, n_hops)
    query = set()

    def far_end(edges):
        return min((symbol for edge in edges for symbol in edge), default=asked)

    def touched(edges, own):
        return {symbol for edge in edges for symbol in edge} | own

    def merged(edges, own):
        if merging == "forward":
            end = far_end(edges) if edges else asked
            met = [s for s in states if max(v for e in s for v in e) == end]
        else:
            met = [s for s in states if touched(s, set()) & touched(edges, own)]
        return set(edges).union(*met)

    for _ in range(n_layers):
        states, query = [merged(s, set()) for s in states], merged(query, {asked})
    return far_end(query) == (0, 0)


@pytest.mark.parametrize("merging", ["both", "forward"])
@pytest.mark.parametrize("n_hops", range(1, 11))
def test_layers_needed_as_by_sets_of_facts(n_hops, merging):
    needed = model.layers_needed(n_hops, merging)
    assert knows_end(n_hops, needed, merging)
    assert not knows_end(n_hops, needed - 1, merging)


CPU = torch.device("cpu")
TINY = training.RetrievalTraining(
    stages=((1, 2),),
    steps=6,
    architecture=Architecture(2, 2, 16, 16, 12),
    n_hops=2,
    n_chains=2,
    batch_size=16,
    warm_up=3,
    record_every=4,
    test_size=32,
)


def test_tests_are_not_training_data():
    seen = TINY.draw((1,), 32, [torch.Generator().manual_seed(0)])
    tests = training.contexts(TINY, (0,), 32, device=CPU)
    assert not torch.equal(tests[0].keys, seen.keys)


def test_training_ends_once_every_run_has_learned():
    easy = replace(TINY, until=0.0, record_every=2)
    assert training.train(easy, (0, 1), device=CPU).moments.tolist() == [0, 2]
    late = replace(easy, stages=((1,), (1, 2)), stage_steps=3)
    assert training.train(late, (0, 1), device=CPU).moments.tolist() == [0, 2, 4]
    never = training.train(replace(easy, until=1.1), (0,), device=CPU)
    assert never.moments.tolist() == [0, 2, 4, 6]
