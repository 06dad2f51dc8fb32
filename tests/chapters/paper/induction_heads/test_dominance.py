"""How far a band dominates, on matrices made by hand, and which entries a sequence can reach."""

import itertools

import numpy as np
import pytest
import torch

from chapters.paper.induction_heads.dominance import (
    HEAD_BANDS,
    Band,
    answering_entries,
    dominance_of,
)
from chapters.paper.induction_heads.products import Products, attended, logits, matrix_blocks
from emergence import tasks

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
    before = logits(description, batch, mask)
    reach = answering_entries(n, n, 2 * n_pairs + 1, mask)
    for name, there in reach._asdict().items():
        for place in np.ndindex(there.shape):
            matrix = getattr(description, name).copy()
            matrix[place] += 1.0
            after = logits(description._replace(**{name: matrix}), batch, mask)
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
