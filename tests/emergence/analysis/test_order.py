"""Rising and finite."""

import numpy as np

from emergence.analysis.curves import in_order


def test_in_order():
    times = np.array([[10.0, 20, 30], [10, 20, 10], [1, 1, 2], [0, 5, 6]])
    assert in_order(times).tolist() == [1, 0, 0, 1]


def test_what_never_happens_is_in_no_order():
    times = np.array([[1.0, 2.0, np.inf], [np.inf, np.inf, np.inf]])
    assert in_order(times).tolist() == [0, 0]
