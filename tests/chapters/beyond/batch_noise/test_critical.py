"""The rise of a loss, and where it falls to a threshold."""

import math

import numpy as np
import pytest

from chapters.beyond.batch_noise.critical import critical_batch, rise


def test_rise_is_of_means_over_tenths():
    steps = np.arange(200)
    loss = 1 + ((steps - 100) / 100) ** 2  # least at 100
    known = loss[-20:].mean() / loss[90:110].mean()
    assert rise(loss) == pytest.approx(known, rel=1e-3)
    assert rise(loss[:100]) == 1  # it only falls
    with pytest.raises(ValueError, match="of 9 values"):
        rise(loss[:9])


def test_critical_batch_of_a_power():
    """Whatever two sizes it is read from."""

    def power(size):
        return 1 + (300 / size) ** 2

    for sizes in ((100.0, 200.0), (150.0, 900.0)):
        found = critical_batch(sizes, [power(size) for size in sizes], 1.25)
        assert power(found) == pytest.approx(1.25)
        assert found == pytest.approx(600)


def test_no_critical_batch_without_a_fall():
    assert math.isnan(critical_batch((100.0, 200.0), (1.2, 1.3), 1.25))
    assert math.isnan(critical_batch((100.0, 200.0), (1.0, 1.0), 1.25))
