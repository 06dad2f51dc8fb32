"""The steps of the two theorems, and the bounds for every N from some N0 on."""

import pytest
import sympy as sp

from chapters.beyond.every_position import PRESET, enclosed, inverse_power, late, shared, steps
from chapters.beyond.every_position.enclosed import enclose_every
from chapters.beyond.every_position.flows import Mixture, all_mixtures, mixture_times
from emergence import theory
from emergence.proofs import residuals
from emergence.theory import positions


@pytest.mark.parametrize(
    "left_over",
    [
        steps.prefix_residuals, steps.clock_residuals, steps.late_residuals, steps.scale_residuals,
    ],
)  # fmt: skip
def test_every_step_is_an_identity(left_over):
    assert residuals.failed(left_over()) == 0


def test_a_wrong_step_would_show():
    wrong = steps.prefix_residuals()["a score's push"] + sp.Symbol("n")
    assert residuals.failed({"wrong": wrong}) == 1


@pytest.mark.parametrize("n_pairs", [256, 300, 2048])
def test_bounds_hold_for_every_larger_context(n_pairs):
    bounds = enclose_every(256, cells=100)
    found = theory.emergence_times(n_pairs, supervision="every")
    assert bounds.alpha[0] * n_pairs < found.alpha < bounds.alpha[1] * n_pairs
    assert bounds.beta[0] * n_pairs < found.beta < bounds.beta[1] * n_pairs


def test_bounds_of_the_limits_hold_and_narrow():
    law = positions.limit_times()
    wide, narrow = (enclose_every(256, cells=cells, many=True) for cells in (50, 200))
    for bounds in (wide, narrow):
        assert bounds.alpha[0] < law.alpha.constant < bounds.alpha[1]
        assert bounds.beta[0] < law.beta.constant < bounds.beta[1]
    assert narrow.alpha[1] - narrow.alpha[0] < (wide.alpha[1] - wide.alpha[0]) / 2


def test_bounds_that_forget_long_prefixes_would_miss(monkeypatch):
    """What prefixes beyond N0 add is part of the bounds: without it they exclude the limit."""
    whole = enclose_every(64, cells=200, many=True)
    monkeypatch.setattr(enclosed, "_tail", lambda *_: enclosed.arb(0))
    short = enclose_every(64, cells=200, many=True)
    limit = positions.limit_times().alpha.constant
    assert whole.alpha[0] < limit < whole.alpha[1]
    assert short.alpha[1] > whole.alpha[1] or short.alpha[0] > whole.alpha[0]


def test_few_pairs_leave_no_bounds():
    with pytest.raises(ArithmeticError, match="N0 = 8"):
        enclose_every(8, cells=50)


def test_mixtures_are_weights():
    for weights in (inverse_power(9, 1.0), late(9, 4), shared(9, 0.2)):
        assert weights.sum() == pytest.approx(1)
        assert len(positions.weighting(9, weights)) == 9
    assert late(9, 4)[3:5].tolist() == [0, 0.2]
    assert shared(10, 0.2)[[0, -1]].tolist() == pytest.approx([0.02, 0.82])
    assert inverse_power(4, 2.0)[0] / inverse_power(4, 2.0)[3] == pytest.approx(16)


def test_weights_of_zero_power_are_every_position():
    every = theory.emergence_times(8, supervision="every")
    asked = [
        Mixture(8, model="reduced"), Mixture(8, model="reduced", whole=True),
        Mixture(4, without=(18,)), Mixture(4),
    ]  # fmt: skip
    plain, whole, held, free = all_mixtures(asked, label="mixtures")
    assert plain == pytest.approx(every)
    assert whole.alpha == pytest.approx(every.alpha)
    assert whole.collapse > every.collapse
    assert held.alpha != pytest.approx(free.alpha, rel=1e-3)
    assert mixture_times(asked[0]) == list(plain)


def test_presets_are_in_order():
    for settings in (preset.settings for preset in PRESET.values()):
        assert settings.three_pairs[-1] == 2 * settings.three_pairs[-2]
        assert settings.weighted_pairs[-1] == 2 * settings.weighted_pairs[-2]
        assert settings.full_pairs("last") == settings.full_last
