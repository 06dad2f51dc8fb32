"""Ends of stored runs: computed again, edits of them found, states kept and gone on from."""

import copy
import random

import numpy as np
import pytest
import torch

from evidence import ends, states
from evidence.ends import End
from running import cache, loop

ALL = [ends.end_of(file, place) for file in ends.FILES for place in range(len(ends.entries(file)))]
COVERED = [end for end in ALL if end.kind != "none"]
FORGED = 2  # edits at each end

# What no test computes again, by places from 0.
UNCOVERED = {
    # texts that are fetched, and not part of this repository
    "clock_counts": (),
    "clock_of_a_corpus": (),
    # Results are times at which a level is passed, late in a run, and no run is cheap. States of
    # them could be had only by repeating the runs.
    "every_position": (),
    "token_grid": (),
    # as above: the most right answers of a whole run
    "factual_recall": (),
    # a search, each step of which is a training without steps to go on from
    "associative_memories": range(5),
    # a language model that is not installed
    "language": range(49),
}


def forged(end, result, again, dice):
    """A copy of a result in which one of the numbers that are compared is another one."""
    pairs = end.compared(result, again)
    path = dice.choice([path for path, _, found in pairs if ends.number(found)])
    made = copy.deepcopy(result)
    *way, last = (int(key) if key.isdigit() else key for key in path.split("/")[1:])
    inside = made
    for key in way:
        inside = inside[key]
    return made, inside, last


def moved(end, value, upwards):
    """A number moved by a tenth, at least by three times what is allowed."""
    step = max(0.1 * abs(value), 3 * end.slack(value))
    step = max(1, round(step)) if isinstance(value, int) else step
    return value + step if upwards else value - step


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("end", COVERED, ids=lambda end: f"{end.name}: {end.kind}")
def test_an_end_is_what_its_computation_gives_and_an_edit_of_it_is_found(end):
    result, again = ends.entries(end.file)[end.place].result, end.again()
    assert end.disagreements(result, again) == []
    dice = random.Random(end.name)
    for _ in range(FORGED):
        made, inside, last = forged(end, result, again, dice)
        inside[last] = moved(end, inside[last], dice.random() < 0.5)
        assert end.disagreements(made, again), (last, inside[last])
