"""Looks by hand, and steps since which they are needed."""

import numpy as np

from chapters.companions.retrieval import heads
from chapters.companions.retrieval.model import Cut


def test_looks_of_three_layers():
    assert heads.looks(3) == (
        Cut(1, "facts"), Cut(1, "queries"), Cut(2, "facts"), Cut(2, "queries"), Cut(3, "queries")
    )  # fmt: skip


def test_a_look_is_needed_since_its_absence_costs_enough():
    """Two runs, four records, the three looks of two layers, one number of hops."""
    accuracy = np.array([[[0.3], [0.6], [0.9], [1.0]], [[0.3], [0.3], [0.3], [0.3]]])
    cut = np.stack([accuracy] * 3, axis=2)
    cut[0, 2:, 1] -= 0.5
    cut[0, 3:, 2] -= 0.4
    cut[0, 1:, 0] -= 0.2
    since = heads.needed_since(np.array([0, 10, 20, 30]), accuracy, cut, 1 / 3)
    assert since[0, :, 0].tolist() == [np.inf, 20, 30]
    assert np.isinf(since[1]).all()
    assert heads.by_layer(since, 2).tolist() == [[20, 30], [np.inf, np.inf]]
