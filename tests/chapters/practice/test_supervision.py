"""The experiment on supervision: its transformers, its queries, its trainings."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from chapters.practice import queries, stored, trained
from chapters.practice.model import PLAIN, Shape, Transformer
from chapters.practice.queries import Cell, batch_loss, drawn, probe, sequences
from chapters.practice.stored import RUNS
from chapters.practice.trained import passed, run, train_supervised
from emergence.models import AttentionOnlyTransformer, Mask, allowed_positions, attention
from emergence.tasks import token_pairs
from emergence.training import TokenTraining, initial_transformer
from interruption import assert_resumes

STRICT = Shape(mask="strict")
DEEP = Shape(3, blocks=True)
ROTARY = Shape(3, blocks=True, positions="rotary")
OF_QUERIES = [kind for kind in queries.Kind.__args__ if not kind.startswith("repeats")]


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def network(cell: Cell) -> Transformer:
    return Transformer(cell.shape, 4 * cell.n_pairs, cell.block_size, generator=stream(1)).double()


def row(length: int) -> torch.Tensor:
    """The places of two sequences at the beginning of the block."""
    return torch.arange(length).expand(2, -1)


def alone(model: Transformer, batch: queries.Asked, row: int, query: int) -> torch.Tensor:
    """The logits of a query asked after its prefix alone, by the library where it has the model."""
    n = 2 * int(batch.sizes[row, query])
    tokens = torch.cat([batch.context[row, :n], batch.items[row, query, None]])[None]
    places = torch.cat([batch.places[row, :n], batch.asked_at[row, query, None]])[None]
    if model.shape in (PLAIN, STRICT):
        mask: Mask = model.shape.mask
        return AttentionOnlyTransformer.forward(model, tokens, places, mask=mask)[0, -1]
    return model.sequence_logits(tokens, places)[0, -1]


@pytest.mark.parametrize("shape", [PLAIN, STRICT, DEEP, ROTARY], ids=str)
@pytest.mark.parametrize("place", ["tied", "free"])
def test_a_query_is_answered_as_a_sequence_of_its_own(shape: Shape, place: queries.Place) -> None:
    cell = Cell("every", 4, place, shape=shape)
    model, batch = network(cell), drawn(cell, 2, stream())
    logits = model.query_logits(*batch[:5])
    for row, query in ((0, 0), (0, 3), (1, 1), (1, 2)):
        assert torch.allclose(logits[row, query], alone(model, batch, row, query), atol=1e-12)


@pytest.mark.parametrize("kind", OF_QUERIES)
@pytest.mark.parametrize("place", ["tied", "free"])
def test_the_loss_is_that_of_each_query_asked_alone(
    kind: queries.Kind, place: queries.Place
) -> None:
    cell = Cell(kind, 4, place, contexts=2)
    model, batch = network(cell), drawn(cell, 2, stream())
    expected = torch.zeros((), dtype=torch.float64)
    for row in range(2):
        for query, weight in enumerate(batch.weights):
            answer = alone(model, batch, row, query)
            expected += weight * cross_entropy(answer, batch.labels[row, query]) / 2
    assert batch_loss(cell, model, stream()).item() == pytest.approx(expected.item(), rel=1e-6)
    pairs = batch.context.view(2, -1, 2)
    where = (pairs[..., 0][:, None] == batch.items[..., None]).int().argmax(dim=-1)
    assert torch.equal(pairs[..., 1].gather(1, where), batch.labels)
    assert (where < batch.sizes).all()
    last = torch.full_like(batch.sizes, 4) if kind == "end" else batch.sizes
    assert torch.equal(batch.asked_at, batch.places[:, :1] + 2 * last)


@pytest.mark.parametrize("kind", ["repeats last", "repeats mixed"])
def test_a_repeated_item_is_followed_as_it_was_before(kind: queries.Kind) -> None:
    cell = Cell(kind, 4, contexts=50)
    tokens, repeats = sequences(cell, stream())
    assert tokens.shape == (50, 16)
    assert tokens.numel() == cell.tokens
    assert repeats.numel() == cell.queries
    for sequence, places in zip(tokens.tolist(), repeats.tolist(), strict=True):
        pairs = [tuple(sequence[at : at + 2]) for at in range(0, 16, 2)]
        assert len(set(pairs)) == 4
        assert sorted(places) == [2 * at for at in range(8) if pairs[at] in pairs[:at]]
    assert bool((repeats >= 8).all()) == (kind == "repeats last")
    model = network(cell)
    losses, draw = [], stream()
    tokens, repeats = sequences(cell, draw)
    starts = torch.arange(9)[torch.randint(9, (50, 1), generator=draw)]
    for row in range(50):
        places = (starts[row] + torch.arange(16))[None]
        logits = model(tokens[row, None], places)[0]
        for at in repeats[row].tolist():
            losses.append(cross_entropy(logits[at], tokens[row, at + 1]).item())
    assert batch_loss(cell, model, stream()).item() == pytest.approx(sum(losses) / len(losses))


@pytest.mark.parametrize("kind", OF_QUERIES)
def test_tokens_and_queries_are_counted(kind: queries.Kind) -> None:
    cell = Cell(kind, 8, contexts=30)
    batch = drawn(cell, cell.contexts, stream())
    assert batch.items.numel() == cell.queries
    assert batch.context.numel() + batch.items.numel() == cell.tokens
    assert float(batch.weights.sum()) == pytest.approx(1)


def test_equal_tokens_are_equal_up_to_a_context() -> None:
    for n in (4, 8, 16, 32):
        one = Cell("one", n, contexts=stored.at_equal_tokens(n))
        assert abs(one.tokens - Cell("full", n).tokens) <= n + 1


def test_lengths_are_drawn_as_their_names_say() -> None:
    n, lengths = 6, {}
    for kind in OF_QUERIES:
        sizes = queries.asked(Cell(kind, n), 4000, stream()).sizes
        lengths[kind] = torch.bincount(sizes.flatten(), minlength=n + 1)[1:] / sizes.numel()
    flat, short = [1 / n] * n, [1 / k / 2.45 for k in range(1, n + 1)]
    for kind in ("random", "every", "inverse", "prefix", "random redrawn", "end"):
        assert lengths[kind].tolist() == pytest.approx(flat, abs=0.02)
    assert lengths["short"].tolist() == pytest.approx(short, abs=0.01)
    assert lengths["upper"].tolist() == pytest.approx([0, 0, 0, 1 / 3, 1 / 3, 1 / 3])
    assert lengths["full"][-1] == lengths["one"][-1] == lengths["full redrawn"][-1] == 1
    assert lengths["not last"].tolist() == pytest.approx([0, 1 / 3, *flat[2:]])
    one_prefix = queries.asked(Cell("prefix", n), 40, stream()).sizes
    assert (one_prefix == one_prefix[:, :1]).all()
    not_last = queries.asked(Cell("not last", n), 400, stream())
    assert (not_last.wanted < not_last.sizes - 1).all()


def test_places_are_where_the_cell_puts_them() -> None:
    for place, offsets in (
        ("tied", {0}),
        ("by 1", {0, 1}),
        ("by 2", {0, 2}),
        ("free", {*range(9)}),
    ):
        cell = Cell("every", 4, place)
        batch = drawn(cell, 400, stream())
        assert {*batch.places[:, 0].tolist()} == offsets
        assert int(batch.asked_at.max()) == cell.block_size - 1


def test_rotary_positions_tell_nothing_of_the_place() -> None:
    for shape in (ROTARY, DEEP):
        cell = Cell("every", 4, shape=shape)
        model, batch = network(cell), drawn(cell, 2, stream())
        first = batch._replace(
            places=batch.places - batch.places[:, :1], asked_at=batch.asked_at - batch.places[:, :1]
        )
        same = torch.allclose(first.losses(model), batch.losses(model), atol=1e-5)
        assert same == (shape == ROTARY)
    tokens = batch.context
    logits = [
        network(Cell("every", 4, shape=ROTARY)).sequence_logits(tokens, at + row(8))
        for at in (0, 3)
    ]
    assert torch.allclose(*logits, atol=1e-5)


def test_no_token_sees_what_comes_later() -> None:
    for shape in (PLAIN, STRICT, DEEP, ROTARY):
        model = network(Cell("every", 4, shape=shape))
        tokens = token_pairs(2, 4, 16, 9, generator=stream()).tokens
        changed = torch.cat([tokens[:, :5], (tokens[:, 5:] + 1) % 16], dim=1)
        before, after = (model.sequence_logits(t, row(9)) for t in (tokens, changed))
        assert torch.allclose(before[:, :5], after[:, :5], atol=1e-12)
        assert not torch.allclose(before[:, 5:], after[:, 5:])


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


def test_the_fixed_contexts_are_asked_for_each_prefix_and_each_pair() -> None:
    first, again = (probe(Cell("every", 4)) for _ in range(2))
    assert all(torch.equal(*pair) for pair in zip(first, again, strict=True))
    assert first.sizes[0].tolist() == [1, 2, 3, 4, 4, 4, 4, 4]
    assert torch.equal(first.items[:, 4:].sort().values, first.context[:, ::2].sort().values)


@pytest.mark.parametrize("optimiser", ["adamw", "practice", "sgd"])
def test_a_training_that_is_killed_goes_on_to_the_same_bits(optimiser: queries.Method) -> None:
    cell = Cell("every", 4, optimiser=optimiser, limit=12, contexts=4)
    assert_resumes(lambda: train_supervised(cell, 0), 5)


def test_practice_warms_up_decays_and_clips() -> None:
    cell = Cell("every", 4, optimiser="practice", limit=2, contexts=4, learning_rate=0.01)
    (group,) = trained.optimiser_of(cell, network(cell)).param_groups
    assert (group["betas"], group["weight_decay"]) == ((0.9, 0.95), 0.1)
    moved = {}
    for optimiser in ("adamw", "practice"):
        before = probe_loss(replace(cell, optimiser=optimiser, limit=0))
        moved[optimiser] = abs(probe_loss(replace(cell, optimiser=optimiser, limit=1)) - before)
    assert 0 < moved["practice"] < 0.1 * moved["adamw"]


def probe_loss(cell: Cell) -> float:
    """The loss on full contexts after the last step."""
    return train_supervised(cell, 0)[-1][1]


def test_a_small_training_passes_both_tests() -> None:
    (row,) = run(Cell("every", 2, learning_rate=1e-2, limit=400, seeds=(3,)))
    assert row["seed"] == 3
    assert row["full"][0] < row["full"][1] < row["updates"] <= 1.5 * row["full"][1] + 2
    assert row["prefixes"][1] < row["updates"] + 1
    assert max(row["losses"][0], 0) <= 0.5


def test_a_training_that_diverges_is_not_one_without_a_head() -> None:
    cell = Cell("every", 4, optimiser="sgd", learning_rate=1e6, limit=40, seeds=(0,))
    (diverged,) = run(cell)
    assert diverged["losses"] is None
    (censored,) = run(replace(cell, learning_rate=1e-6, limit=3))
    assert censored["losses"][0] > 0.5
    assert censored["updates"] == 3
    assert diverged["full"] == censored["full"] == [None, None]


def test_levels_are_passed_on_lines_between_looks() -> None:
    cell = Cell("every", 4)
    whole, prefixes = cell.levels
    assert whole == pytest.approx(math.log(4))
    assert prefixes == pytest.approx(sum(map(math.log, range(1, 5))) / 4)
    looks = [(0.0, 2 * whole, prefixes), (10.0, 0.0, prefixes)]
    row = passed(cell, looks)
    assert row["full"] == pytest.approx([5.5, 7.5])
    assert row["prefixes"] == [None, None]
    assert row["losses"] == [0, 1]


def test_every_cell_is_declared_once_and_the_cheapest_come_first() -> None:
    cells = RUNS.cells
    assert len({replace(cell, limit=0, seeds=()) for cell in cells}) == len(cells)
    assert [*cells] == sorted(cells, key=stored.effort)
    assert {cell.learning_rate for cell in cells if cell.optimiser == "adamw"} == {1e-3, 3e-3, 1e-2}
    assert {cell.n_pairs for cell in cells} == {4, 8, 16, 32, 64}
    assert {cell.shape.layers for cell in cells if cell.shape.blocks} == {2, 4, 6}
