"""Matrices that hold as many pairs as a stored capacity says."""

from typing import Any

import torch

from chapters.companions.associative_memories import PRESET, capacity, limits
from chapters.companions.associative_memories.model import Pairs, draw, linear
from chapters.companions.associative_memories.training import train
from running.records import Entry

from .compare import End

SETTINGS = PRESET["paper"].settings
CPU = torch.device("cpu")
BITS = 8  # of a number of the matrix
MORE = 0.002  # recall, which fewer bits may take away again
SECONDS = 40.0  # of one core, to train it


def made(entry: Entry) -> dict[str, Any]:
    """The matrix of one entry, trained on as many pairs as it is said to hold, and a bit longer."""
    trained = train(
        linear(entry.configuration.dim),
        _pairs(entry, entry.result["stored"]),
        least_recall=SETTINGS.least_recall + MORE,
        evaluations=SETTINGS.evaluations,
        patience=SETTINGS.patience,
    )
    return {"matrix": trained.parameters[0].detach()}


def end_of(place: int, entry: Entry, state: list[dict[str, Any]] | None) -> End | None:
    """The search of the capacity, in which the matrix answers in place of new trainings.

    It holds a number of pairs if it recalls enough of them, so the search ends where it ended
    before if the matrix holds the pairs that it was trained on, and not those of the next try.
    """
    if state is None:
        return None

    def again() -> dict[str, int]:
        cell, matrix = entry.configuration, torch.as_tensor(state[0]["matrix"])
        guess = limits.expected_pairs(cell.dim, SETTINGS.samples, cell.seed)

        def holds(n: int) -> bool:
            pairs = _pairs(entry, n)
            right = (pairs.e @ matrix.T @ pairs.u.T).argmax(dim=1) == torch.arange(n)
            return float(right.double().mean()) >= SETTINGS.least_recall

        return capacity.search(holds, guess, SETTINGS.tolerance)._asdict()

    return End("associative_memories", place, again, lambda kept: kept, 0.0, 0.0)


def _pairs(entry: Entry, count: int) -> Pairs:
    return draw(count, entry.configuration.dim, entry.configuration.seed, CPU)
