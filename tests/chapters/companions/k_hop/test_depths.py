"""The depth frontier: what is measured at the end, and which head is which."""

import numpy as np

from chapters.companions.k_hop import depths
from chapters.companions.k_hop.depths import Depth, Reached
from chapters.companions.k_hop.phases import Cell
from stored_runs import file_with

TINY = Cell(2, ((1, 2),), 10, n_seeds=2, n_hops=2, record_every=10, test_size=4, dim=16, spare=2)


def test_a_cell_is_stored_as_it_was_measured():
    depth = Depth(TINY, causal=True, exam_size=8)
    found = depths.measure(depth)
    assert found.right.shape == (2, 2, 2)
    assert found.cut.shape == (2, 2, 3, 2)
    assert found.headless.shape == (2, 1, 2, 2)
    assert found.sides.shape == (2, 1, 2, 2)
    (kept,) = depths.stored(file_with(depth, depths.run(depth))).values()
    for name in Reached._fields[1:-1]:
        assert (getattr(kept, name) == getattr(found, name)).all()
    assert np.abs(kept.sides - found.sides).max() < 1e-4
    assert (kept.accuracy == found.right / 12).all()
    assert (kept.without_looks == found.cut / 12).all()


def test_one_layer_has_no_heads_to_ablate():
    found = depths.measure(Depth(Cell(1, ((1,),), 2, n_seeds=1, n_hops=1, test_size=2, dim=16)))
    assert found.headless.shape == (1, 0, 2, 1)
    assert found.sides.shape == (1, 0, 2, 2)
    assert found.cut.size == 0


def test_what_is_lost_without_the_head_of_a_side():
    made = Reached(
        Depth(TINY, exam_size=10), np.array([0]), np.zeros((2, 1, 2)), np.zeros((2, 1, 0)),
        whole=np.array([[30, 30], [30, 15]]),
        headless=np.array([[[[30, 0], [15, 30]]], [[[30, 15], [0, 0]]]]),
        sides=np.array([[[[0.1, 0.8], [0.9, 0.0]]], [[[0.3, 0.2], [0.1, 0.7]]]]),
    )  # fmt: skip
    assert made.final.tolist() == [[1, 1], [1, 0.5]]
    assert made.lost_without(1).tolist() == [[0, 1], [1, 0.5]]
    assert made.lost_without(0).tolist() == [[0.5, 0], [0, 0]]
