"""§2: silences, runs, MLPs, how far a band dominates, and the film of a head."""

import dataclasses
import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.paper import induction_heads
from chapters.paper.induction_heads import feed_forward, film, products
from chapters.paper.induction_heads.products import (
    HEAD_BANDS,
    Band,
    Products,
    answering_entries,
    attended,
    described,
    dominance_of,
    matrix_blocks,
    products_of,
)
from emergence import tasks
from emergence.experiments.silences import (
    TRANSFORMER,
    TRANSFORMER_PAIRS,
    variations,
)
from emergence.models import AttentionOnlyTransformer
from emergence.training import TokenTraining

CPU = torch.device("cpu")
TINY = TokenTraining(
    dim=80, vocabulary=8, block_size=8, n_pairs=2, batch_size=32, steps=10, learning_rate=0.01,
    embedding_scale=0.5,
)  # fmt: skip


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def test_variations_differ_in_one_silence_or_in_a_pair():
    base = TokenTraining()
    result = variations(base, TRANSFORMER, TRANSFORMER_PAIRS)
    assert result["base"] == base
    assert len(set(result.values())) == len(result) == 12
    pairs = [{a.setting, b.setting} for a, b in TRANSFORMER_PAIRS]
    for settings in result.values():
        silent, other = dataclasses.asdict(base), dataclasses.asdict(settings)
        changed = {name for name in silent if silent[name] != other[name]}
        assert len(changed) <= 1 or changed in pairs
    assert result["embeddings 0.02, unscaled scores"] == dataclasses.replace(
        base, embedding_scale=0.02, scaled=False
    )


def test_a_setting_fits_if_every_seed_knows_the_task_at_the_end():
    level = induction_heads.level(TINY)
    assert level == pytest.approx(np.log(2) / 2)
    low, high = (np.r_[np.ones(50), np.full(10, level + gap)] for gap in (-0.01, 0.01))
    late = np.r_[np.zeros(50), np.ones(10)]  # learned, and lost again
    assert induction_heads.learns([{"loss": low}, {"loss": low}], TINY)
    assert not induction_heads.learns([{"loss": low}, {"loss": high}], TINY)
    assert not induction_heads.learns([{"loss": late}], TINY)


def test_a_run_keeps_what_the_weights_would_say():
    result = products.describe_run(products.TransformerRun(TINY, 1))
    assert list(result["moments"]) == [0, 2, 4, 6, 8, 10]
    start = induction_heads.picture(result, 0)
    model = AttentionOnlyTransformer(80, 8, 8, embedding_scale=0.5, generator=stream(1))
    for product, expected in zip(start, products_of(model), strict=True):
        np.testing.assert_array_equal(product, expected)
    assert not np.allclose(start.layer1, induction_heads.picture(result).layer1)
    assert result["error"] < 1e-12
    values = result["singular"]
    assert (values > 1e-10 * values[0]).sum() <= 4 * (8 + 8) < len(values)


def test_a_run_that_diverges_says_so():
    result = products.describe_run(
        products.TransformerRun(dataclasses.replace(TINY, learning_rate=1e30), 0)
    )
    assert np.all(np.isinf(result["loss"]))
    assert not induction_heads.learns([result], TINY)


def test_mlps_leave_the_space_of_the_stream():
    """The rank that bounds the stream of §2.2 is no identity of any network."""
    few = products.unseen(TINY, 32, 0)
    plain = AttentionOnlyTransformer(80, 8, 8, embedding_scale=0.5, generator=stream()).double()
    mixed = feed_forward.MLPTransformer(TINY, stream()).double()
    ranks = []
    for model in (plain, mixed):
        values = products.singular_values(model, few, "causal")
        ranks.append(int((values > 1e-10 * values[0]).sum()))
    assert ranks[0] <= 64 < ranks[1]


def test_mlps_change_nothing_else(close):
    """Same sequences, same other weights; and an MLP of zeros is none."""
    with_mlp, without = (
        feed_forward.train_mlp(feed_forward.MLPRun(TINY, 0, mlp)) for mlp in (True, False)
    )
    assert with_mlp["loss"].shape == (10,)
    assert with_mlp["loss"][0] != without["loss"][0]
    plain = AttentionOnlyTransformer(80, 8, 8, embedding_scale=0.5, generator=stream())
    mixed = feed_forward.MLPTransformer(TINY, stream())
    batch = products.unseen(TINY, 4, 0)
    with torch.no_grad():
        assert not torch.allclose(
            mixed(batch.tokens, batch.positions), plain(batch.tokens, batch.positions)
        )
        for parameter in (*mixed.W_out, *mixed.b_out):
            parameter.zero_()
        close(mixed(batch.tokens, batch.positions), plain(batch.tokens, batch.positions), 1e-6)


SIZE = 4
ALL = np.ones((2 * SIZE, 2 * SIZE), dtype=bool)
BAND = Band(1, 1, -1)


def every_sequence(vocabulary, block_size, n_pairs):
    """All of them: distinct tokens in pairs, a query, and every place in the block."""
    length = 2 * n_pairs + 1
    rows = [
        ([*tokens, tokens[2 * pair]], range(start, start + length))
        for tokens in itertools.permutations(range(vocabulary), 2 * n_pairs)
        for pair in range(n_pairs)
        for start in range(block_size - length + 1)
    ]
    tokens, positions = (torch.tensor([list(row[i]) for row in rows]) for i in (0, 1))
    return tasks.TokenBatch(tokens, positions, tokens[:, 1])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("mask", ["causal", "strict"])
def test_reached_is_what_changes_an_answer(mask):
    n, n_pairs = 5, 2
    generator = np.random.default_rng(3)
    shapes = (2 * n, 2 * n), (4 * n, 4 * n), (n, 8 * n)
    description = Products(*(generator.standard_normal(shape) for shape in shapes))
    batch = every_sequence(n, n, n_pairs)
    before = described(description, batch, mask)[2]
    reach = answering_entries(n, n, 2 * n_pairs + 1, mask)
    for name, there in reach._asdict().items():
        for place in np.ndindex(there.shape):
            matrix = getattr(description, name).copy()
            matrix[place] += 1.0
            after = described(description._replace(**{name: matrix}), batch, mask)[2]
            changed = float((after - before).abs().max()) > 1e-12
            assert changed == there[place], (name, place)


def with_band(strength, noise=0.0, seed=0):
    matrix = noise * np.random.default_rng(seed).standard_normal((2 * SIZE, 2 * SIZE))
    matrix[SIZE:, SIZE:] += strength * np.eye(SIZE, k=-1)
    return matrix


def test_shares_and_counts_by_hand():
    matrix = with_band(2.0)
    matrix[6, 5] = 2.5  # of the band
    matrix[5, 6] = 3.0  # beats the band's entry of its row, not of others
    matrix[0, 0] = -4.0  # in another block, the largest in size
    result = dominance_of(matrix, BAND, ALL, SIZE)
    assert result.decides == pytest.approx(2 / 3)
    assert result.brightest == pytest.approx(1 / 3)  # 4, 3, and 2.5
    band = 2 * 2.0**2 + 2.5**2
    assert result.band_share == pytest.approx(band / (band + 9))
    assert result.block_share == pytest.approx((band + 9) / (band + 9 + 16))
    assert result.lead == pytest.approx(6.5 / 3 / 2)  # first block's diagonal: 4 / sqrt(4)


def test_a_band_leads_by_its_sign_and_over_diagonals_far_off():
    assert dominance_of(with_band(-2.0, 1e-3), BAND, ALL, SIZE).lead < -100
    matrix = with_band(2.0)
    matrix[:SIZE, SIZE:] += 4.0 * np.eye(SIZE, k=2)  # two entries, against three of the band
    assert dominance_of(matrix, BAND, ALL, SIZE).lead == pytest.approx(0.5)
    matrix[0, -1] = 50.0  # a diagonal of one entry does not count
    assert dominance_of(matrix, BAND, ALL, SIZE).lead == pytest.approx(0.5)


def test_entries_out_of_reach_do_not_count():
    matrix, reach = with_band(2.0), ALL.copy()
    matrix[SIZE, SIZE + 3] = 50.0
    reach[SIZE, SIZE + 3] = False
    free = dominance_of(matrix, BAND, ALL, SIZE)
    bound = dominance_of(matrix, BAND, reach, SIZE)
    assert free.band_share < 0.01
    assert bound.band_share == 1.0
    with pytest.raises(ValueError, match="no entry of"):
        dominance_of(matrix, BAND, ~ALL, SIZE)


def test_columns_compete_where_they_should():
    matrix = with_band(2.0)
    matrix[5, 7] = 3.0  # largest of its row; no entry of the band is in its column
    rows = dominance_of(matrix, BAND, ALL, SIZE)
    columns = dominance_of(matrix, BAND, ALL, SIZE, columns=True)
    assert (rows.decides, columns.decides) == (pytest.approx(2 / 3), 1.0)


def test_an_ideal_head_attends_where_it_should():
    """Bands of a strength that saturates; and none, where attention is uniform."""
    n, n_pairs = 8, 2
    length = 2 * n_pairs + 1
    shapes = (2 * n, 2 * n), (4 * n, 4 * n), (n, 8 * n)
    batch = tasks.token_pairs(64, n_pairs, n, n, generator=torch.Generator().manual_seed(0))
    zero = Products(*(np.zeros(shape) for shape in shapes))
    ideal = Products(*(matrix.copy() for matrix in zero))
    for matrix, (row, column, offset) in zip(ideal, HEAD_BANDS.values(), strict=True):
        matrix_blocks(matrix, n)[row, column] = 60 * np.eye(n, k=offset)
    assert attended(ideal, batch, "strict") == pytest.approx((1.0, 1.0))
    uniform = attended(zero, batch, "strict")
    assert uniform.previous == pytest.approx((1 + 1 / 3) / 2)
    assert uniform.label == pytest.approx(1 / (length - 1))
    assert attended(zero, batch, "causal").label == pytest.approx(1 / length)


SHORT = replace(film.SETTINGS, batch_size=8, steps=18)


@pytest.fixture(scope="module")
def short():
    return film.film_of(0, SHORT)


def test_shares_and_answer_are_those_of_the_described_network(short):
    batch = film.context()
    assert "".join(film.LETTERS[token] for token in batch.tokens[0]) == "KXBQTMREB"
    assert film.LETTERS[batch.target] == "Q"
    assert short.steps.tolist() == [0, 6, 12, 18]
    for frame in range(len(short.steps)):
        matrices = Products(short.layer1[frame], short.layer2[frame], short.output[frame])
        expected = attended(matrices, batch, SHORT.mask)
        assert short.previous[frame] == pytest.approx(expected.previous)
        assert short.label[frame] == pytest.approx(expected.label)
        answers = torch.softmax(described(matrices, batch, SHORT.mask)[2][0], dim=0)
        assert short.answer[frame] == pytest.approx(float(answers[batch.target]))
    assert np.allclose(short.first.sum(axis=2), 1)
    assert np.allclose(short.second.sum(axis=2), 1)


def test_the_film_waits_for_most_of_its_steps_and_longer_than_under_adamw():
    def waits_and_falls(settings):
        loss = film.film_of(0, settings).loss
        waits, fallen = np.argmax(loss < 0.8 * loss[0]), np.argmax(loss < 0.2 * loss[0])
        return waits, fallen - waits

    waits, falls = waits_and_falls(film.SETTINGS)
    assert waits >= 0.6 * film.SETTINGS.steps
    assert waits > 6 * falls > 0
    for rate in (1e-3, 4e-3):
        usual = replace(film.SETTINGS, optimiser="adamw", learning_rate=rate)
        waits, falls = waits_and_falls(usual)
        assert 0 < waits < 3 * falls


def test_positions_of_the_film_prefer_the_one_before_them():
    positions = film.film_of(0).layer1[-1, film.SETTINGS.vocabulary :, film.SETTINGS.vocabulary :]
    preferred = [row[: i + 1].argmax() - i for i, row in enumerate(positions)]
    assert preferred[1:-1] == [-1] * (len(positions) - 2)


def test_a_page_carries_every_frame_to_a_digit(short):
    page = film.film_text(short)
    for name, result in page["maps"].items():
        frames = getattr(short, name)
        digits = np.array([film.DIGITS.index(digit) for digit in result["frames"]])
        values = (digits.reshape(frames.shape) - film.TOP) / film.TOP * result["scale"]
        assert frames.shape[1:] == (result["rows"], result["columns"])
        shown = np.clip(frames, -result["scale"], result["scale"])
        assert np.abs(values - shown).max() <= result["scale"] / film.TOP
    assert len(page["loss"]) == SHORT.steps
