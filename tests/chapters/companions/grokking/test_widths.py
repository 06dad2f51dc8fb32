"""The study of widths: what is declared, what is stored, and how it is read."""

import numpy as np
import pytest

from chapters.companions.grokking import training, widths
from stored_runs import stored_text


def curves(accuracy, norm=(8.0, 6.0, 3.0, 9.0)):
    return {"accuracy": np.array([accuracy]), "norm": np.array([norm])}


def test_d_over_km_is_counted_by_the_split():
    """d = 2 p H weights, m pairs of k = p targets, by the data that a network trains on."""
    for cell in widths.RUNS.cells:
        data, layers = training.instance(cell.simulation, 0)
        d, km = layers.flat().numel(), data.train.targets.numel()
        assert d / km == pytest.approx(cell.ratio, rel=0.02)


def test_every_declared_cell_is_stored():
    assert set(widths.RUNS.read(stored_text("grokking_widths"))) == set(widths.RUNS.cells)


def test_norms_are_read_where_pairs_are_known_for_good():
    assert widths.norm_ratio(curves([0.0, 0.5, 0.97, 1.0])) == pytest.approx([3 / 6])
    again = curves([0.5, 0.0, 0.5, 1.0])  # chance knew half of them, once
    assert widths.norm_ratio(again) == pytest.approx([9 / 3])
    assert np.isnan(widths.norm_ratio(curves([0.0, 0.5, 1.0, 0.9])))


def test_the_variance_that_groups_explain():
    values = np.array([[1.0, 1.0], [3.0, 3.0]])
    assert widths.explained(values) == 1
    assert widths.explained(values.T) == 0
    assert widths.explained(np.array([[0.0, 2.0], [4.0, np.nan]])) == pytest.approx(1 - 2 / 8)
