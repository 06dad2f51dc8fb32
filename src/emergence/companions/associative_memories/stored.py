"""The stored capacities at the source's greatest width, data/companions/associative_memories.json.

The five searches take about four minutes on one core.
"""

from dataclasses import dataclass

import torch

from emergence.running.records import StoredRuns

from . import limits
from .capacity import Bracket, linear_capacity
from .settings import Settings


@dataclass(frozen=True)
class Cell:
    """A trained matrix: its width d and the seed of the pairs."""

    dim: int
    seed: int


CELLS = tuple(Cell(256, seed) for seed in range(5))


def search(cell: Cell, settings: Settings) -> Bracket:
    """The capacity of a trained matrix, sought from where the cone puts it."""
    guess = limits.expected_pairs(cell.dim, settings.samples, cell.seed)
    return linear_capacity(cell.dim, cell.seed, guess, settings, torch.device("cpu"))


def run(cell: Cell) -> dict[str, int]:
    """What is stored of a search, with the paper profile's settings."""
    return search(cell, Settings())._asdict()


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Cell, Bracket]:
    """The capacities of a file. Raises ValueError for one of other runs."""
    return {cell: Bracket(**kept) for cell, kept in RUNS.read(text).items()}
