"""The experiment on supervision: its transformers, its queries, its trainings."""

import math
from dataclasses import replace
from typing import get_args

import pytest
import torch
from torch.nn.functional import cross_entropy

from chapters.practice import queries, stored
from chapters.practice.model import PLAIN, Shape, Transformer
from chapters.practice.queries import Cell, batch_loss, drawn, sequences
from chapters.practice.trained import passed, run, train_supervised
from emergence.models import AttentionOnlyTransformer, allowed_positions, attention
from emergence.tasks import token_pairs
from emergence.training import TokenTraining, initial_transformer
from interruption import assert_resumes

DEEP = Shape(3, blocks=True)
ROTARY = Shape(3, blocks=True, positions="rotary")
SHAPES = (PLAIN, stored.STRICT, DEEP, ROTARY)
OF_QUERIES = [kind for kind in get_args(queries.Kind) if not kind.startswith("repeats")]
CELLS = [Cell(kind, 4, place, contexts=2) for kind in OF_QUERIES for place in ("tied", "free")]
CELLS += [Cell("every", 4, contexts=2, shape=shape) for shape in SHAPES[1:]]


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def network(cell: Cell) -> Transformer:
    return Transformer(cell.shape, 4 * cell.n_pairs, cell.block_size, generator=stream(1)).double()


def alone(model: Transformer, batch: queries.Asked, row: int, query: int) -> torch.Tensor:
    """The logits of a query asked after its prefix alone, by the library where it has the model."""
    n = 2 * int(batch.sizes[row, query])
    tokens = torch.cat([batch.context[row, :n], batch.items[row, query, None]])[None]
    places = torch.cat([batch.places[row, :n], batch.asked_at[row, query, None]])[None]
    if model.shape.layers == 2:
        mask = model.shape.mask
        return AttentionOnlyTransformer.forward(model, tokens, places, mask=mask)[0, -1]
    return model.sequence_logits(tokens, places)[0, -1]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.kind}-{cell.place}-{cell.shape}")
def test_the_loss_is_that_of_each_query_asked_alone(cell: Cell) -> None:
    model, batch = network(cell), drawn(cell, 2, stream())
    expected = sum(
        float(batch.weights[query]) * cross_entropy(alone(model, batch, row, query), label).item()
        for row, labels in enumerate(batch.labels)
        for query, label in enumerate(labels)
    )
    assert batch_loss(cell, model, stream()).item() == pytest.approx(expected / 2, rel=1e-6)
    pairs = batch.context.view(2, -1, 2)
    where = (pairs[..., 0][:, None] == batch.items[..., None]).int().argmax(dim=-1)
    assert torch.equal(pairs[..., 1].gather(1, where), batch.labels)
    assert (where < batch.sizes - int(cell.kind == "not last")).all()
    last = torch.full_like(batch.sizes, 4) if cell.kind == "end" else batch.sizes
    assert torch.equal(batch.asked_at, batch.places[:, :1] + 2 * last)
    assert batch.items.numel() == cell.queries
    assert batch.context.numel() + batch.items.numel() == cell.tokens


@pytest.mark.parametrize("kind", stored.REPEATS)
def test_a_repeated_item_is_followed_as_it_was_before(kind: queries.Kind) -> None:
    cell = Cell(kind, 4, contexts=50)
    draw = stream()
    tokens, repeats = sequences(cell, draw)
    starts = torch.arange(9)[torch.randint(9, (50, 1), generator=draw)]
    model, losses = network(cell), []
    for sequence, asked, start in zip(tokens, repeats.tolist(), starts, strict=True):
        pairs = [tuple(sequence[at : at + 2].tolist()) for at in range(0, 16, 2)]
        assert len(set(pairs)) == 4
        assert sorted(asked) == [2 * at for at in range(8) if pairs[at] in pairs[:at]]
        logits = model(sequence[None], (start + torch.arange(16))[None])[0]
        losses += [cross_entropy(logits[at], sequence[at + 1]).item() for at in asked]
    assert bool((repeats >= 8).all()) == (kind == "repeats last")
    assert (tokens.numel(), repeats.numel()) == (cell.tokens, cell.queries)
    assert batch_loss(cell, model, stream()).item() == pytest.approx(sum(losses) / len(losses))


def test_lengths_and_places_are_drawn_as_their_names_say() -> None:
    whole, flat = [0.0] * 5 + [1.0], [1 / 6] * 6
    expected = dict.fromkeys(("one", "full", "full redrawn"), whole)
    expected |= dict.fromkeys(
        ("random", "every", "inverse", "prefix", "random redrawn", "end"), flat
    )
    expected |= {"short": [1 / k / 2.45 for k in range(1, 7)]}
    expected |= {"upper": [0, 0, 0, 1 / 3, 1 / 3, 1 / 3], "not last": [0, 1 / 3, *flat[2:]]}
    for kind in OF_QUERIES:
        sizes = queries.asked(Cell(kind, 6), 4000, stream()).sizes
        lengths = torch.bincount(sizes.flatten(), minlength=7)[1:] / sizes.numel()
        assert lengths.tolist() == pytest.approx(expected[kind], abs=0.02)
        if kind == "prefix":
            assert (sizes == sizes[:, :1]).all()
    offsets = {"tied": {0}, "by 1": {0, 1}, "by 2": {0, 2}, "free": {*range(9)}}
    for place in get_args(queries.Place):
        cell = Cell("every", 4, place)
        batch = drawn(cell, 400, stream())
        assert {*batch.places[:, 0].tolist()} == offsets[place]
        assert int(batch.asked_at.max()) == cell.block_size - 1


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_token_sees_what_comes_later_and_rotary_positions_nothing_of_the_place(shape) -> None:
    model, at = network(Cell("every", 4, shape=shape)), torch.arange(9).expand(2, -1)
    tokens = token_pairs(2, 4, 16, 9, generator=stream()).tokens
    changed = torch.cat([tokens[:, :5], (tokens[:, 5:] + 1) % 16], dim=1)
    before, after = (model.sequence_logits(these, at) for these in (tokens, changed))
    assert torch.allclose(before[:, :5], after[:, :5], atol=1e-12)
    assert not torch.allclose(before[:, 5:], after[:, 5:])
    moved = model.sequence_logits(tokens, at + 3)
    assert torch.allclose(before, moved, atol=1e-5) == (shape.positions == "rotary")


def test_two_layers_start_as_in_the_library() -> None:
    settings = TokenTraining(64, 16, 9, 4, embedding_scale=0.5)
    theirs = initial_transformer(settings, stream(3)).state_dict()
    ours = Transformer(PLAIN, 16, 9, generator=stream(3)).state_dict()
    assert theirs.keys() == ours.keys()
    assert all(torch.equal(theirs[name], ours[name]) for name in ours)


def test_the_previous_place_can_be_given() -> None:
    model = Transformer(PLAIN, 32, 17, generator=stream())
    model.give_previous()
    batch = token_pairs(20, 8, 32, 17, generator=stream())
    x = model.residual_stream(batch.tokens, batch.positions)[0]
    scores = (x @ model.W_Q[0].T) @ (x @ model.W_K[0].T).mT * model.score_scale
    pattern = attention(scores, allowed_positions(17, "causal", torch.device("cpu")))
    assert pattern.diagonal(-1, dim1=-2, dim2=-1).mean() > 0.6


@pytest.mark.parametrize("optimiser", get_args(queries.Method))
def test_a_training_that_is_killed_goes_on_to_the_same_bits(optimiser: queries.Method) -> None:
    cell = Cell("every", 4, optimiser=optimiser, limit=12, contexts=4)
    assert_resumes(lambda: train_supervised(cell, 0), 5)


def test_practice_warms_up() -> None:
    cell = Cell("every", 4, limit=1, contexts=4, learning_rate=0.01)
    start = train_supervised(replace(cell, limit=0), 0)[-1][1]
    of_practice, of_adamw = (
        abs(train_supervised(replace(cell, optimiser=optimiser), 0)[-1][1] - start)
        for optimiser in ("practice", "adamw")
    )
    assert 0 < of_practice < 0.1 * of_adamw


def test_a_training_ends_once_both_tests_are_passed_or_when_it_diverges() -> None:
    (row,) = run(Cell("every", 2, learning_rate=1e-2, limit=400, seeds=(3,)))
    assert row["full"][0] < row["full"][1] < row["updates"] <= 1.5 * row["full"][1] + 2
    assert row["prefixes"][1] < row["updates"] + 1
    cell = Cell("every", 4, optimiser="sgd", learning_rate=1e6, limit=40, seeds=(0,))
    (diverged,), (censored,) = run(cell), run(replace(cell, learning_rate=1e-6, limit=3))
    assert diverged["losses"] is None
    assert (censored["losses"][0] > 0.5, censored["updates"]) == (True, 3)
    assert diverged["full"] == censored["full"] == [None, None]


def test_levels_are_passed_on_lines_between_looks() -> None:
    cell = Cell("every", 4)
    whole, prefixes = cell.levels
    assert cell.levels == pytest.approx([math.log(4), sum(map(math.log, range(1, 5))) / 4])
    row = passed(cell, [(0.0, 2 * whole, prefixes), (10.0, 0.0, prefixes)])
    assert row["full"] == pytest.approx([5.5, 7.5])
    assert row["prefixes"] == [None, None]
    assert row["losses"] == [0, 1]


def test_tokens_are_equal_where_they_should_be() -> None:
    for n in (4, 8, 16, 32):
        one = Cell("one", n, contexts=stored.at_equal_tokens(n))
        assert abs(one.tokens - Cell("full", n).tokens) <= n + 1
