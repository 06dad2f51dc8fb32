"""The stored capacities of wide matrices."""

from pathlib import Path

import pytest
import torch

from chapters.companions.associative_memories import PRESET, stored
from chapters.companions.associative_memories.capacity import Bracket
from chapters.companions.associative_memories.model import draw, linear
from chapters.companions.associative_memories.training import train

FILE = Path(__file__).parents[4] / "data" / "companions" / "associative_memories.json"
SETTINGS = PRESET["paper"].settings


@pytest.fixture(scope="module")
def found():
    return stored.read(FILE.read_text(encoding="utf-8"))


def test_the_file_holds_what_is_declared(found):
    assert tuple(found) == stored.CELLS
    assert all(b.stored < b.lost <= b.stored * SETTINGS.tolerance**2 for b in found.values())


def test_a_sample_is_stored(found):
    cell = stored.CELLS[-1]
    pairs = draw(int(1.2 * found[cell].lost), cell.dim, cell.seed, torch.device("cpu"))
    trained = train(
        linear(cell.dim),
        pairs.first(found[cell].stored),
        least_recall=SETTINGS.least_recall,
        evaluations=SETTINGS.evaluations,
        patience=SETTINGS.patience,
    )
    assert trained.recall >= SETTINGS.least_recall


def test_a_search_is_that_of_the_chapter(monkeypatch):
    settings = PRESET["smoke"].settings
    bracket = Bracket(**stored.run(stored.Cell(16, 0), settings))
    assert 0.7 < bracket.capacity / stored.limits.expected_pairs(16, settings.samples, 0) < 1.4
    monkeypatch.setattr(stored, "linear_capacity", lambda *given: given[3] == SETTINGS and bracket)
    assert Bracket(**stored.run(stored.Cell(16, 0))) == bracket
