"""The steps of the two theorems, and the bounds for every N from some N0 on."""

import numpy as np
import pytest
from scipy.special import zeta

from chapters.beyond.every_position.enclosed import enclose_every
from chapters.beyond.every_position.flows import (
    Mixture,
    all_mixtures,
    inverse_power,
    late,
    law_of_every,
    limit_landscape,
    mixture_times,
)
from emergence import theory
from emergence.theory import positions


def test_bounds_of_the_limits_hold_and_narrow():
    law = law_of_every()
    wide, narrow = (enclose_every(256, cells=cells, many=True) for cells in (50, 200))
    for bounds in (wide, narrow):
        assert bounds.alpha[0] < law.alpha.constant < bounds.alpha[1]
        assert bounds.beta[0] < law.beta.constant < bounds.beta[1]
    assert narrow.alpha[1] - narrow.alpha[0] < (wide.alpha[1] - wide.alpha[0]) / 2


def test_few_pairs_leave_no_bounds():
    with pytest.raises(ArithmeticError, match="N0 = 8"):
        enclose_every(8, cells=50)


def test_mixtures_are_weights():
    for weights in (inverse_power(9, 1.0), late(9, 4)):
        assert weights.sum() == pytest.approx(1)
        assert len(positions.weighting(9, weights)) == 9
    assert late(9, 4)[3:5].tolist() == [0, 0.2]
    assert inverse_power(4, 2.0)[0] / inverse_power(4, 2.0)[3] == pytest.approx(16)


def test_weights_of_zero_power_are_every_position():
    every = theory.emergence_times(8, supervision="every")
    mixtures = [
        Mixture(8, model="reduced"), Mixture(8, model="reduced", whole=True),
        Mixture(4, without=(18,)), Mixture(4),
    ]  # fmt: skip
    plain, whole, held, free = all_mixtures(mixtures, label="mixtures")
    assert plain == pytest.approx(every)
    assert whole.alpha == pytest.approx(every.alpha)
    assert whole.collapse > every.collapse
    assert held.alpha != pytest.approx(free.alpha, rel=1e-3)
    assert mixture_times(mixtures[0]) == list(plain)


@pytest.mark.parametrize("mask", ["strict", "causal"])
@pytest.mark.parametrize(
    ("query", "pinned"), [("last", (1.0, 1.0, -1.0)), ("uniform", (0.5, 0.5, 0.0))]
)
def test_long_prefixes_pin_the_output(query, pinned, mask):
    """Their pull has a sum that does not grow with their number where the limit flow has them."""

    def grown(output):
        few, many = (
            positions.landscape(np.ones(m), query, model="full", mask=mask).gradient(
                *[0.0] * 16, *output
            )
            for m in (64, 256)
        )
        return np.abs(np.subtract(many, few)[[16, 18]]).max()

    assert grown(pinned) < 0.2 * grown((0.0, 0.0, 0.0))


def test_the_first_push_of_the_limit():
    """The sum of the pushes on beta at zero, 2 (2n - 1)/(2n)^2/(2n - 1) each."""
    at_zero = -limit_landscape(20.0).gradient(0.0, 0.0, 1.0)[1]
    assert at_zero == pytest.approx(zeta(2) / 2, abs=1e-5)
