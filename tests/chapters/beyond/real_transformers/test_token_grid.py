"""The stored grid: what it says is what its command computes."""

from pathlib import Path

import numpy as np
import pytest
import torch

from chapters.beyond.real_transformers import token_grid
from chapters.beyond.real_transformers.token_grid import Cell, store

FILE = Path(__file__).parents[4] / "data" / "token_grid.json"
pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture(scope="module")
def stored():
    return token_grid.read(FILE)


def test_cells_that_are_not_stored_are_told(stored):
    assert len(token_grid.not_run(stored, token_grid.GRID)) == len(token_grid.GRID) - len(stored)


def test_a_cell_is_stored_as_rows():
    cell = Cell("proportional", 2, 8, "adamw", (1e-2,), 12, seeds=(0,), dim=8, batch_size=4)
    assert store.run(cell) == token_grid.run(cell, torch.device("cpu"))
    assert store.run(cell)[0]["steps"] == [None, None, None]


def test_a_sample_is_computed_again(stored):
    """One seed of the smallest cell alone gives the stored steps of its run."""
    (entry,) = [
        e for e in stored if e["cell"]["n_pairs"] == 2 and e["cell"]["vocabulary"] == 8
        and e["cell"]["optimiser"] == "adamw"
    ]  # fmt: skip
    cell = Cell("proportional", 2, 8, "adamw", (token_grid.ADAMW[-1],), 800, seeds=(1,))
    (found,) = token_grid.run(cell, torch.device("cpu"))
    (kept,) = [r for r in entry["runs"] if (r["rate"], r["seed"]) == (found["rate"], 1)]
    assert np.allclose(found["steps"], kept["steps"], rtol=0.02)


def test_levels_are_passed_in_order_and_the_limit_is_kept(stored):
    for entry in stored:
        for run in entry["runs"]:
            steps = [np.inf if t is None else t for t in run["steps"]]
            assert steps == sorted(steps)
            assert run["taken"] <= entry["cell"]["limit"]


def test_waits_are_read_by_what_varies():
    def entry(n, steps):
        cell = token_grid.described(Cell("proportional", n, 4 * n, "sgd", (0.5,), 9, seeds=(0,)))
        return {"cell": cell, "runs": [{"rate": 0.5, "seed": 0, "steps": steps}]}

    cells = [entry(4, [1, None]), entry(2, [1, 3])]
    assert token_grid.waits(cells, 0.5, lambda cell: True).times.tolist() == [[1], [1]]
    found = token_grid.waits(cells, 0.5, lambda cell: True, level=1)
    assert found.values.tolist() == [2, 4]
    assert found.times.tolist() == [[3], [np.inf]]
    emerged = found.emerged()
    assert (emerged.values.tolist(), emerged.times.tolist()) == ([2], [[3]])
    assert emerged.cells == [cells[1]["cell"]]
    with pytest.raises(ValueError, match="twice"):
        token_grid.waits([*cells, *cells], 0.5, lambda cell: True)
    with pytest.raises(ValueError, match="nothing"):
        token_grid.waits(cells, 0.1, lambda cell: True)


def test_laws_have_the_powers_they_are_named_for():
    laws = token_grid.shapes([2, 4], [8, 16], 64)
    powers = {
        name: np.log(law[1] / law[0]) / np.log(2) for name, law in laws.items() if law is not None
    }
    assert np.isclose(powers["N^2"], 2)
    assert np.isclose(powers["1/sqrt(N)"], -0.5)
    assert np.isclose(powers["three-halves"], 1.5, atol=0.02)
    assert powers["cross-entropy"] < powers["three scalars"] < 2
    assert laws["free power"] is None
