"""Records of long runs: completed entry by entry, whole at every moment, rewritten unchanged."""

import json
import os
import platform
from itertools import count
from pathlib import Path

import pytest
import torch

from emergence.companions.birth.runs import record as birth
from emergence.companions.distributional import stored as distributional
from emergence.companions.factual_recall import stored as factual_recall
from emergence.companions.k_hop import stored as k_hop
from emergence.companions.retrieval import language_study
from emergence.experiments import token_grid
from emergence.running import records

DATA = Path(__file__).parents[3] / "data"
COMMAND = "python made.py"


class Killed(Exception):
    """What ends a run here."""


def complete(path, cells, *, killed_at=None, **options):
    """The squares of numbers, kept in a record; returns what was computed."""
    entries = json.loads(records.text(path, "squares"))["squares"]
    computed = []
    for cell in records.missing(cells, [entry["of"] for entry in entries], **options):
        if cell == killed_at:
            raise Killed
        computed.append(cell)
        entries.append({"of": cell, "is": cell**2})
        records.write(path, records.written(COMMAND, "squares", entries, device="cpu"))
    return computed


def stored(path):
    return [entry["of"] for entry in json.loads(path.read_text(encoding="utf-8"))["squares"]]


def test_a_record_says_how_it_was_made_and_has_a_line_an_entry(tmp_path):
    path = tmp_path / "made.json"
    complete(path, [3, 4])
    text = path.read_text(encoding="utf-8")
    assert text.endswith(
        ' "threads": 1,\n "device": "cpu",\n "squares": [\n'
        '  {"of": 3, "is": 9},\n  {"of": 4, "is": 16}\n ]\n}\n'
    )
    versions = {"python": platform.python_version(), "torch": str(torch.__version__)}
    assert json.loads(text)["command"] == COMMAND
    assert json.loads(text)["versions"] == versions
    one_line = records.written(COMMAND, "squares", [{"of": 3}], indent=None, deep={"a": [1, {}]})
    assert one_line.splitlines()[0].endswith('"deep": {"a": [1, {}]},')
    assert json.loads(one_line)["squares"] == [{"of": 3}]
    assert json.loads(records.written(COMMAND, "squares", []))["squares"] == []


def test_a_killed_run_goes_on_behind_its_last_entry(tmp_path):
    whole, path = tmp_path / "whole.json", tmp_path / "made.json"
    complete(whole, range(5))
    with pytest.raises(Killed):
        complete(path, range(5), killed_at=3)
    assert stored(path) == [0, 1, 2]
    assert complete(path, range(5)) == [3, 4]
    assert path.read_bytes() == whole.read_bytes()


def test_what_is_known_is_not_computed_again(tmp_path):
    path = tmp_path / "made.json"
    complete(path, [2])
    assert complete(path, [4, 2, 1]) == [4, 1]  # in the order that is declared
    before = path.stat()
    assert complete(path, [1, 2, 4]) == []
    assert path.stat() == before
    assert list(records.missing([-2, 3, -4], {2, 4}, key=abs)) == [3]


def test_no_cell_is_begun_after_the_end(tmp_path, monkeypatch):
    """The clock moves on by ten seconds each time it is asked."""
    ticks = count(step=10)
    monkeypatch.setattr(records.time, "monotonic", lambda: float(next(ticks)))
    path = tmp_path / "made.json"
    assert complete(path, range(9), seconds=25.0) == [0, 1]
    assert complete(path, range(9), seconds=15.0) == [2]  # known ones take none of it
    assert complete(path, range(9), seconds=0.0) == []
    assert stored(path) == [0, 1, 2]


def test_cells_are_computed_with_one_thread():
    torch.set_num_threads(2)
    try:
        assert [torch.get_num_threads() for _ in records.missing([1], ())] == [1]
    finally:
        torch.set_num_threads(1)


def test_a_missing_file_has_no_entries(tmp_path):
    assert json.loads(records.text(tmp_path / "none.json", "squares")) == {"squares": []}


@pytest.mark.parametrize(
    "content",
    [b"", b'{"squares": [\n  {"of": 1}', b'{"cubes": []}', b"[]", b"\xff", b'{"squares": 1}'],
)
def test_a_damaged_file_is_named_and_left_alone(tmp_path, content):
    path = tmp_path / "made.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"made\.json is damaged: .* a list 'squares'"):
        complete(path, range(3))
    assert path.read_bytes() == content


def test_the_file_is_whole_at_every_moment(tmp_path, monkeypatch):
    """Seen before and after each replacement, and when one fails."""
    path, seen, replace = tmp_path / "made.json", [], os.replace

    def watched(partial, target):
        seen.append(stored(path) if path.exists() else None)
        if len(seen) == 3:
            raise OSError(28, "No space left on device")
        replace(partial, target)
        seen[-1] = seen[-1], stored(path)

    monkeypatch.setattr(os, "replace", watched)
    with pytest.raises(OSError, match="No space left"):
        complete(path, range(5))
    assert seen == [(None, [0]), ([0], [0, 1]), [0, 1]]
    assert stored(path) == [0, 1]
    assert complete(path, range(3)) == [2]
    assert [each.name for each in tmp_path.iterdir()] == ["made.json"]


def raw(text):
    return json.loads(text)["runs"]


@pytest.mark.parametrize(
    ("name", "read", "written"),
    [
        ("birth", raw, birth.written),
        ("distributional", raw, distributional.written),
        ("factual_recall", factual_recall.read, factual_recall.written),
        ("k_hop", k_hop.read, k_hop.written),
    ],
)
def test_a_stored_record_is_written_to_the_same_bytes(name, read, written, monkeypatch):
    text = (DATA / "companions" / f"{name}.json").read_text(encoding="utf-8")
    versions = json.loads(text)["versions"]
    monkeypatch.setattr(platform, "python_version", lambda: versions["python"])
    monkeypatch.setattr(torch, "__version__", versions["torch"])
    assert written(read(text)) == text


def test_stored_answers_are_written_with_the_same_entries():
    """Its head has become that of all records."""
    text = (DATA / "companions" / "language.json").read_text(encoding="utf-8")
    again = language_study.written(*language_study.read(text))
    old, new = json.loads(text), json.loads(again)
    versions = new.pop("versions") | old.pop("versions")
    assert set(versions) == {"python", "torch"}
    assert new == old | {"threads": 1}
    assert again.splitlines()[1:-2] == text.splitlines()[1:-1]


@pytest.mark.usefixtures("unchecked")
def test_a_stored_grid_goes_on_with_the_same_entries(tmp_path):
    path = tmp_path / "grid.json"
    path.write_bytes((DATA / "token_grid.json").read_bytes())
    kept = token_grid.read(path)
    declared = [cell for cell in token_grid.GRID if not token_grid.not_run(kept, [cell])]
    small = token_grid.Cell("proportional", 2, 8, "adamw", (1e-2,), 2, (0,), dim=8, batch_size=4)
    token_grid.complete(path, grid=[*declared, small])
    *before, last = token_grid.read(path)
    assert before == kept
    assert last["cell"] == token_grid.described(small)
