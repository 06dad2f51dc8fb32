"""The steps behind the laws of Beyond, each a residual that must vanish."""

import pytest
import sympy as sp

from chapters.beyond.effective_context.symbols import bursty_residuals
from chapters.beyond.knock_in.speeds import cross_entropy_residuals, held_residuals
from chapters.beyond.real_transformers.steps import clock, three_halves
from chapters.beyond.uniform_queries.symbols import uniform_residuals
from emergence.proofs import residuals as steps
from emergence.proofs.speeds import leading_speeds

DERIVATIONS = [
    uniform_residuals, bursty_residuals, leading_speeds,
    three_halves, clock, held_residuals, cross_entropy_residuals,
]  # fmt: skip


@pytest.mark.parametrize("residuals", DERIVATIONS)
def test_every_step_is_an_identity(residuals):
    assert steps.failed(residuals()) == 0


def test_a_failed_step_is_counted_and_shown():
    left_over = {"fine": sp.Integer(0), "wrong": sp.Symbol("x") / 2}
    assert steps.failed(left_over) == 1
    assert "| wrong | x/2 |" in steps.as_table(left_over)
