"""App. A: averages over turns, what commutes with them, and the passes of the model."""

import contextlib

import pytest
import sympy as sp
import torch

from chapters.paper.appendix_a import averages, rotation, structure
from chapters.paper.appendix_a.rotation import all_slips, identities, rotate, violation
from chapters.paper.appendix_a.structure import ORTHOGONALITY, A, E, F, M, i, j, k, l, matrix_symbol
from emergence import tasks
from emergence.fast import disentangled_gradient
from emergence.models import Weights
from emergence.running import cache
from emergence.subspace import PseudoParameters, embed, project
from interruption import Interrupting, Killed, assert_resumes


def streams(count=2, first=0):
    return [torch.Generator().manual_seed(first + i) for i in range(count)]


def turned():
    return averages.orbit(*averages.gaussian(streams(), 2, 2, 4), averages.pauli_group(4))


def outside(data, start=None, steps=8, rate=0.25):
    start = averages.zero_weights(2, 4) if start is None else start
    return averages.descend_on_samples(start, data, steps, rate)


@pytest.mark.parametrize("dim", [2, 4, 8])
def test_the_group_averages_as_propositions_1_to_3_say(close, dim):
    """The averages of E A E^T, F A F^T, E A F^T and F A E^T over the pairs."""
    group = averages.pauli_group(dim)
    assert len(group.e) == dim**4
    matrix = torch.randn(dim, dim, generator=streams()[0], dtype=torch.float64)
    identity = torch.eye(dim, dtype=torch.float64)
    swap = identity.roll(dim // 2, dims=0)
    contents = matrix.trace() / dim * identity
    positions = contents + (matrix @ swap).trace() / dim * swap
    for left, right, expected in (
        (group.e, group.e, contents),
        (group.f, group.f, positions),
        (group.e, group.f, 0 * identity),
        (group.f, group.e, 0 * identity),
    ):
        close((left @ matrix @ right.mT).mean(dim=0), expected)


@pytest.mark.parametrize("size", [0, 3, 6])
def test_sizes_that_have_no_such_group_raise(size):
    with pytest.raises(ValueError, match="powers of two"):
        averages.real_paulis(size)


def test_averaged_gradients_of_structured_weights_alone_are_structured():
    for weights, inside in (
        (averages.structured_weights(streams(2, 10), 4), True),
        (averages.random_weights(streams(2, 10), 4, 0.3), False),
    ):
        outside = project(disentangled_gradient(weights, *turned())[1])[1]
        assert (outside < 1e-12).all() if inside else (outside > 0.01).all()


def test_descent_from_zero_stays_inside():
    assert outside(turned(), steps=20).outside.max() < 1e-12


def sampled():
    return averages.Fresh(tuple(streams()), 8, 2, 4)


@pytest.mark.parametrize("kill_after", [1, 7])
@pytest.mark.parametrize("data", [turned, sampled])
def test_a_killed_descent_ends_in_the_same_bits(data, kill_after):
    assert_resumes(lambda: outside(data()), kill_after)


def test_a_killed_descent_leaves_the_streams_where_they_would_be():
    left = []
    for kill_after in (0, 3):
        with cache.attached(Interrupting(kill_after)):
            for _ in range(2):
                data = sampled()
                with contextlib.suppress(Killed):
                    outside(data)
        left.append([stream.get_state() for stream in data.streams])
    assert all(map(torch.equal, *left))


def test_a_descent_that_diverges_is_an_error():
    with pytest.raises(ArithmeticError, match="the loss is not finite"):
        outside(turned(), steps=40, rate=1e9)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_propositions_for_small_k(size):
    once, twice = (structure.signed_permutations(k) for k in (size, 2 * size))
    blocks, swap = structure.block_orthogonal(once), structure.block_swap(size)
    assert structure.spans(structure.commutant_of(once), [sp.eye(size)])
    assert structure.spans(structure.commutant_of(blocks), [sp.eye(2 * size), swap])
    assert structure.fixed_by_independent(twice, blocks) == []
    for f in blocks:
        assert f * f.T == sp.eye(2 * size)
        assert f * swap * f.T == swap


def test_propositions_for_every_k():
    """A flip turns A_il into -A_il, a swap A_ii into A_jj; M trades blocks, and F leaves M."""
    assert structure.proposition_1_off_diagonal() == -A[i, l]
    assert structure.proposition_1_diagonal() == A[j, j]
    a11, a12, a21, a22 = structure.block_matrix("A")
    assert structure.proposition_2_swap() == sp.Matrix([[a22, a21], [a12, a11]])
    for form in ("main", "secondary"):
        assert structure.proposition_4(form) == sp.Matrix([[0, 1], [1, 0]])


def test_span_compares_spaces_not_bases():
    identity, swap = sp.eye(2), structure.block_swap(1)
    assert structure.spans([identity + swap, identity - swap], [identity, swap])
    assert not structure.spans([identity, swap], [identity, sp.diag(1, -1)])
    assert not structure.spans([identity], [identity, swap])


def test_conjugated_entry_is_the_product():
    """The symbolic sum against SymPy's own matrices, all entries, k = 3, for both kinds of E."""
    values = sp.Matrix(3, 3, lambda r, c: sp.Symbol(f"a_{r}{c}"))
    numbers = {A[r + 1, c + 1]: values[r, c] for r in range(3) for c in range(3)}
    swap = sp.eye(3).permute([[0, 1]])
    for entry, turn in (
        (structure.flip_entry, sp.diag(1, -1, 1)),
        (structure.swap_entry, swap),
    ):
        row, column = sp.symbols("row column", integer=True, positive=True)
        general = structure.conjugated_entry(entry, row, column)
        expected = turn * values * turn.T
        for r in range(3):
            for c in range(3):
                places = {row: r + 1, column: c + 1, i: 1, j: 2, k: 3}
                assert sp.expand(general.subs(places).subs(numbers) - expected[r, c]) == 0


def test_transpose_reverses():
    x, m_x = matrix_symbol("X"), matrix_symbol("X^T")
    known = matrix_symbol("F^T") * M * m_x
    assert structure.transpose(2 * x * M * F + E) == 2 * known + matrix_symbol("E^T")
    assert structure.transpose(structure.transpose(x * F * M)) == x * F * M


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
    reduced = structure.normal_form(expression)
    assert reduced != sp.expand(expression)
    values = [structure.evaluate(word, letters, {}) for word in (expression, reduced)]
    assert (values[0] - values[1]).abs().max() < 1e-14


def test_what_has_no_value_raises():
    with pytest.raises(KeyError):
        structure.evaluate(matrix_symbol("X"), {}, {})
    with pytest.raises(ValueError, match="not a product"):
        structure.evaluate(sp.Integer(2), {}, {})
    assert structure.evaluate(sp.Integer(0), {}, {}) == 0


def test_without_rotations_every_gradient_is_a_direction_of_its_own():
    nothing = averages.Group(*(torch.eye(4, dtype=torch.float64)[None] for _ in range(2)))
    rows = averages.gradients(4, 24, nothing, torch.Generator().manual_seed(0), query_position=True)
    assert averages.rank(rows) == 24


DIM = 6


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def pseudo():
    return PseudoParameters.unstack(0.4 * torch.randn(19, generator=stream(1), dtype=torch.float64))


@pytest.fixture
def weights(pseudo):
    return embed(pseudo, DIM)


@pytest.fixture
def batch():
    return tasks.gaussian_pairs(3, 3, DIM, generator=stream(2))


def random_turn(form="main", seed=3):
    return rotation.random_rotation(DIM, form, stream(seed))


# The algebra


def test_the_algebra_needs_proposition_4():
    """Exactly the positional terms fail without F M F^T = M."""
    forward = {
        name for name, rest in structure.forward_residuals(ORTHOGONALITY).items() if rest != 0
    }
    assert forward == {"X_2' = X_2 F", "S' = S", "P' = P"}
    backward = {
        name for name, rest in structure.backward_residuals(ORTHOGONALITY).items() if rest != 0
    }
    assert backward == {"U_2", "U_4", "T"}


# The real model


@pytest.mark.parametrize("mask", ["strict", "causal"])
@pytest.mark.parametrize("form", ["main", "secondary"])
def test_identities_hold_and_slips_fail_as_printed(weights, batch, form, mask):
    assert max(identities(weights, batch, random_turn(form), mask).values()) < 1e-12
    slips = all_slips(weights, batch, random_turn(form), mask).values()
    assert min(slip.printed for slip in slips) > 0.01
    assert max(slip.meant for slip in slips) < 1e-12


def test_a_rotation_is_orthogonal_and_of_its_form():
    for form in ("main", "secondary"):
        e, f = random_turn(form)
        for matrix in (e, f):
            assert (matrix @ matrix.T - torch.eye(DIM, dtype=torch.float64)).abs().max() < 1e-14
        blocks = f.unflatten(0, (2, -1)).unflatten(-1, (2, -1)).movedim(2, 1)
        same, zero = (0, 1) if form == "main" else (1, 0)
        assert (blocks[0, same] == blocks[1, 1 - same]).all()
        assert (blocks[0, zero] == 0).all()
        assert (blocks[1, 1 - zero] == 0).all()


def test_rotation_keeps_what_the_data_are_made_of(batch):
    again = rotate(batch, random_turn())
    assert (again.query == batch.query).all()
    lengths, before = again.inputs.norm(dim=-1), batch.inputs.norm(dim=-1)
    assert violation(lengths, before) < 1e-14
    assert (again.inputs[:, -1, DIM:] == 0).all()


def test_the_passes_are_the_model(weights, batch):
    """Under the strict mask; the ordinary one is not the book's, though App. A holds for both."""
    assert rotation.model_gap(weights, batch) < 1e-14
    assert rotation.model_gap(weights, batch, mask="causal") > 0.1


def gradient_formulas():
    return structure.gradients(structure.X, structure.U, structure.ERROR)


def test_formulas_are_the_model(pseudo, weights, batch):
    for formulas in (structure.derived(), structure.printed()):
        assert max(rotation.formulas_gap(formulas, pseudo, weights, batch).values()) < 1e-14
    gaps = rotation.gradients_gap(gradient_formulas(), pseudo, weights, batch)
    assert max(gaps.values()) < 1e-12


@pytest.mark.parametrize("letter", ["G", "g"])
def test_a_dropped_path_is_seen(pseudo, weights, batch, letter):
    """Sabotage: without one term of Eq. 14 the algebra still vanishes, but it is not the model."""
    wrong = gradient_formulas()
    wrong["U_1"] = sum(
        term
        for term in wrong["U_1"].args
        if sp.Symbol(letter, commutative=False) != term.args_cnc()[1][0]
    )
    assert rotation.gradients_gap(wrong, pseudo, weights, batch)["U_1"] > 1e-3


def test_transposed_w2_is_seen(pseudo, weights, batch):
    """Sabotage: W2 transposed has the structure too, so only the formula of P can tell."""
    wrong = Weights(weights.w1, weights.w2.T, weights.w3)
    assert max(identities(wrong, batch, random_turn()).values()) < 1e-12
    gap = rotation.formulas_gap(structure.printed(), pseudo, wrong, batch)
    assert gap["S"] < 1e-14
    assert gap["P"] > 0.1
