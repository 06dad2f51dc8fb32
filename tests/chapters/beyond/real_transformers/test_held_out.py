"""Local powers and laws held out, on made-up times; AdamW's dependence on the batch size."""

import numpy as np
import pytest

from chapters.beyond.real_transformers import adamw
from chapters.beyond.real_transformers.held_out import is_a_power, local_slopes, score_held_out

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


def test_the_law_that_made_the_times_wins():
    times = noisy(7 * SIZES**2 / np.log(SIZES), spread=0.01)
    laws = {"right": SIZES**2 / np.log(SIZES), "square": SIZES**2, "free": None}
    found = score_held_out(SIZES, times, laws, seen=3)
    assert found["right"].error < 1e-9
    assert found["right"].best > 0.9 > found["square"].best
    assert found["right"].error < found["free"].error < found["square"].error
    expected = np.log((16**2 / np.log(16)) / 16**2) - np.mean(
        [np.log((n**2 / np.log(n)) / n**2) for n in SIZES[:3]]
    )
    assert np.isclose(found["square"].error, abs(expected))


def test_a_free_power_extrapolates_a_power():
    found = score_held_out(SIZES, noisy(5 * SIZES**0.7), {"free": None}, seen=2)
    assert found["free"].error < 1e-9
    assert np.allclose(found["free"].predicted, 5 * SIZES**0.7)


@pytest.mark.parametrize("seen", [0, 4])
def test_something_is_fitted_and_something_held_out(seen):
    with pytest.raises(ValueError, match="held out"):
        score_held_out(SIZES, noisy(SIZES), {"N": SIZES}, seen=seen)


def test_nothing_is_left():
    assert set(adamw.clock().values()) == {0}


def test_the_power_is_minus_half_the_mean_share_of_noise():
    """A path in pieces of unlike signal and noise, by finite differences of its whole wait."""
    signal, noise = np.array([0.01, 0.3, 2.0]), np.array([1.0, 2.0, 0.5])

    def waits(size):
        return np.sqrt(1 + noise**2 / (size * signal**2))

    size, eps = 32.0, 1e-5
    power = (
        np.log(waits(size * (1 + eps)).sum()) - np.log(waits(size * (1 - eps)).sum())
    ) / np.log((1 + eps) / (1 - eps))
    share = (noise**2 / size) / (signal**2 + noise**2 / size)
    assert np.isclose(power, -np.average(share, weights=waits(size)) / 2, rtol=1e-4)
    assert -0.5 < power < 0
