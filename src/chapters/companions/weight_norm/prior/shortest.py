"""Exact shortest programs of the tag machine: every program of so many commands is run."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int, UInt8

from ..tag import COMMANDS

NEVER = -1  # no program of at most so many commands prints the string


class Shortest(NamedTuple):
    """Commands of the shortest program for each string, and the programs left undecided."""

    commands: Int[np.ndarray, " strings"]
    undecided: int


def shortest(most: int, n_bits: int, patience: int) -> Shortest:
    """The least number of commands, once and in the loop, of a program that prints each string.

    A program prints a string if its first `n_bits` bits are that. It has `patience` commands of
    time. One that has not printed them by then is undecided unless it is clear that it never says a
    bit again: no 1 is left in its queue, or its loop says nothing, or the front is a 0 for ever.
    """
    least = np.full(2**n_bits, NEVER)
    undecided = 0
    for total in range(1, most + 1):
        programs = _all_programs(total)
        for once in range(total):
            words, count, queue = _run(programs, once, n_bits, patience)
            done = count == n_bits
            new = np.unique(words[done])
            least[new[least[new] == NEVER]] = total
            loop = programs[:, once:]
            speaks = (loop >= COMMANDS.index("say0")).any(axis=1) & queue.any(axis=1)
            speaks &= (loop == COMMANDS.index("del")).any(axis=1) | (queue[:, 0] == 1)
            undecided += int((~done & speaks).sum())
    return Shortest(least, undecided)


def _all_programs(total: int) -> UInt8[np.ndarray, "programs commands"]:
    """Every sequence of commands of this length, by their numbers."""
    numbers = np.arange(len(COMMANDS) ** total)
    digits = numbers[:, None] // len(COMMANDS) ** np.arange(total) % len(COMMANDS)
    return digits.astype(np.uint8)


def _run(
    programs: UInt8[np.ndarray, "programs commands"], once: int, n_bits: int, patience: int
) -> tuple[
    Int[np.ndarray, " programs"], Int[np.ndarray, " programs"], UInt8[np.ndarray, "programs queue"]
]:
    """What all print, as numbers, how many bits of it, and their queues from the front on."""
    each = np.arange(len(programs))
    queue = np.zeros((len(programs), patience + 2), dtype=np.uint8)
    queue[:, 0] = 1
    front, end = np.zeros_like(each), np.ones_like(each)
    words, count = np.zeros_like(each), np.zeros_like(each)
    at = 0
    for _ in range(patience):
        command = programs[:, at]
        active = (queue[each, front] == 1) & (front < end)
        adds = active & (command >= 1) & (command <= 2)
        queue[each[adds], end[adds]] = command[adds] - 1
        end += adds
        says = active & (command >= 3) & (count < n_bits)
        words = np.where(says, 2 * words + command - 3, words)
        count += says
        front += (command == 0) & (front < end)
        at = at + 1 if at + 1 < programs.shape[1] else once
    ahead = np.arange(queue.shape[1]) >= front[:, None]
    queue *= ahead  # beyond the end it is 0
    return words, count, np.concatenate([queue[each, front][:, None], queue], axis=1)
