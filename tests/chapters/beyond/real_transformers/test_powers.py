"""Local powers of made-up times."""

import numpy as np
import pytest

from chapters.beyond.real_transformers.powers import fit_power_law, is_a_power, local_slopes

SIZES = np.array([2.0, 4.0, 8.0, 16.0])


def noisy(curve, spread=0.05, seeds=4):
    """Times around a curve, the same factors at every size but for their order."""
    factors = np.exp(spread * np.linspace(-1, 1, seeds))
    return curve[:, None] * factors


def test_local_slopes_of_a_power_and_their_interval():
    slopes = local_slopes(SIZES, noisy(3 * SIZES**1.5))
    assert np.allclose(slopes.slope, 1.5)
    assert (slopes.low < 1.5).all()
    assert (slopes.high > 1.5).all()
    assert is_a_power(slopes)


def test_a_curve_that_steepens_is_no_power():
    slopes = local_slopes(SIZES, noisy(np.exp(0.2 * SIZES)))
    assert not is_a_power(slopes)


def test_a_run_that_never_emerged_is_not_averaged():
    with pytest.raises(ValueError, match="never emerged"):
        local_slopes([1, 2], np.array([[1.0], [np.inf]]))


def test_scaling_fits_complete_sizes_and_counts_the_others():
    sizes = (2, 4, 8, 16)
    times = np.array([[3.0 * n**1.5] * 2 for n in sizes])
    assert fit_power_law(sizes, times).exponent.slope == pytest.approx(1.5)
    times[3, 1] = np.inf
    fit = fit_power_law(sizes, times)
    assert (list(fit.sizes), fit.never) == ([2, 4, 8], 1)
    assert fit.exponent.slope == pytest.approx(1.5)
    times[2, 0] = np.inf
    with pytest.raises(ValueError, match="three sizes at which all runs emerged, got 2"):
        fit_power_law(sizes, times)
