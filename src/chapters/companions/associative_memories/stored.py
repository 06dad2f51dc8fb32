"""The stored capacities at the source's greatest width, data/companions/associative_memories.json.

The five searches take about four minutes on one core.
"""

from dataclasses import dataclass

import torch

from running.records import StoredRuns

from . import PRESET, Settings, limits
from .capacity import Bracket, linear_capacity


@dataclass(frozen=True)
class Cell:
    """A trained matrix: its width d and the seed of the pairs."""

    dim: int
    seed: int


CELLS = tuple(Cell(256, seed) for seed in range(5))


def run(cell: Cell, settings: Settings = PRESET["paper"].settings) -> dict[str, int]:
    """The capacity of a trained matrix, as it is stored; the search starts from the cone's."""
    guess = limits.expected_pairs(cell.dim, settings.samples, cell.seed)
    return linear_capacity(cell.dim, cell.seed, guess, settings, torch.device("cpu"))._asdict()


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Cell, Bracket]:
    """The capacities of a file. Raises ValueError for one of other runs."""
    return {cell: Bracket(**kept) for cell, kept in RUNS.read(text).items()}
