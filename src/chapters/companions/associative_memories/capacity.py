"""Capacity: the greatest number of pairs that a matrix or a Hebbian sum stores, by search.

The five searches at the source's greatest width take about four minutes on one core, so they are
stored, in data/companions/associative_memories.json.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch

from emergence.running.memo import kept
from emergence.running.records import StoredRuns

from . import Settings, lemma, limits
from .training import draw, train


class Bracket(NamedTuple):
    """Stored up to `stored` pairs, not any more at `lost`."""

    stored: int
    lost: int

    @property
    def capacity(self) -> float:
        """The geometric mean of both."""
        return (self.stored * self.lost) ** 0.5


def search(holds: Callable[[int], bool], guess: float, tolerance: float, floor: int = 1) -> Bracket:
    """Where `holds` turns false, within a factor or to the next integer, from a guess.

    Steps away from the guess grow until it is bracketed; then they are halved.
    `floor` is known to hold and is not tried.
    """
    first = max(floor + 1, round(guess / tolerance**0.5))
    factor = tolerance
    if holds(first):
        stored, lost = first, max(first + 1, round(first * factor))
        while holds(lost):
            factor **= 2
            stored, lost = lost, max(lost + 1, round(lost * factor))
    else:
        lost, stored = first, max(floor, min(first - 1, round(first / factor)))
        while stored > floor and not holds(stored):
            factor **= 2
            lost, stored = stored, max(floor, min(stored - 1, round(stored / factor)))
    while lost > stored + 1 and lost > stored * tolerance * (1 + 1e-3) + 1:
        middle = round((stored * lost) ** 0.5)
        stored, lost = (middle, lost) if holds(middle) else (stored, middle)
    return Bracket(stored, lost)


@kept
def linear_capacity(
    dim: int, seed: int, guess: float, settings: Settings, device: torch.device
) -> Bracket:
    """Of a matrix that is trained by L-BFGS."""
    pairs = draw(int(4 * guess) + 8, dim, seed, device)

    def holds(n: int) -> bool:
        trained = train(
            pairs.first(n),
            least_recall=settings.least_recall,
            evaluations=settings.evaluations,
            patience=settings.patience,
        )
        return trained.recall >= settings.least_recall

    return search(holds, guess, settings.tolerance)


def hebbian_recall(n: int, dim: int, draws: int, seed: int, *, centred: bool = False) -> float:
    """The mean recall of the Hebbian sum, or of one gradient step (`centred`), over draws."""
    total = 0.0
    identity = torch.arange(n)
    for i in range(draws):
        pairs = draw(n, dim, seed * draws + i, torch.device("cpu"))
        u, e = pairs.u, pairs.e
        w = lemma.one_step(u, e, identity, n) if centred else lemma.hebbian(u, e, identity)
        total += lemma.recalled(w, u, e, identity)
    return total / draws


@kept
def hebbian_capacity(
    dim: int, seed: int, guess: float, settings: Settings, *, centred: bool = False
) -> Bracket:
    """The most pairs at which the mean recall over draws is high enough."""
    recall = partial(hebbian_recall, dim=dim, draws=settings.draws, seed=seed, centred=centred)
    return search(lambda n: recall(n) >= settings.least_recall, guess, settings.tolerance)


@dataclass(frozen=True)
class Cell:
    """A trained matrix: its width d and the seed of the pairs."""

    dim: int
    seed: int


PAPER = Settings()
FIRST_SEED = 0
CELLS = tuple(Cell(256, seed) for seed in range(FIRST_SEED, FIRST_SEED + 5))


def run(cell: Cell, settings: Settings = PAPER) -> dict[str, int]:
    """The capacity of a trained matrix, as it is stored; the search starts from the cone's."""
    guess = limits.expected_pairs(cell.dim, settings.samples, cell.seed)
    return linear_capacity(cell.dim, cell.seed, guess, settings, torch.device("cpu"))._asdict()


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Cell, Bracket]:
    """The capacities of a file. Raises ValueError for one of other runs."""
    return {cell: Bracket(**fields) for cell, fields in RUNS.read(text).items()}
