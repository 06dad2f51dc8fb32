"""Matrices that commute with the turns, and the dimensions that Theorem 1 leaves."""

import pytest
import sympy as sp
import torch

from chapters.paper.appendix_a import averages, commutant, dimension, words
from chapters.paper.appendix_a.commutant import A, i, j, k, l
from chapters.paper.appendix_a.words import E, F, M, matrix_symbol


@pytest.mark.parametrize("size", [1, 2, 3])
def test_propositions_for_small_k(size):
    once, twice = (commutant.signed_permutations(k) for k in (size, 2 * size))
    blocks, swap = commutant.block_orthogonal(once), commutant.block_swap(size)
    assert commutant.spans(commutant.commutant_of(once), [sp.eye(size)])
    assert commutant.spans(commutant.commutant_of(blocks), [sp.eye(2 * size), swap])
    assert commutant.fixed_by_independent(twice, blocks) == []
    for f in blocks:
        assert f * f.T == sp.eye(2 * size)
        assert f * swap * f.T == swap


def test_propositions_for_every_k():
    """A flip turns A_il into -A_il, a swap A_ii into A_jj; M trades blocks, and F leaves M."""
    assert commutant.proposition_1_off_diagonal() == -A[i, l]
    assert commutant.proposition_1_diagonal() == A[j, j]
    a11, a12, a21, a22 = commutant.block_matrix("A")
    assert commutant.proposition_2_swap() == sp.Matrix([[a22, a21], [a12, a11]])
    for form in ("main", "secondary"):
        assert commutant.proposition_4(form) == sp.Matrix([[0, 1], [1, 0]])


def test_span_compares_spaces_not_bases():
    identity, swap = sp.eye(2), commutant.block_swap(1)
    assert commutant.spans([identity + swap, identity - swap], [identity, swap])
    assert not commutant.spans([identity, swap], [identity, sp.diag(1, -1)])
    assert not commutant.spans([identity], [identity, swap])


def test_conjugated_entry_is_the_product():
    """The symbolic sum against SymPy's own matrices, all entries, k = 3, for both kinds of E."""
    values = sp.Matrix(3, 3, lambda r, c: sp.Symbol(f"a_{r}{c}"))
    numbers = {A[r + 1, c + 1]: values[r, c] for r in range(3) for c in range(3)}
    swap = sp.eye(3).permute([[0, 1]])
    for entry, turn in (
        (commutant.flip_entry, sp.diag(1, -1, 1)),
        (commutant.swap_entry, swap),
    ):
        row, column = sp.symbols("row column", integer=True, positive=True)
        general = commutant.conjugated_entry(entry, row, column)
        expected = turn * values * turn.T
        for r in range(3):
            for c in range(3):
                places = {row: r + 1, column: c + 1, i: 1, j: 2, k: 3}
                assert sp.expand(general.subs(places).subs(numbers) - expected[r, c]) == 0


def test_unknown_form_raises():
    with pytest.raises(ValueError, match="main or secondary"):
        commutant.block_form("diagonal")


def test_transpose_reverses():
    x, m_x = matrix_symbol("X"), matrix_symbol("X^T")
    assert words.transpose(2 * x * M * F + E) == 2 * matrix_symbol("F^T") * M * m_x + matrix_symbol(
        "E^T"
    )
    assert words.transpose(words.transpose(x * F * M)) == x * F * M


def test_normal_form_is_true_of_matrices():
    """A word and its normal form have the same value for actual E, F, M."""
    generator = torch.Generator().manual_seed(0)
    e, block = (
        torch.linalg.qr(torch.randn(n, n, generator=generator, dtype=torch.float64)).Q
        for n in (4, 2)
    )
    swap = torch.eye(4, dtype=torch.float64).roll(2, dims=0)
    letters = {"E": e, "F": torch.block_diag(block, block), "M": swap}
    expression = (
        3 * E * F * M * matrix_symbol("F^T") * matrix_symbol("E^T") * F * M * M
        - 2 * matrix_symbol("F^T") * M
    )
    reduced = words.normal_form(expression)
    assert reduced != sp.expand(expression)
    values = [words.evaluate(word, letters, {}) for word in (expression, reduced)]
    assert (values[0] - values[1]).abs().max() < 1e-14


def test_what_has_no_value_raises():
    with pytest.raises(KeyError):
        words.evaluate(matrix_symbol("X"), {}, {})
    with pytest.raises(ValueError, match="not a product"):
        words.evaluate(sp.Integer(2), {}, {})
    assert words.evaluate(sp.Integer(0), {}, {}) == 0


def test_without_rotations_every_gradient_is_a_direction_of_its_own():
    nothing = averages.Group(*(torch.eye(4, dtype=torch.float64)[None] for _ in range(2)))
    rows = dimension.gradients(
        4, 24, nothing, torch.Generator().manual_seed(0), query_position=True
    )
    assert dimension.rank(rows) == 24
