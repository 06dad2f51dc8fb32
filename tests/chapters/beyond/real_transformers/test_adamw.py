"""AdamW's clock: its identities, and the power of the batch on a path of known waits."""

import numpy as np

from chapters.beyond.real_transformers import adamw


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
