"""Every derivation by SymPy: its steps vanish, and a wrong sentence planted into it does not."""

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest
import sympy as sp

from emergence.proofs import residuals as steps

# module below `chapters`: its steps by name, and what is planted: the sentence, the wrong one, and
# the step that has to notice
PRINTED = "{formula.place: formula.residual() for formula in identities()}"
REACH = "{'reach': sp.simplify(reach_law('both')[0] - (3 ** reach_law('both')[1] - 1) / 2)}"
DERIVATIONS = {
    "emergence.proofs.speeds": (
        "leading_speeds()",
        ("late.beta - G * sp.exp(ALPHA) / 2", "late.beta - G * sp.exp(ALPHA)", "speed of beta"),
        ("by_score - G * S", "by_score - G", "pull on the score"),
    ),
    "chapters.beyond.area_law.bounds": (
        "pull_residuals() | share_residuals() | clock_residuals() | order_residuals()"
        " | curriculum_residuals()",
        ("2 * paid[1] * (paid[1] - square)", "2 * paid[1] ** 2", "S, by a score"),
        ("2 * AREA * N**2 / LAMBDA", "AREA * N**2 / LAMBDA", "the area"),
        ("RHO * T**2 / (2 * N)", "RHO * T**2 / N", "short times"),
        ("beta * gain * lead + gain", "beta * gain * lead", "R, by both"),
        ("B**4 / 32", "B**4 / 16", "alpha of the upper solution"),
    ),
    "chapters.beyond.effective_context": (
        "bursty_residuals()",
        ("(copies - 1) / 2) /", "(copies + 1) / 2) /", "sum over copies in a block"),
    ),
    "chapters.beyond.every_position.steps": (
        "prefix_residuals() | clock_residuals() | late_residuals() | scale_residuals()"
        " | causal_residuals()",
        ("sp.diff(2 * AREA / MEAN, B)", "sp.diff(AREA / MEAN, B)", "the area"),
        ("H / (H + 2 * MEAN) *", "1 *", "gamma's floor"),
        ("- (1 - s)", "- (s - 1)", "its exponent for weights n^-s"),
        ("+ sp.Rational(16, 81)", "- sp.Rational(16, 81)", "of one pair, at gamma = 1"),
        ("(1 - G * (a - o))", "(1 - G * a)", "a score's push"),
        ("- 4) / (m**3 * (m - 2))", "- 3) / (m**3 * (m - 2))", "its largest value c"),
        ("8 * N * (2 * N - 1)))", "9 * N * (2 * N - 1)))", "p - R at w = 1, at most"),
    ),
    "chapters.beyond.exact_constants.collapse_steps": (
        "residuals()",
        ("sp.Rational(7, 2) - known", "3 - known", "constant of order 2"),
        ("1 / ETA + 2 * ETA**2 +", "1 / ETA + ETA**2 +", "beta where x is one"),
        ("sp.EulerGamma + sp.log(2)", "sp.EulerGamma", "constant of order 0"),
    ),
    "chapters.beyond.exact_constants.slow_manifold": (
        "residuals()",
        ("sp.Rational(5, 8) + 3 * eighth", "sp.Rational(3, 8) + 3 * eighth", "constant of T_beta"),
        ("M = 1 + E * (S**2", "M = 1 + E * (S", "the identity"),
    ),
    "chapters.beyond.first_integral": (
        "{'minor': sp.Integer(not never_zero(minor()))} | residuals()",
        ('"gamma_3": 1, "gamma_4": 1}', '"gamma_3": 1, "gamma_4": 0}', "minor"),
        ("moves.subs(border) + 2 * o", "moves.subs(border) + o", "speed of h where h = 1"),
    ),
    "chapters.beyond.full_flow.laws": (
        "recency_residuals() | quick_residuals() | slow_residuals()",
        ("term = 2 * K * (2 * K + 1)", "term = 2 * K * (2 * K)", "term k of the push"),
        ("+ 2 * gamma_4**2", "+ gamma_4**2", "the quick landscape"),
        ("4 / log_n * (1", "2 / log_n * (1", "last pair: the time to alpha"),
        ("sp.Rational(1, 4) + B**2 / 2", "sp.Rational(1, 4) + B**2", "any pair: gamma by beta"),
    ),
    "chapters.beyond.knock_in": (
        "held_residuals() | cross_entropy_residuals()",
        ("- 2 * N**2 * (1 - sp.exp(-HALF)) / B", "- N**2 * (1 - sp.exp(-HALF)) / B", "beta held"),
        ("- N**2 * sp.exp(-held)", "- 2 * N**2 * sp.exp(-held)", "alpha held"),
        ("sp.Rational(7, 8) * N", "N", "gamma held, beta"),
        ("4 * sp.sqrt(AREA / KAPPA)", "2 * sp.sqrt(AREA / KAPPA)", "time of an area"),
    ),
    "chapters.beyond.real_transformers.powers": (
        "stretch_residuals() | three_halves()",
        ("power - share / 2", "power - share", "power of the speed is half the share of noise"),
        ("T**2 / (4 * N**3), T)", "T**2 / (2 * N**3), T)", "area swept"),
    ),
    "chapters.beyond.uniform_queries": (
        "uniform_residuals()",
        ("2 * sp.diff(gauss, B)", "sp.diff(gauss, B)", "leading time"),
    ),
    "chapters.companions.retrieval.model": (
        REACH,
        ("growth = 3 if", "growth = 4 if", "reach"),
    ),
    "chapters.paper.appendix_a.structure": (
        "{'flip': proposition_1_off_diagonal() + A[i, l]} | forward_residuals()"
        " | backward_residuals()",
        ("(1 - 2 * delta(row, j))", "(1 - delta(row, j))", "flip"),
        ('E if kind == "W3" else', 'F if kind == "W3" else', "W3_1"),
        ("T * X[i] * turn(i)", "T * X[i] * turn(0)", "U_4' = U_4 F"),
    ),
    "chapters.paper.appendix_b": (
        PRINTED,
        ("d_beta = 2 *", "d_beta =", "B.4.6, dL/dbeta"),
        ("S * 2 * (N - 1) * BETA", "S * (N - 1) * BETA", "B.4.4, ds/dalpha"),
    ),
}  # fmt: skip
SENTENCES = [
    pytest.param(name, what, *planted, id=f"{name.rsplit('chapters.')[-1]}: {planted[2]}")
    for name, (what, *all_planted) in DERIVATIONS.items()
    for planted in all_planted
]


def evaluated(module: ModuleType, steps_of: str) -> dict[str, sp.Expr]:
    return eval(steps_of, vars(module))


@pytest.mark.parametrize("name", DERIVATIONS)
def test_every_step_is_an_identity(name):
    left = evaluated(importlib.import_module(name), DERIVATIONS[name][0])
    assert steps.failed(left) == 0


@pytest.mark.slow("each derivation again with a wrong sentence")
@pytest.mark.parametrize(("name", "steps_of", "sentence", "wrong", "step"), SENTENCES)
def test_a_wrong_sentence_leaves_something(name, steps_of, sentence, wrong, step):
    module = importlib.import_module(name)
    source = inspect.getsource(module)
    assert source.count(sentence) == 1
    planted = ModuleType(name)
    planted.__package__ = module.__package__
    exec(compile(source.replace(sentence, wrong), name, "exec"), vars(planted))
    assert evaluated(planted, steps_of)[step] != 0


def test_every_module_of_derivations_has_a_wrong_sentence():
    """But for the loss itself, letters of words, and dimensions, which other tests alter."""
    root = Path(inspect.getfile(steps)).parents[2]
    using = {
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in root.rglob("*.py")
        if re.search(r"^import sympy", path.read_text(), re.MULTILINE)
    }
    others = {
        "emergence.proofs.reduced", "emergence.proofs.residuals",
        "chapters.paper.appendix_a.averages",
    }  # fmt: skip
    assert using - others == set(DERIVATIONS)


def test_a_failed_step_is_counted_and_shown():
    left_over = {"fine": sp.Integer(0), "wrong": sp.Symbol("x") / 2}
    assert steps.failed(left_over) == 1
    assert "| wrong | x/2 |" in steps.as_table(left_over)
