"""The results store: what was written comes back; forms of results, and drawings."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from matplotlib import pyplot as plt

from bookbuild.errors import BookError
from bookbuild.results import store as module
from bookbuild.results.contents import different, different_form
from bookbuild.results.drawings import serialised
from bookbuild.results.store import Store
from toy_book import Command, Toy

KEY, OTHER = "0" * 32, "1" * 32
FILES = {"notebook.ipynb": b"{}", "figures/a.svg": bytes(range(256))}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "results")
    made.put(KEY, "chapter", "paper/01_line", {"seed": 0}, FILES)
    return made


def test_a_result_comes_back_as_it_was_written(store: Store) -> None:
    stored, remark = store.get(KEY)
    assert stored is not None
    assert (stored.files, stored.origin, stored.name) == (FILES, {"seed": 0}, "paper/01_line")
    assert (remark, store.listed()) == ("", [KEY])
    assert store.get(OTHER) == (None, "")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_every_flipped_bit_and_every_cut_is_seen(store: Store, place: int, bit: int) -> None:
    whole = store.path(KEY).read_bytes()
    broken = bytearray(whole)
    broken[place % len(whole)] ^= 1 << bit
    for content in (broken, whole[: place % len(whole)]):
        store.path(KEY).write_bytes(content)
        output = f"Stored result {KEY} is damaged: set aside in set-aside, computed again."
        assert store.get(KEY) == (None, output)
        assert (store.folder / "set-aside" / f"{KEY}.result").read_bytes() == content
    store.path(KEY).write_bytes(whole)


def sealed(body: bytes) -> bytes:
    return module._digest(body) + b"\n" + body


def test_what_is_foreign_is_set_aside(store: Store) -> None:
    os.link(store.path(KEY), store.path(OTHER))
    assert "belongs to another key" in store.get(OTHER)[1]
    for body in (b"", b"{}\n", b"[]\nPK", json.dumps({"key": OTHER}).encode() + b"\nzip"):
        store.path(OTHER).write_bytes(sealed(body))
        assert "is no result of this book" in store.get(OTHER)[1]


def test_what_a_killed_writer_left_is_removed_and_a_living_one_s_is_not(store: Store) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead, living = (store.folder / f".{OTHER}.result.{pid}.part" for pid in (gone.pid, os.getpid()))
    for path in (dead, living):
        path.write_bytes(b"half")
    assert store.listed() == [KEY]
    store.check()
    assert (dead.exists(), living.exists()) == (False, True)


def test_a_write_that_fails_leaves_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
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


def test_a_folder_that_cannot_be_written_is_told_in_one_sentence(
    toy: Toy, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "mkdir", read_only)
    output = command(toy.root, "build", "--device", "cpu")
    assert "Nothing can be written here" in output
    assert "\n" not in output


def test_nothing_in_the_sources_unpickles() -> None:
    sources = sorted((Path(module.__file__).parents[2]).rglob("*.py"))
    assert len(sources) > 50
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert "pickle" not in text.replace("allow_pickle=False", ""), path
        assert "torch.load" not in text, path
        loads = [line for line in text.splitlines() if "np.load(" in line or "np.save(" in line]
        assert all("allow_pickle=False" in line for line in loads), path


def test_differences_are_found_at_their_place() -> None:
    before = {"a": {"b": [1.0, 2.0, float("nan")]}, "c": 1}
    assert different(before, {"a": {"b": [1.0, 2.0, float("nan")]}, "c": 1}, 0.0) == []
    after = {"a": {"b": [1.0, 2.01, float("nan")]}, "d": 1}
    assert different(before, after, 0.0) == [
        "a b: 2 as published, 2.01 here",
        "c: only as published",
        "d: only here",
    ]
    assert different(before["a"], after["a"], 0.01) == []
    assert different([1.0], [1.0, 2.0], 0.0) == [": of shape (1,) as published, (2,) here"]
    assert different([float("inf")], [1.0], 0.5) != []
    assert different([1.0], [float("nan")], 0.5) != []
    assert different(["x"], ["y"], 0.5) != []
    assert different({"a": [[1.0], [1.0, 2.0]]}, {"a": [[1.0], [1.0, 3.0]]}, 0.1) != []
    assert different({"a b": 1.0, "a": {"b": 2.0}}, {"a b": 1.0, "a": {"b": 3.0}}, 0.1) != []


def test_a_small_number_is_not_hidden_by_a_large_one_of_its_array() -> None:
    before = np.array([100.0, 2.0, 0.001])
    assert different(before, np.array([100.0, 2.1, 0.001]), 0.01) != []
    assert different(before, np.array([100.0, 2.0, 0.00105]), 0.01) == []


@pytest.mark.parametrize("other", [1, True, np.float64(1), np.ones(()), np.ones(1), [1.0], None])
def test_another_type_or_shape_is_another_form(other: object) -> None:
    assert different_form({"a": 1.0}, {"a": 2.0}) == []
    assert len(different_form({"a": 1.0}, {"a": other})) >= 1
    assert different_form({"a": 1, "b": 1}, {"b": 1, "a": 1}) == ["in another order"]


OPEN = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'


def test_what_matplotlib_draws_is_kept() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.plot([0, 1], [0, 1], "--", marker="o", label="a & <b>")
    left.fill_between([0, 1], [0, 1], [1, 2], hatch="//", alpha=0.3)
    left.legend(title="$\\alpha_3$")
    right.imshow(np.eye(3))
    right.hist([1, 2, 2], bins=3)
    stream = io.BytesIO()
    figure.savefig(stream, format="svg")
    plt.close(figure)
    result = serialised(stream.getvalue())
    before = etree.fromstring(stream.getvalue())
    drawn = [x.tag for x in before.iter(etree.Element) if "www.w3.org/2000/svg" in x.tag]
    kept = [x.tag for x in etree.fromstring(result).iter()]
    assert kept == [tag for tag in drawn if not tag.endswith("}metadata")]
    assert result.startswith(b"<svg ")
    assert serialised(result) == result


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE svg [<!ATTLIST svg onload CDATA "alert(1)">]>' + OPEN + "</svg>",
        f'{OPEN}<g onclick="alert(1)"/></svg>',
        f"{OPEN}<script>alert(1)</script></svg>",
        f'{OPEN}<a xlink:href="javascript:alert(1)"><path d="M 0 0"/></a></svg>',
        f'{OPEN}<use xlink:href="https://example.org/#a"/></svg>',
        f'{OPEN}<image xlink:href="data:image/svg+xml;base64,AAAA"/></svg>',
        f"{OPEN}<style>@import url(//example.org)</style></svg>",
        f"{OPEN}<style>*{{fill: u\\72l(//example.org)}}</style></svg>",
        f'{OPEN}<path style="fill: url(//example.org)"/></svg>',
        f'{OPEN}<g xml:base="https://example.org/"/></svg>',
        f"{OPEN}<foreignObject/></svg>",
        f'<?xml version="1.0"?><?xml-stylesheet href="//a"?><!-- a -->{OPEN}<!-- b --></svg>',
        f'{OPEN}<animate attributeName="href"/></svg>',
        '<svg onload="alert(1)"/>',
        "no drawing",
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + OPEN + "<g>&a;</g></svg>",
    ],
)
def test_what_could_act_is_refused_or_gone(content: str) -> None:
    result = b""
    with contextlib.suppress(BookError):
        result = serialised(content)
    assert result in (b"", f"{OPEN[:-1]}/>\n".encode(), f"{OPEN}<g/></svg>\n".encode())
