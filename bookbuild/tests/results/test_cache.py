"""What the store remembers for the science: results to the bit, states of long runs."""

import dataclasses
import logging
import shutil

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bookbuild.results import cache as module
from bookbuild.results.cache import StoredCache
from bookbuild.results.store import Store
from bookbuild.results.values import from_files, to_files
from emergence.running.cache import Task, attached
from emergence.training import MinimalTraining, train_minimal
from tools.this_book import ROOT

SOURCES = ROOT / "src"
TASK = Task("emergence.analysis._curves", "first_reached", {"n_pairs": 4})
CPU = torch.device("cpu")
MINIMAL = MinimalTraining(2, 6, 8, 12)

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | arrays.arrays(
        st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
values = st.recursive(leaves, lambda one: st.lists(one) | st.dictionaries(st.text(), one))


def alike(one, other):
    """Return whether two results are equal in type and in every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, np.ndarray | np.generic):
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    return one.hex() == other.hex() if isinstance(one, float) else one == other


@given(values)
def test_results_come_back_to_the_bit(value):
    assert alike(from_files(to_files(value)), value)


@pytest.mark.parametrize(
    "value",
    [(1, 2), {1: 2}, object(), np.array([object()]), {"array": "0.npy"}, 1j, {"x": {1, 2}}],
    ids=["tuple", "number as key", "object", "array of objects", "place", "complex", "set"],
)
def test_what_would_not_come_back_the_same_is_refused(value):
    with pytest.raises(TypeError):
        to_files(value)


@pytest.fixture
def remembering(tmp_path):
    return StoredCache(tmp_path / "results", SOURCES, "cpu", {}, 0.0)


def test_a_kept_result_is_recalled_and_a_damaged_one_is_not(remembering, caplog):
    with pytest.raises(KeyError):
        remembering.get(TASK)
    remembering.put(TASK, {"steps": np.arange(3)})
    assert remembering.get(TASK)["steps"].tolist() == [0, 1, 2]
    path = Store(remembering.results).path(remembering.key(TASK))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(KeyError):
        remembering.get(TASK)
    assert "is damaged: set aside" in caplog.text


def test_keys_are_of_function_configuration_and_device(remembering):
    changes = [
        {"function": "first_fallen"}, {"configuration": {"n_pairs": 5}},
        {"classes": (("emergence.training._settings", "MinimalTraining"),)},
    ]  # fmt: skip
    keys = {remembering.key(dataclasses.replace(TASK, **change)) for change in ({}, *changes)}
    keys.add(dataclasses.replace(remembering, device="cuda").key(TASK))
    assert len(keys) == 5
    assert remembering.key(TASK) == dataclasses.replace(remembering, interval=9).key(TASK)


def kept(cache):
    """What the store of a cache holds."""
    store = Store(cache.results)
    return [stored for key in store.listed() if (stored := store.get(key)[0])]


def steps_taken(cache, seed=0):
    """How many steps of a training are taken, instead of found."""
    output = []
    listener = logging.Handler()
    listener.emit = output.append  # type: ignore[method-assign]
    logger = logging.getLogger("emergence.running.progress")
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    with attached(cache):
        train_minimal(MINIMAL, (seed,), device=CPU)
    logger.removeHandler(listener)
    return len(output)


def test_an_ended_training_is_found_and_one_of_other_code_or_another_start_is_not_taken_for_it(
    remembering, tmp_path
):
    assert (steps_taken(remembering), steps_taken(remembering)) == (MINIMAL.steps, 0)
    assert steps_taken(remembering, seed=1) == MINIMAL.steps
    first, _ = kept(remembering)
    assert first.kind == "training"
    assert not any("moments" in name for name in first.files)
    shutil.copytree(SOURCES, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "src/emergence/training/_minimal.py"
    text = path.read_text(encoding="utf-8")
    edited = text.replace("autograd.grad(loss.sum()", "autograd.grad(2 * loss.sum()")
    assert edited != text
    path.write_text(edited, encoding="utf-8")
    elsewhere = dataclasses.replace(remembering, sources=tmp_path / "src")
    assert steps_taken(elsewhere) == MINIMAL.steps


def test_a_full_disk_costs_the_state_and_not_the_run(remembering, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with attached(remembering), caplog.at_level(logging.WARNING):
        train_minimal(MINIMAL, (0,), device=CPU)
    assert "could not be kept: no space left on device" in caplog.text


def test_states_are_kept_at_intervals(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    steps = []
    monkeypatch.setattr(Store, "put", lambda *_: steps.append(int(clock[0])))
    remembering = StoredCache(tmp_path, SOURCES, "cpu", {}, interval=30.0)
    checkpoint = remembering.checkpoint(TASK)
    for second in range(1, 101):
        clock[0] = second
        checkpoint.offer(dict, ended=second == 100)
    assert steps == [30, 60, 90, 100]
    steps.clear()
    short = remembering.checkpoint(TASK)
    short.offer(dict, ended=True)  # ended at once: computing it again is cheaper than a file
    assert steps == []
