"""Ends of stored runs: computed again, edits of them found, states kept and gone on from."""

import copy
import os
import random
from collections import Counter

import numpy as np
import pytest
import torch

from emergence.running import cache, loop
from emergence.running.memo import resumable
from evidence import ends, states
from evidence.ends import End

ALL = [end for file in ends.FILES for end in ends.ends_of(file)]
COVERED = [end for end in ALL if end.kind != "none"]
FORGED = 2  # edits at each end

STATES = {"birth": 6, "distributional": 1, "factual_recall": 13}  # entries that have one
# What no test computes again: its places from 0.
UNCOVERED = {
    # texts that are fetched, and not part of this repository
    "natural_heads": {*range(2, len(ends.entries("natural_heads")))},
    "natural_predictions": {*range(1, 9)},
    # Results are moments at which a level is passed, late in a run, and no run is cheap. States of
    # them could be had only by repeating the runs.
    "every_position": {4, 5, 9, 26, 28, 30, *range(34, 38), *range(44, 47), *range(49, 68)},
    "token_grid": {4, 12, 13, 14, 17, 19, 20, 22, 23, 28, *range(30, 38), *range(39, 44)},
    # As above: the most right answers of a whole run. At 41, 786 are stored, and from a state near
    # the end three instruction sets of a processor found 792, 795 and 798.
    "factual_recall": {*range(48)} - {4, 6, 10, 12, 17, 18, 22, 24, 28, 36, 37, 39, 40},
    # what is measured of its network takes minutes, trained or not
    "distributional": {0, 3, 4},
    # a search of many trainings, whose state cannot be taken out between two steps
    "associative_memories": {*range(5)},
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("file", sorted({end.file for end in COVERED}))
def test_an_end_is_what_its_computation_gives_and_an_edit_of_it_is_found(file):
    those = [end for end in COVERED if end.file == file]  # of which one is drawn, or all weekly
    for end in those if "EVERY_CHAPTER" in os.environ else [random.SystemRandom().choice(those)]:
        result, again = ends.entries(file)[end.place].result, end.again()
        assert end.disagreements(result, again) == []
        numbers = [path for path, _, found in end.compared(result, again) if ends.is_number(found)]
        dice = random.Random(end.name)
        for path in (dice.choice(numbers) for _ in range(FORGED)):
            assert end.disagreements(forged(end, result, path, dice.choice([-1, 1])), again), path


def forged(end, result, path, sign):
    """A copy in which a number is moved by a tenth, at least by three times what is allowed."""
    made = copy.deepcopy(result)
    *way, last = (int(key) if key.isdigit() else key for key in path.split("/")[1:])
    inside = made
    for key in way:
        inside = inside[key]
    step = max(0.1 * abs(inside[last]), 3 * end.slack(inside[last]))
    inside[last] += sign * (round(step) if isinstance(inside[last], int) else step)
    return made


def test_what_is_not_covered_is_listed_and_so_many_ends_have_a_state():
    result = {}
    for end in (end for end in ALL if end.kind == "none"):
        result.setdefault(end.file, set()).add(end.place)
    assert result == {file: places for file, places in UNCOVERED.items() if places}
    assert Counter(end.file for end in ALL if end.kind == "state") == STATES
    for path in ends.FOLDER.glob("*.npz"):
        known = {ends.key_of(entry) for entry in ends.entries(path.stem)}
        assert {name.split("/")[0] for name in ends.arrays(path.stem)} <= known


@pytest.mark.parametrize(
    ("kind", "stored", "again", "paths"),
    [
        ("whole", {"a": [1, 2], "b": 3}, {"a": [1, 2], "b": 3}, ["/a/0", "/a/1", "/b"]),
        ("whole", [1, 2], [1], [""]),
        ("whole", {"a": 1}, {"a": 1, "b": 2}, [""]),
        ("seed", [[1, 2], [3, 4]], [[1, 2]], ["/0/0", "/0/1"]),
        ("seed", [1], [1, 2], [""]),
        ("state", {"a": [1, 2, 3], "b": 4}, {"a": [3], "b": 4}, ["/a/2", "/b"]),
        ("beginning", {"a": [1, 2, 3], "b": 4}, {"a": [1, 2], "b": 5}, ["/a/0"]),
        ("beginning", [[[1], [2]], [[3], [4]]], [[[1]]], ["/0/0/0"]),
        ("beginning", [1, 2], [1, 3], []),
    ],
)
def test_what_is_compared(kind, stored, again, paths):
    end = End("made", 0, kind, None)
    assert [path for path, _, _ in end.compared(stored, again)] == paths
    assert bool(end.disagreements(stored, again)) == (paths in ([], [""]))


def test_a_state_is_packed_and_unpacked():
    wide = torch.randn(40, 50, generator=torch.Generator().manual_seed(0))
    rows = {"columns": [{"list": [1.5, 2.5]}, {"stack": torch.ones(2, 3)}]}
    state = {"step": 7, "parts": {"wide": [wide, wide[:2]], "rows": rows}}
    arrays = states.state_arrays([state, state], "key")
    first, second = states.unpacked(arrays, "key")
    assert first["step"] == second["step"] == 7
    assert first["parts"]["rows"]["columns"][0] == {"list": [1.5, 2.5]}
    assert np.abs(first["parts"]["wide"][0] - wide.numpy()).max() <= 0.01
    assert (first["parts"]["wide"][1] == wide[:2].numpy()).all()
    assert states.unpacked(arrays, "other") == []


@resumable
def descent(steps):
    """A training that ends with the sum of its steps."""
    weights = torch.zeros(2)
    for step in loop.steps(steps, "descent", w=weights):
        weights += step
    return weights.tolist()


@pytest.mark.parametrize(("back", "kept"), [(0, 9), (2, 6), (4, 4)])
def test_a_training_goes_on_from_a_state_that_was_kept(back, kept):
    keeping = states.Keeping(back)
    with cache.attached(keeping):
        whole = descent(9)
    assert [state["step"] for state in keeping.states] == [kept]
    with cache.attached(states.Resuming(keeping.states)):
        assert descent(9) == whole
