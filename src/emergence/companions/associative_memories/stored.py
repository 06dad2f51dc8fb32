"""The stored capacities at the source's greatest width: read, and searched where they are missing.

`data/companions/associative_memories.py` searches those of `CELLS` that the record lacks.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from emergence.running import records

from . import limits
from .capacity import Bracket, linear_capacity
from .settings import Settings

COMMAND = "PYTHONPATH=src python data/companions/associative_memories.py"


class Cell(NamedTuple):
    """A trained matrix: its width d and the seed of the pairs."""

    dim: int
    seed: int


CELLS = tuple(Cell(256, seed) for seed in range(5))


def search(cell: Cell, settings: Settings) -> Bracket:
    """The capacity of a trained matrix, sought from where the cone puts it."""
    guess = limits.expected_pairs(cell.dim, settings.samples, cell.seed)
    return linear_capacity(cell.dim, cell.seed, guess, settings, torch.device("cpu"))


def read(text: str) -> dict[Cell, Bracket]:
    """The capacities of a record. Raises KeyError for an entry that lacks a part."""
    entries: list[dict[str, Any]] = json.loads(text)["capacities"]
    return {Cell(e["dim"], e["seed"]): Bracket(e["stored"], e["lost"]) for e in entries}


def written(found: Mapping[Cell, Bracket]) -> str:
    """A record with its provenance, a line a capacity."""
    entries = (cell._asdict() | bracket._asdict() for cell, bracket in found.items())
    return records.written(COMMAND, "capacities", entries)


def complete(path: Path, settings: Settings) -> None:
    """Search and store the capacities that are missing."""
    found = read(records.text(path, "capacities"))
    for cell in records.missing(CELLS, found):
        found[cell] = search(cell, settings)
        print(cell, found[cell], flush=True)
        records.write(path, written(found))
