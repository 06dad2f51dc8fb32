"""The algebra of A.6 and A.7 and the passes of the model: what is wrong is noticed."""

import pytest
import sympy as sp
import torch

from chapters.paper.appendix_a import rotation, structure
from chapters.paper.appendix_a.rotation import identities, rotate, violation
from chapters.paper.appendix_a.slips import all_slips
from chapters.paper.appendix_a.words import ORTHOGONALITY
from emergence import tasks
from emergence.models import Weights
from emergence.subspace import PseudoParameters, embed

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


def turned(form="main", seed=3):
    return rotation.random_rotation(DIM, form, stream(seed))


# The algebra


def test_every_remainder_vanishes():
    remainders = [*structure.forward_residuals().values(), *structure.backward_residuals().values()]
    assert remainders == [0] * (14 + 42)


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
    assert max(identities(weights, batch, turned(form), mask).values()) < 1e-12
    slips = all_slips(weights, batch, turned(form), mask).values()
    assert min(slip.printed for slip in slips) > 0.01
    assert max(slip.meant for slip in slips) < 1e-12


def test_a_rotation_is_orthogonal_and_of_its_form():
    for form in ("main", "secondary"):
        e, f = turned(form)
        for matrix in (e, f):
            assert (matrix @ matrix.T - torch.eye(DIM, dtype=torch.float64)).abs().max() < 1e-14
        blocks = f.unflatten(0, (2, -1)).unflatten(-1, (2, -1)).movedim(2, 1)
        same, zero = (0, 1) if form == "main" else (1, 0)
        assert (blocks[0, same] == blocks[1, 1 - same]).all()
        assert (blocks[0, zero] == 0).all()
        assert (blocks[1, 1 - zero] == 0).all()


def test_rotation_keeps_what_the_data_are_made_of(batch):
    again = rotate(batch, turned())
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
    assert max(identities(wrong, batch, turned()).values()) < 1e-12
    gap = rotation.formulas_gap(structure.printed(), pseudo, wrong, batch)
    assert gap["S"] < 1e-14
    assert gap["P"] > 0.1
