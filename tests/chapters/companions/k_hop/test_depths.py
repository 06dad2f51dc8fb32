"""The depth frontier: what is measured at the end, and which head is which."""

import numpy as np

from chapters.companions.k_hop.depths import Depth, Reached
from chapters.companions.k_hop.phases import Cell

TINY = Cell(2, ((1, 2),), 10, n_seeds=2, n_hops=2, record_every=10, test_size=4, dim=16, spare=2)


def test_what_is_lost_without_the_head_of_a_side():
    reached = Reached(
        Depth(TINY, exam_size=10), np.array([0]), np.zeros((2, 1, 2)), np.zeros((2, 1, 0)),
        whole=np.array([[30, 30], [30, 15]]),
        headless=np.array([[[[30, 0], [15, 30]]], [[[30, 15], [0, 0]]]]),
        sides=np.array([[[[0.1, 0.8], [0.9, 0.0]]], [[[0.3, 0.2], [0.1, 0.7]]]]),
    )  # fmt: skip
    assert reached.final.tolist() == [[1, 1], [1, 0.5]]
    assert reached.lost_without(1).tolist() == [[0, 1], [1, 0.5]]
    assert reached.lost_without(0).tolist() == [[0.5, 0], [0, 0]]
