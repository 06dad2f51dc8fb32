"""Orders that rise and are finite, and levels that are kept."""

import numpy as np

from emergence.analysis import in_order, settled


def test_in_order():
    times = np.array([[10.0, 20, 30], [10, 20, 10], [1, 1, 2], [0, 5, 6]])
    assert in_order(times).tolist() == [1, 0, 0, 1]


def test_what_never_happens_is_in_no_order():
    times = np.array([[1.0, 2.0, np.inf], [np.inf, np.inf, np.inf]])
    assert in_order(times).tolist() == [0, 0]


def test_settled_is_the_last_crossing():
    steps = np.array([0, 5, 10, 15, 20])
    curves = np.array([[0.9, 0.1, 0.6, 0.7, 0.8], [0.0, 0.9, 0.9, 0.9, 0.1], [1.0] * 5])
    assert settled(steps, curves, 0.5).tolist() == [10, np.inf, 0]
