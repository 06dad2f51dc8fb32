"""Archives that were made to act: they are refused in a sentence, or they hold numbers."""

import io
import json
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookbuild.errors import BookError
from bookbuild.results import archive as archives
from bookbuild.results.archive import MANIFEST, open_archive
from bookbuild.results.values import to_files

KEY, OTHER = "0" * 32, "1" * 32
CHAPTER = {"key": KEY, "fingerprint": OTHER, "results": [KEY]}
HONEST = {
    "profile": "paper",
    "device": "cpu",
    "seed": 0,
    "commit": "abc",
    "machine": "Linux x86_64, a processor",
    "threads": 1,
    "chapters": {"paper/01_line": CHAPTER},
}
VALUES = {
    "chapters/paper/01_line": {"measures": {"slope": np.ones(3)}, "figures": {}},
    f"results/{KEY}": [np.eye(2), 1.5, {"a": [1]}],
}
Members = dict[str, bytes | None]  # None: the member is left out


def manifest(**changes: Any) -> Members:
    return {MANIFEST: json.dumps(HONEST | changes).encode()}


def structure(text: str) -> Members:
    """What a result says of its form."""
    return {f"results/{KEY}/value.json": text.encode()}


def array(content: Any) -> Members:
    """An array of a result, or bytes in its place."""
    stream = io.BytesIO()
    if not isinstance(content, bytes):
        np.save(stream, content, allow_pickle=True)
    return {f"results/{KEY}/0.npy": stream.getvalue() or content}


SOUND = manifest()
for folder, value in VALUES.items():
    SOUND |= {f"{folder}/{name}": content for name, content in to_files(value).items()}
CASES: dict[str, Members] = {
    "a page": {"chapters/paper/01_line/notebook.ipynb": b"{}"},
    "a drawing": {"chapters/paper/01_line/figures/line.svg": b"<svg onload='x'/>"},
    "a file elsewhere": {"../../.bashrc": b"x"},
    "an absolute file": {"/etc/passwd": b"x"},
    "a chapter without entry": {"chapters/paper/99_more/value.json": b"1"},
    "a chapter with another name": manifest(chapters={"../x": CHAPTER}),
    "a chapter that writes to a terminal": manifest(chapters={"\x1b[31m": {}}),
    "no chapter": manifest(chapters={}),
    "a text as result": structure('"<script>"'),
    "a text in a result": structure('{"a": ["[x]: /etc/passwd"]}'),
    "a text as name": structure('{"<img src=x onerror=y>": 1}'),
    "an array of texts": array(np.array(["<script>"])),
    "an array of objects": array(np.array([print], dtype=object)),
    "an array that is none": array(b"\x93NUMPY\x01\x00\x10\x00{'descr'(("),
    "an array that lies": {
        name: content.replace(b"(3,), }    ", b"(9999999,)}")
        for name, content in array(np.ones(3)).items()
    },
    "a deep result": structure("[" * 90_000),
    "a cut result": structure('{"a": '),
    "a missing array": structure('{"array": "7.npy"}'),
    "a file of this machine": structure('{"array": "/etc/passwd"}'),
    "a float that is none": structure('{"float": "<script>"}'),
    "many threads": manifest(threads=-1),
    "no threads": manifest(threads=None),
    "a profile of its own": manifest(profile="<b>"),
    "a seed of its own": manifest(seed="0; rm"),
    "a field of its own": manifest(order=["paper/01_line"]),
    "a key that leads out": manifest(chapters={"paper/01_line": CHAPTER | {"key": "../.."}}),
    "a machine of many lines": manifest(machine="a\n\n```{include} /etc/passwd\n```"),
    "a machine that writes to a terminal": manifest(machine="\x1b]0;x\x07"),
    "no manifest": {MANIFEST: None},
    "a manifest that is no object": {MANIFEST: b"[]"},
    "a manifest that is no JSON": {MANIFEST: b"{"},
    "a deep manifest": {MANIFEST: b"[" * 90_000},
}


def written(folder: Path, members: Members, **info: Any) -> Path:
    """An archive of these members."""
    path = folder / archives.NAME
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            if content is not None:
                member = zipfile.ZipInfo(name)
                for field, value in info.items():
                    setattr(member, field, value)
                file.writestr(member, content)
    archives._opened.cache_clear()
    return path


def read(path: Path) -> list[Any]:
    """Everything that anybody reads of an archive; BookError where it is refused."""
    archive = open_archive(path)
    archive.check()
    numbers = [archive.numbers(name) for name in archive.chapters]
    return numbers + [archive.result(fingerprint) for fingerprint in archive.results]


def is_plain(value: Any) -> bool:
    """Whether a value consists of numbers, and of names that mean nothing to a page."""
    if isinstance(value, dict):
        return all(map(is_plain, [*value, *value.values()]))
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, str):
        return value.isprintable() and not set(value) & set("<>&`[]:;$\\%#\"'=*!|~@")
    return value is None or np.asarray(value).dtype.kind in "biufc"


def is_sentence(problem: str) -> bool:
    """Whether a terminal can show a problem, and a reader read it."""
    return problem.isprintable() and problem.endswith(".") and len(problem) < 500


def test_a_sound_archive_is_read(tmp_path: Path) -> None:
    first, second = read(written(tmp_path, SOUND))
    assert first["measures"]["slope"].tolist() == [1.0, 1.0, 1.0]
    assert [second[1], second[2]] == [1.5, {"a": [1]}]


@pytest.mark.parametrize("case", CASES)
def test_what_could_act_is_refused_in_a_sentence(tmp_path: Path, case: str) -> None:
    with pytest.raises(BookError) as error:
        read(written(tmp_path, SOUND | CASES[case]))
    assert all(map(is_sentence, error.value.problems))


def test_a_member_of_another_kind_or_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    for info in ({"compress_type": zipfile.ZIP_BZIP2}, {"external_attr": stat.S_IFLNK << 16}):
        with pytest.raises(BookError):
            read(written(tmp_path, SOUND, **info))
    path = written(tmp_path, SOUND)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as file:
        file.writestr(f"results/{KEY}/value.json", "1")
    with pytest.raises(BookError, match="does not belong there"):
        read(path)


def test_what_unpacks_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBER", 2**20)
    with pytest.raises(BookError, match="is not the result of a computation"):
        read(written(tmp_path, SOUND | array(bytes(2**24))))
    monkeypatch.setattr(archives, "MOST_DIRECTORY", 100)
    with pytest.raises(BookError, match="ends in another way"):
        read(written(tmp_path, SOUND))


@settings(max_examples=1000, deadline=None, suppress_health_check=[*HealthCheck])
@given(name=st.sampled_from([*SOUND]), place=st.floats(0, 1), other=st.binary(max_size=4))
def test_what_is_changed_anywhere_is_refused_in_a_sentence_or_holds_numbers(
    tmp_path: Path, name: str, place: float, other: bytes
) -> None:
    content = SOUND[name] or b""
    at = int(place * len(content))
    path = written(tmp_path, SOUND | {name: content[:at] + other + content[at + 1 :]})
    problems: tuple[str, ...] = ()
    values: list[Any] = []
    try:
        values = read(path)
    except BookError as error:
        problems = error.problems
    assert all(map(is_sentence, problems))
    assert all(map(is_plain, values))
