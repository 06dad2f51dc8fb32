"""The stored grid: what it says is what its command computes."""

from pathlib import Path

import numpy as np
import pytest

from chapters.beyond.real_transformers.token_grid import store
from chapters.beyond.real_transformers.token_grid.cells import GRID, Cell, stored_settings

FILE = Path(__file__).parents[4] / "data" / "token_grid.json"
pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture(scope="module")
def stored():
    return store.read(FILE)


def test_cells_that_are_not_stored_are_told(stored):
    assert len(store.not_run(stored, GRID)) == len(GRID) - len(stored)


def test_levels_are_passed_in_order_and_the_limit_is_kept(stored):
    for entry in stored:
        for run in entry["runs"]:
            steps = [np.inf if t is None else t for t in run["steps"]]
            assert steps == sorted(steps)
            assert run["taken"] <= entry["cell"]["limit"]


def test_waits_are_read_by_what_varies():
    def entry(n, steps):
        cell = stored_settings(Cell("proportional", n, 4 * n, "sgd", (0.5,), 9, seeds=(0,)))
        return {"cell": cell, "runs": [{"rate": 0.5, "seed": 0, "steps": steps}]}

    cells = [entry(4, [1, None]), entry(2, [1, 3])]
    assert store.waits(cells, 0.5, lambda cell: True).times.tolist() == [[1], [1]]
    result = store.waits(cells, 0.5, lambda cell: True, level=1)
    assert result.values.tolist() == [2, 4]
    assert result.times.tolist() == [[3], [np.inf]]
    emerged = result.emerged()
    assert (emerged.values.tolist(), emerged.times.tolist()) == ([2], [[3]])
    assert emerged.cells == [cells[1]["cell"]]
    with pytest.raises(ValueError, match="twice"):
        store.waits([*cells, *cells], 0.5, lambda cell: True)
    with pytest.raises(ValueError, match="nothing"):
        store.waits(cells, 0.1, lambda cell: True)
