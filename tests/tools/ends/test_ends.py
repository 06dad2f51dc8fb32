"""Ends of stored runs: computed again, edits of them found, states kept and gone on from."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from bookbuild.results.machine import machine_name
from running import cache, loop
from tools.ends import covered, edits, resume, states, stored
from tools.ends.compare import End

ENDS = [
    (Path(path).stem, place)
    for path, kinds in covered.read().items()
    for kind in ("whole", "part")
    for place in kinds[kind]
]
FORGED = 3  # edits at each end


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("file", "place"), ENDS, ids=[f"{f}-{n + 1}" for f, n in ENDS])
def test_an_end_is_what_its_computation_gives_and_an_edit_of_it_is_found(file, place):
    entry, end = stored.entries(file)[place], resume.end_of(file, place)
    result, again = entry.result, end.again()
    if end.disagreements(result, again) and entry.machine != machine_name():
        pytest.skip(f"made on {entry.machine or 'a machine that nobody wrote down'}")
    assert end.disagreements(result, again) == []
    dice = random.Random(f"{file} {place}")
    for _ in range(FORGED):
        edit = edits.drawn(end, result, dice)
        assert end.disagreements(edits.forged(result, edit), again), edit


def test_the_record_of_what_is_computed_again_is_current():
    assert covered.read() == covered.covered()


def test_every_file_of_states_belongs_to_stored_runs_and_every_state_to_an_entry():
    for path in stored.FOLDER.glob("*.npz"):
        known = {resume.key_of(entry) for entry in stored.entries(path.stem)}
        assert {name.split("/")[0] for name in states.read(path)} <= known


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_a_state_is_packed_and_unpacked(bits, tmp_path):
    wide = torch.randn(40, 50, generator=torch.Generator().manual_seed(0))
    state = {
        "step": 7,
        "parts": {
            "wide": [wide, wide[:2]],
            "stream": torch.Generator().manual_seed(3).get_state(),
            "rows": {"columns": [{"list": [1.5, 2.5]}, {"stack": torch.ones(2, 3)}]},
            "none": {"list": []},
        },
    }
    states.write(tmp_path / "a.npz", states.packed([state, state], "key", bits))
    first, second = states.unpacked(states.read(tmp_path / "a.npz"), "key")
    assert first["step"] == second["step"] == 7
    assert first["parts"]["none"] == {"list": []}
    assert (first["parts"]["stream"] == state["parts"]["stream"].numpy()).all()
    (times, ones) = first["parts"]["rows"]["columns"]
    assert (times["list"], ones["stack"].shape) == ([1.5, 2.5], (2, 3))
    error = np.abs(first["parts"]["wide"][0] - wide.numpy()).max()
    assert error <= {8: 0.02, 16: 0.01, 32: 0.0}[bits]
    assert (first["parts"]["wide"][1] == wide[:2].numpy()).all()
    with pytest.raises(KeyError):
        states.unpacked(states.read(tmp_path / "a.npz"), "other")


def descent(steps):
    """A training whose reading rises, and falls in the end."""
    weights, best = torch.zeros(2), torch.zeros(())
    for step in loop.steps(cache.Task("here", "descent", {}), steps, "descent", w=weights, b=best):
        weights += step
        torch.maximum(best, -((weights[0] - 15) ** 2), out=best) if step else best.fill_(-225)
    return weights.tolist()


def test_a_training_goes_on_from_a_state_that_was_kept():
    keeping = states.Keeping(at=5)
    with cache.attached(keeping):
        whole = descent(9)
    assert keeping.states[0]["step"] == 5
    assert keeping.states[0]["parts"]["w"].tolist() == [10, 10]
    with cache.attached(states.Resuming(keeping.states)):
        assert descent(9) == whole
    last = states.Keeping()
    with cache.attached(last):
        descent(9)
    assert last.states[0]["ended"]


def test_the_state_before_a_reading_last_rose_is_kept():
    keeping = states.Keeping(2, lambda parts: float(parts["b"]))
    with cache.attached(keeping):
        descent(12)
    assert keeping.states[0]["step"] == 5  # the reading is greatest after the sixth step


def test_edits_move_numbers_by_more_than_processors_do():
    result = {"share": 0.97, "count": 40, "curve": [1.0, 2.0], "never": None}
    end = End("made", 0, lambda: None, lambda kept: kept["share"], 0.05, 0.01)
    assert end.disagreements(result, 0.97) == []
    assert end.disagreements(result, 0.99) == []
    assert end.disagreements(result, 0.8) == ["made 1: () is stored as 0.97, found 0.8"]
    edit = edits.drawn(end, result, random.Random(0))
    assert (edit.path, edit.before) == (("share",), 0.97)
    assert edit.after < 0.83
    assert edits.forged(result, edit)["share"] == edit.after
    with pytest.raises(ValueError, match="no number"):
        edits.drawn(End("made", 0, lambda: 0, lambda kept: 1, 0, 0), result, random.Random(0))
    whole = End("made", 0, lambda: None, lambda kept: kept, 0.0, 0.0)
    assert whole.disagreements(result, result | {"never": float("nan")}) == []
    assert len(whole.disagreements(result, {"share": 0.97, "count": None})) == 4
