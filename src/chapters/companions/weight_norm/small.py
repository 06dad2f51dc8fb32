"""Enumeration of all small looped networks, and the prior over strings that they give.

Networks of ternary weights on a few units with biases, all starting at 0; unit 0 prints at every
step. A unit's row of weights matters through its truth table alone, so a network runs as a walk
over states with four look-ups a step.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, Real, UInt8
from scipy.stats import rankdata

from emergence.running import loop
from emergence.running.memo import resumable


class Rows(NamedTuple):
    """All rows of weights of one unit: one weight a unit and the bias."""

    weights: Int[np.ndarray, "rows inputs"]
    price: Int[np.ndarray, " rows"]
    tables: UInt8[np.ndarray, "rows states"]


def all_rows(units: int) -> Rows:
    """Every ternary row, its number of non-zeros, and its next state by state."""
    weights = np.array(list(product((-1, 0, 1), repeat=units + 1)))
    states = np.arange(2**units)[:, None] >> np.arange(units) & 1
    total = weights[:, :-1] @ states.T + weights[:, -1:]
    return Rows(weights, np.abs(weights).sum(axis=1), (total > 0).astype(np.uint8))


Batch = tuple[int, Int[np.ndarray, "units n"]]


def networks(rows: Rows, units: int, most: int) -> Iterator[Batch]:
    """All networks of at most so many weights: W and, unit by unit, the number of its row."""
    by_price = [np.flatnonzero(rows.price == p) for p in range(rows.price.max() + 1)]
    for prices in product(range(len(by_price)), repeat=units):
        if sum(prices) <= most:
            grid = np.meshgrid(*(by_price[p] for p in prices), indexing="ij")
            yield sum(prices), np.stack([part.ravel() for part in grid])


def walk(rows: Rows, chosen: Int[np.ndarray, "units n"], n_bits: int) -> Int[np.ndarray, " n"]:
    """What each network prints at times 1 to `n_bits`, as a number, the first bit the highest."""
    state = np.zeros(chosen.shape[1], dtype=np.intp)
    word = np.zeros(chosen.shape[1], dtype=np.int64)
    for _ in range(n_bits):
        state = sum(
            (rows.tables[row, state].astype(np.intp) << unit for unit, row in enumerate(chosen)),
            start=np.zeros_like(state),
        )
        word = 2 * word + (state & 1)
    return word


@resumable
def networks_per_string(units: int, most: int, n_bits: int) -> Int[np.ndarray, "weights strings"]:
    """How many networks of each W print each string."""
    rows = all_rows(units)
    table = np.zeros((most + 1, 2**n_bits), dtype=np.int64)
    batches = list(networks(rows, units, most))
    shared = torch.from_numpy(table)  # the same memory
    for i in loop.steps(len(batches), "small networks", table=shared):
        weights, chosen = batches[i]
        table[weights] += np.bincount(walk(rows, chosen, n_bits), minlength=2**n_bits)
    return table


class Prior(NamedTuple):
    """Of each string that is printed: itself, the least W that prints it, and -log2 Q."""

    strings: Int[np.ndarray, " printed"]
    least: Int[np.ndarray, " printed"]
    surprise: Float[np.ndarray, " printed"]


def prior(table: Int[np.ndarray, "weights strings"], decay: float) -> Prior:
    """The prior over strings when a network of W weights has weight exp(-decay W)."""
    strings = np.flatnonzero(table.any(axis=0))
    shares = np.exp(-decay * np.arange(len(table))) @ table[:, strings]
    return Prior(strings, (table[:, strings] > 0).argmax(axis=0), -np.log2(shares / shares.sum()))


def spearman(x: Real[np.ndarray, " n"], y: Real[np.ndarray, " n"]) -> float:
    """Spearman's rank correlation, ties at their mean rank."""
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
