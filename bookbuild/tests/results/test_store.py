"""The results store: what was written comes back, whole or not at all."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookbuild.errors import BookError
from bookbuild.results import store as module
from bookbuild.results.store import Store

KEY, OTHER = "0" * 32, "1" * 32
FILES = {"notebook.ipynb": b"{}", "figures/a.svg": bytes(range(256))}


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "results")
    made.put(KEY, "chapter", "paper/01_line", {"seed": 0}, FILES)
    return made


def test_a_result_comes_back_as_it_was_written(store):
    stored, remark = store.get(KEY)
    assert stored is not None
    assert (stored.files, stored.origin, stored.name) == (FILES, {"seed": 0}, "paper/01_line")
    assert (remark, store.listed()) == ("", [KEY])
    assert store.get(OTHER) == (None, "")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_every_flipped_bit_and_every_cut_is_seen(store, place, bit):
    whole = store.path(KEY).read_bytes()
    broken = bytearray(whole)
    broken[place % len(whole)] ^= 1 << bit
    for content in (broken, whole[: place % len(whole)]):
        store.path(KEY).write_bytes(content)
        output = f"Stored result {KEY} is damaged: set aside in set-aside, computed again."
        assert store.get(KEY) == (None, output)
        assert (store.folder / "set-aside" / f"{KEY}.result").read_bytes() == content
    store.path(KEY).write_bytes(whole)


def sealed(body):
    return module._digest(body) + b"\n" + body


def test_what_is_foreign_is_set_aside(store):
    os.link(store.path(KEY), store.path(OTHER))
    assert "belongs to another key" in store.get(OTHER)[1]
    for body in (b"", b"{}\n", b"[]\nPK", json.dumps({"key": OTHER}).encode() + b"\nzip"):
        store.path(OTHER).write_bytes(sealed(body))
        assert "is no result of this book" in store.get(OTHER)[1]


def test_what_a_killed_writer_left_is_removed_and_a_living_one_s_is_not(store):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead, living = (store.folder / f".{OTHER}.result.{pid}.part" for pid in (gone.pid, os.getpid()))
    for path in (dead, living):
        path.write_bytes(b"half")
    assert store.listed() == [KEY]
    store.check()
    assert (dead.exists(), living.exists()) == (False, True)


def test_a_write_that_fails_leaves_what_was_there(store, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BookError) as caught:
        store.put(KEY, "chapter", "paper/01_line", {"seed": 1}, FILES)
    (told,) = caught.value.problems
    start = "The result of paper/01_line could not be kept: no space left on device; it takes "
    assert re.fullmatch(re.escape(start) + r"\d+ bytes\.", told)
    with pytest.raises(BookError, match=r"No result can be kept in .*: no space left on device"):
        store.check()
    monkeypatch.undo()
    stored, _ = store.get(KEY)
    assert stored is not None
    assert stored.origin == {"seed": 0}
    assert [path.name for path in store.folder.iterdir()] == [f"{KEY}.result"]


def test_a_folder_that_cannot_be_written_is_told_in_one_sentence(toy, command, monkeypatch):
    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "mkdir", read_only)
    output = command(toy.root, "build", "--device", "cpu")
    assert "Nothing can be written here" in output
    assert "\n" not in output


def test_nothing_in_the_sources_unpickles():
    sources = sorted((Path(module.__file__).parents[2]).rglob("*.py"))
    assert len(sources) > 50
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert "pickle" not in text.replace("allow_pickle=False", ""), path
        assert "torch.load" not in text, path
        loads = [line for line in text.splitlines() if "np.load(" in line or "np.save(" in line]
        assert all("allow_pickle=False" in line for line in loads), path
