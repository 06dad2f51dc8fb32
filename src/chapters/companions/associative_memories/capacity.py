"""Capacity: the greatest number of pairs that a matrix or a Hebbian sum stores, by search.

The five searches at the source's greatest width take about four minutes on one core, so they are
stored, in data/companions/associative_memories.json.

The number of pairs that should fit, from the geometry of cones and without training.

W stores all pairs if the N x N matrix of logits U W E' lies in the cone C in which the diagonal
entry is the greatest of its row. These matrices form a subspace of dimension d^2. A *random*
subspace of that dimension meets C if d^2 exceeds the statistical dimension of the polar cone
(Amelunxen and others, 2014), which is N times that of one row. This subspace is not random: the
prediction is a heuristic.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.stats import norm

from emergence.running.memo import kept
from emergence.running.records import StoredRuns

from . import Settings, training
from .training import draw, step_recall, train


def row_dimensions(
    n: int, samples: int, rng: np.random.Generator, most: int = 128
) -> Float[np.ndarray, " samples"]:
    """Squared distances of Gaussian rows g from {x: x_1 >= x_j}; their mean is delta_N.

    The nearest point lifts g_1 to a level t and lowers every greater entry to it. Only the `most`
    greatest of the other entries are drawn, by Renyi's spacings; the level is far above the rest.
    """
    m = float(n - 1)
    k = int(min(m, most))
    gaps = rng.exponential(size=(samples, k)) / (m - np.arange(k))
    rest = norm.isf(-np.expm1(-np.cumsum(gaps, axis=1)))  # greatest first
    first = rng.standard_normal((samples, 1))
    means = (first + np.cumsum(rest, axis=1)) / np.arange(2, k + 2)  # of g_1 and the j greatest
    level = np.maximum(means.max(axis=1, keepdims=True), first)
    return (level - first)[:, 0] ** 2 + (np.clip(rest - level, 0, None) ** 2).sum(axis=1)


def row_dimension(n: int, samples: int, seed: int) -> float:
    """delta_N, about 2 ln N for very many pairs."""
    return float(row_dimensions(n, samples, np.random.default_rng(seed)).mean())


def expected_pairs(dim: int, samples: int, seed: int) -> float:
    """The N of N delta_N = d^2, by iteration: delta_N grows so slowly that it contracts.

    Raises ArithmeticError where the last iteration still moves N by a tenth: too few dimensions, or
    too few samples for the steps to be above their noise.
    """
    n = before = dim**2 / 4
    for _ in range(6):
        n, before = dim**2 / row_dimension(max(2, round(n)), samples, seed), n
    if abs(n - before) > 0.1 * n:
        raise ArithmeticError(f"the pairs at d = {dim} still move from {before:.4g} to {n:.4g}")
    return n


@kept
def hebbian_pairs(dim: int, recall: float) -> float:
    """The N of which the Hebbian sum recalls this share, to be expected from overlaps."""
    ends = np.log(2), 2 * np.log(dim)
    return float(np.exp(brentq(lambda x: step_recall(float(np.exp(x)), dim) - recall, *ends)))


def guide(parameters: float) -> float:
    """The N of N ln N = parameters."""
    return float(brentq(lambda n: n * np.log(n) - parameters, 1.0, parameters + 3.0))


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
        w = training.one_step(u, e, identity, n) if centred else training.hebbian(u, e, identity)
        total += training.recalled(w, u, e, identity)
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
    guess = expected_pairs(cell.dim, settings.samples, cell.seed)
    return linear_capacity(cell.dim, cell.seed, guess, settings, torch.device("cpu"))._asdict()


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Cell, Bracket]:
    """The capacities of a file. Raises ValueError for one of other runs."""
    return {cell: Bracket(**fields) for cell, fields in RUNS.read(text).items()}
