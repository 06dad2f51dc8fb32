"""The experiment on supervision: its transformers, its queries, its trainings."""

import math
from dataclasses import replace
from typing import get_args

import pytest
import torch
from torch.nn.functional import cross_entropy

from chapters.practice import stored, training
from chapters.practice.training import Batch, Cell, Shape, Transformer, drawn
from emergence.models import AttentionOnlyTransformer
from emergence.tasks import token_pairs
from emergence.training import TokenTraining, initial_transformer
from interruption import assert_resumes

KINDS = get_args(training.Kind)
SHAPES = (Shape(), stored.STRICT, Shape(3, blocks=True), Shape(3, True, "rotary"))
CELLS = [Cell(kind, 4, place, contexts=2) for kind in KINDS for place in ("tied", "free")]
CELLS += [Cell("every", 4, contexts=2, shape=shape) for shape in SHAPES[1:]]


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def plain(tokens, places, labels):
    """Sequences in which all rows have a loss, under the causal mask."""
    rows = torch.arange(tokens.shape[1])
    allowed = (rows <= rows[:, None]).expand(len(tokens), -1, -1)
    weights = torch.ones(len(rows)) / len(rows)
    return Batch(tokens, places, allowed, rows.expand_as(tokens), labels, weights)


def alone(model, batch, row, at, label):
    """The loss of a row at the end of what it sees, by the library where it has the model."""
    seen = [*batch.allowed[row, at, :at].nonzero().flatten().tolist(), at]
    tokens, places = batch.tokens[row, seen][None], batch.places[row, seen][None]
    if model.shape.layers == 2:
        logits = AttentionOnlyTransformer.forward(model, tokens, places, mask=model.shape.mask)
        return cross_entropy(logits[0, -1], label)
    return model.losses(plain(tokens, places, label.expand_as(tokens)))[0, -1]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.kind}-{cell.place}-{cell.shape}")
def test_the_loss_is_that_of_each_query_asked_alone_for_what_followed_its_item(cell):
    model, batch = Transformer(cell, generator=stream(1)).double(), drawn(cell, stream())
    losses = model.losses(batch)
    for row, queries in enumerate(batch.asked.tolist()):
        for query, at in enumerate(queries):
            label = batch.labels[row, query]
            torch.testing.assert_close(losses[row, query], alone(model, batch, row, at, label))
            seen = batch.allowed[row, at, :at]
            (item,) = torch.nonzero(seen & (batch.tokens[row, :at] == batch.tokens[row, at]))
            assert label == batch.tokens[row, item + 1]
            assert seen[item + 1]
            assert item < seen.sum() - (3 if cell.kind == "not last" else 1)
            place = batch.places[row, at] - batch.places[row, 0]
            assert place == (8 if cell.kind == "end" else seen.sum())
            assert at >= (8 if cell.kind == "repeats last" else 0)
    assert batch.asked.shape[1] == (1 if cell.kind in ("one", "random") else 4)
    one_over_n = torch.tensor([12, 6, 4, 3]) / 25
    torch.testing.assert_close(
        batch.weights,
        one_over_n if cell.kind == "inverse" else torch.ones_like(batch.weights).softmax(0),
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("repeats")])
def test_lengths_are_drawn_as_their_names_say(kind):
    whole, flat = [0.0] * 5 + [1.0], [1 / 6] * 6
    expected = dict.fromkeys(("one", "full", "full redrawn"), whole) | {
        "short": [1 / k / 2.45 for k in range(1, 7)],
        "upper": [0, 0, 0, 1 / 3, 1 / 3, 1 / 3],
        "not last": [0, 1 / 3, *flat[2:]],
    }
    sizes = training.asked(Cell(kind, 6), 4000, stream()).sizes
    lengths = torch.bincount(sizes.flatten(), minlength=7)[1:] / sizes.numel()
    assert lengths.tolist() == pytest.approx(expected.get(kind, flat), abs=0.02)
    assert kind != "prefix" or (sizes == sizes[:, :1]).all()


@pytest.mark.parametrize(("place", "offsets"), [("tied", 1), ("by 1", 2), ("by 2", 3), ("free", 9)])
def test_sequences_stand_where_the_name_says_and_fill_the_block(place, offsets):
    for kind in ("every", "repeats mixed"):
        cell = Cell(kind, 4, place, contexts=400)
        places = drawn(cell, stream()).places
        assert {*places[:, 0].tolist()} == {*range(offsets)} - ({1} if place == "by 2" else set())
        block = Transformer(cell, generator=stream()).W_pos.shape[1]
        assert int(places.max()) == block - 1


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_row_sees_what_comes_later_and_rotary_positions_nothing_of_the_place(shape):
    model = Transformer(Cell("every", 4, shape=shape), generator=stream(1)).double()
    at = torch.arange(9).expand(2, -1)
    tokens = token_pairs(2, 4, 16, 9, generator=stream()).tokens
    changed = torch.cat([tokens[:, :5], (tokens[:, 5:] + 1) % 16], dim=1)
    before, after, moved = (
        model.losses(plain(these, places, tokens))
        for these, places in ((tokens, at), (changed, at), (tokens, at + 3))
    )
    assert torch.allclose(before[:, :5], after[:, :5], atol=1e-12)
    assert not torch.allclose(before[:, 5:], after[:, 5:])
    assert torch.allclose(before, moved, atol=1e-5) == (shape.positions == "rotary")


def test_two_layers_start_as_in_the_library():
    settings = TokenTraining(64, 16, 9, 4, embedding_scale=0.5)
    theirs = initial_transformer(settings, stream(3)).state_dict()
    ours = Transformer(Cell("every", 4, "tied"), generator=stream(3)).state_dict()
    assert theirs.keys() == ours.keys()
    assert all(torch.equal(theirs[name], ours[name]) for name in ours)


def test_the_previous_place_can_be_given():
    model = Transformer(Cell("every", 8, "tied", given=True), generator=stream())
    batch = token_pairs(20, 8, 32, 17, generator=stream())
    x = model.residual_stream(batch.tokens, batch.positions)[0]
    scores = (x @ model.W_Q[0].T) @ (x @ model.W_K[0].T).mT * model.score_scale
    later = torch.ones(17, 17, dtype=torch.bool).triu(1)
    pattern = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    assert pattern.diagonal(-1, dim1=-2, dim2=-1).mean() > 0.6


@pytest.mark.parametrize("optimiser", get_args(training.Method))
def test_a_training_that_is_killed_goes_on_to_the_same_bits(optimiser):
    cell = Cell("every", 4, optimiser=optimiser, limit=12, contexts=4)
    assert_resumes(lambda: training.train_supervised(cell, 0), 5)


def test_practice_warms_up():
    cell = Cell("every", 4, limit=1, contexts=4, learning_rate=0.01)
    looks = {method: train(cell, optimiser=method) for method in ("practice", "adamw")}
    moved = {method: abs(last[1] - first[1]) for method, (first, last) in looks.items()}
    assert 0 < moved["practice"] < 0.1 * moved["adamw"]


def train(cell, **more):
    return training.train_supervised(replace(cell, **more), 0)


def test_a_training_ends_once_both_tests_are_passed_or_when_it_diverges():
    (row,) = training.run(Cell("every", 2, learning_rate=1e-2, limit=400, seeds=(3,)))
    assert row["full"][0] < row["full"][1] < row["updates"] <= 1.5 * row["full"][1] + 2
    assert row["prefixes"][1] < row["updates"] + 1
    cell = Cell("every", 4, optimiser="sgd", learning_rate=1e6, limit=40, seeds=(0,))
    slow = replace(cell, learning_rate=1e-6, limit=3)
    (diverged,), (censored,) = map(training.run, (cell, slow))
    assert diverged["losses"] is None
    assert (censored["losses"][0] > 0.5, censored["updates"]) == (True, 3)
    assert diverged["full"] == censored["full"] == [None, None]


def test_levels_are_passed_on_lines_between_looks():
    cell = Cell("every", 4)
    whole, prefixes = cell.levels
    assert cell.levels == pytest.approx([math.log(4), math.log(24) / 4])
    row = training.passed(cell, [(0.0, 2 * whole, prefixes), (10.0, 0.0, prefixes)])
    assert row["full"] == pytest.approx([5.5, 7.5])
    assert (row["prefixes"], row["losses"]) == ([None, None], [0, 1])


@pytest.mark.parametrize("n", stored.SIZES)
def test_one_query_reads_as_many_tokens_where_they_are_equal(n):
    """A sequence for each query, or one for N of them."""
    assert abs(stored.at_equal_tokens(n) * (2 * n + 1) - 32 * 3 * n) <= n + 1
