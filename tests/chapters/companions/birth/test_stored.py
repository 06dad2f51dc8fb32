"""The stored runs: declared, written and read back, and the order that is read from them."""

from dataclasses import replace

import numpy as np

from chapters.companions.birth import stored


def made(ov2, kq2, kq1, *, early=None, matched=None, drawn=True):
    """A run whose recalls are given at steps 0, 10, ..."""
    recalls = [np.array(curve, dtype=float) for curve in (ov2, kq2, kq1, early or kq1)]
    looks = [np.zeros(len(ov2))] * 4
    curves = stored.StoredCurves(*recalls, *looks, np.array(matched or kq2, dtype=float))
    settings = replace(stored.RANDOM, random_triggers=drawn)
    steps = 10 * np.arange(len(ov2))
    return stored.BirthRun("made", 0, settings, np.zeros(1), np.zeros(1), 0.0, steps, curves)


def test_arrivals_stay():
    run = made([0, 0.6, 0.2, 1, 1], [0, 0, 0, 0.1, 0.8], [0, 0, 0, 0, 0])
    result = stored.arrivals(run)
    assert result.begun == (10, 30, np.inf)
    assert result.half == (30, 40, np.inf)
    assert result.levels[0] == (10, 40, np.inf)  # a tenth beyond chance is more than .1
    assert result.levels[8] == (30, np.inf, np.inf)


def test_order_of_what_is_decided():
    right = made([0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1])
    wrong = made([0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1])
    open_ = made([0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0])
    assert stored.compare([right]) == (1, 1, 1, 1, 1)
    assert stored.compare([wrong]) == (0, 0, 0, 1, 0)
    result = stored.compare([open_])
    assert result.output_first == 1
    assert np.isnan([result.begun, result.half, result.levels, result.match_first]).all()
    assert stored.compare([right, wrong, open_]).levels == 0.5
    assert stored.follows((5.0, 5.0, 9.0)) is False
    assert stored.follows((5.0, np.inf, 9.0)) is False
    assert stored.follows((5.0, 9.0, np.inf)) is True
