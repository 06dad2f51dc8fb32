"""Cells made by hand, the stored record, and its smallest cell recomputed."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from chapters.companions.k_hop import phases, stored
from chapters.companions.k_hop.phases import Cell, Measured
from running.records import Entry, written

RECORD = Path(__file__).parents[4] / "data" / "companions" / "k_hop.json"
MADE = Measured(
    Cell(2, ((1, 2),), 30, n_seeds=2, n_hops=2, test_size=1),
    np.array([0, 10, 20]),
    np.array([[[1, 0], [2, 1], [3, 2]], [[1, 0], [1, 3], [1, 3]]]),
)


def test_waits_are_those_of_the_last_hop_and_infinite_where_censored():
    assert MADE.learned(1).tolist() == [10, np.inf]
    assert MADE.learned(2).tolist() == [20, 10]
    assert MADE.waits.tolist() == [20, np.inf]
    assert phases.order(MADE, (2, 1)).tolist() == [[20, 10], [10, np.inf]]


def test_stored_cells_ended_as_they_say():
    found = stored.read(RECORD.read_text(encoding="utf-8"))
    for cell, measured in found.items():
        assert measured.right.shape == (cell.n_seeds, len(measured.moments), cell.n_hops)
        last = measured.accuracy[:, -1, [hop - 1 for hop in cell.asked]]
        assert measured.moments[-1] == cell.limit or (last >= cell.until).all()


def test_a_stored_cell_is_what_its_settings_give():
    """One hop with one layer; processors round differently, so an answer or two may turn."""
    cell = phases.alone(1, 1, 2000, n_hops=1)
    again = phases.measure(replace(cell, n_seeds=2))
    kept = stored.read(RECORD.read_text(encoding="utf-8"))[cell]
    times = len(again.moments)
    assert np.abs(again.right - kept.right[:2, :times]).max() <= 2


def test_a_cell_is_stored_as_it_was_measured(monkeypatch):
    monkeypatch.setattr(phases, "measure", lambda cell: MADE)
    text = written([Entry(MADE.cell, None, None, None, {}, None, None, stored.run(MADE.cell))])
    found = stored.read(text)
    assert list(found) == [MADE.cell]
    assert (found[MADE.cell].right == MADE.right).all()
    assert (found[MADE.cell].moments == MADE.moments).all()
