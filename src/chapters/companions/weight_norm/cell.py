"""A universal machine of constant weight: a cell of Rule 110, shared by an endless tape."""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product

import numpy as np
from jaxtyping import UInt8

from .model import Network, run
from .wiring import End, Wiring, add_and, add_program, started

RULE = 110
TAPES = ("x", "begins", "ends", "belt", "dropped")


def machine(program: Sequence[int]) -> Network:
    """Loads a program onto the tape, runs Rule 110 on it and prints the column of place 0.

    One weight a bit of the program and a constant number more. The program's last bit is at place
    0, its first furthest right; all else is 0.
    """
    wiring = started(TAPES)
    _add_loader(wiring, add_program(wiring, program, "start"))
    _add_cell(wiring)
    wiring.wire("first", "drop")  # a step for each of: dropped, x, out
    wiring.wire("then", "first")
    wiring.wire("gate", "then")
    wiring.wire("then", "gate")
    wiring.wire("out", "x")
    return wiring.build()


def _add_loader(wiring: Wiring, last: End) -> None:
    """A belt that carries the bits to the right until the last one is there, and drops them."""
    wiring.share("belt", "high", "pool")
    wiring.share("belt", "belt", "left")
    wiring.wire("drop", last)
    add_and(wiring, "dropped", "belt", "each", "drop")
    wiring.share("x", "dropped")


def _add_cell(wiring: Wiring) -> None:
    """Rule 110 in two steps: a cell is 1 if 1 begins here, begins to the right, or ends here.

    Seven weights. With p, q, r the states of left neighbour, cell and right neighbour these are:
    q and not p, r and not q, q and not r. The second is the first, one place on.
    """
    wiring.share("begins", "x")
    wiring.share("begins", "x", "left", -1)
    wiring.share("ends", "x")
    wiring.share("ends", "x", "right", -1)
    wiring.share("x", "begins")
    wiring.share("x", "begins", "right")
    wiring.share("x", "ends")


CELL_WEIGHTS = 7


def rows(program: Sequence[int], n_rows: int) -> UInt8[np.ndarray, "rows places"]:
    """The tape of `machine` after 0, 1, ... updates, from place -n_rows to n_rows + |program|."""
    network = machine(program)
    loaded = len(program) + 4  # time of row 0
    steps = loaded + 2 * (n_rows - 1)
    reach = steps + n_rows + len(program)
    (states,) = run(network, steps, (network.names.index("x"),), reach=reach)
    return states[loaded::2, reach - n_rows : reach + n_rows + len(program) + 1]


def directly(program: Sequence[int], n_rows: int) -> UInt8[np.ndarray, "rows places"]:
    """What `rows` should be: Rule 110 by its table, on a tape too long for its ends to matter."""
    margin = n_rows
    row = np.zeros(2 * margin + len(program) + 1 + 2 * n_rows, dtype=np.intp)
    middle = margin + n_rows
    row[middle : middle + len(program)] = program[::-1]
    table = np.array([RULE >> i & 1 for i in range(8)])
    found = []
    for _ in range(n_rows):
        found.append(row[n_rows:-n_rows])
        row = table[4 * np.roll(row, 1) + 2 * row + np.roll(row, -1)]
    return np.array(found, dtype=np.uint8)


def least_weights(rule: int = RULE, limit: int = CELL_WEIGHTS) -> int:
    """The least number of weights of a two-step cell for a rule; ValueError if above the limit.

    Exhaustive: hidden units see three cells and the constant, and the next state sees the hidden
    units of three cells and the constant.
    """
    window = np.array(list(product((0, 1), repeat=5)))  # what the next state can depend on
    target = rule >> (window[:, 1:4] @ [4, 2, 1]) & 1 == 1
    hidden = np.array(list(product((-1, 0, 1), repeat=4)))  # left, own, right, constant
    price = np.abs(hidden).sum(axis=1)
    tables = np.stack([  # unit, place it is read at, window
        hidden[:, :3] @ window[:, at : at + 3].T + hidden[:, 3:] > 0 for at in range(3)
    ], axis=1)  # fmt: skip
    for weights in range(1, limit + 1):
        for units in range(1, weights // 2 + 1):
            reads = np.array(list(product((-1, 0, 1), repeat=3 * units + 1)))
            reads = reads[(reads[:, :-1].reshape(-1, units, 3) != 0).any(axis=2).all(axis=1)]
            paid = np.abs(reads).sum(axis=1)
            for chosen in combinations_with_replacement(np.flatnonzero(price), units):
                left = weights - price[list(chosen)].sum()
                if left < units:
                    continue
                some = reads[paid == left]
                total = some[:, :-1] @ tables[list(chosen)].reshape(3 * units, -1) + some[:, -1:]
                if ((total > 0) == target).all(axis=1).any():
                    return weights
    raise ValueError(f"no cell of at most {limit} weights computes rule {rule}")
