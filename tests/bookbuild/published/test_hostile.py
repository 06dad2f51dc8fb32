"""Archives that were made to act: they are refused in a sentence, or they hold numbers."""

import io
import json
import random
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bookbuild.errors import BookError
from bookbuild.results import archive as archives
from bookbuild.results.archive import MANIFEST, open_archive
from bookbuild.results.values import to_files

KEY, OTHER = "0" * 32, "1" * 32
HONEST = {
    "profile": "paper",
    "device": "cpu",
    "seed": 0,
    "commit": "abc",
    "machine": "Linux x86_64, a processor",
    "threads": 1,
    "chapters": {"paper/01_line": {"key": KEY, "fingerprint": OTHER, "results": [KEY]}},
}
NUMBERS = {"measures": {"slope": np.ones(3)}, "figures": {}}
TEXTS = [
    "<script>alert(1)</script>",
    "[x]: /etc/passwd",
    "```{include} /etc/passwd\n```",
    "\x1b[31mred",
    "a\n\n:::{raw} html\n:::",
    "../" * 9 + "etc/passwd",
    "%2e%2e/%2e%2e/secret.md",
    "x" * 300,
    "",
    "ö" * 40,
]
Members = dict[str, bytes]


def honest() -> Members:
    """The members of a sound archive."""
    members = {MANIFEST: json.dumps(HONEST).encode()}
    folders = {"chapters/paper/01_line": NUMBERS, f"results/{KEY}": [np.eye(2), 1.5, {"a": [1]}]}
    for folder, value in folders.items():
        members |= {f"{folder}/{name}": content for name, content in to_files(value).items()}
    return members


def written(path: Path, members: Members, **info: Any) -> Path:
    """An archive of these members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)
            for field, value in info.items():
                setattr(member, field, value)
            file.writestr(member, content)
    return path


def read(path: Path) -> list[Any]:
    """Everything that anybody reads of an archive; BookError where it is refused."""
    archive = open_archive(path)
    archive.check()
    found = [archive.numbers(name) for name in archive.chapters]
    return found + [archive.result(fingerprint) for fingerprint in archive.results]


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


def manifest(**changes: Any) -> Callable[[Members], None]:
    """Change fields of the manifest."""

    def change(members: Members) -> None:
        members[MANIFEST] = json.dumps(HONEST | changes).encode()

    return change


def added(name: str, content: bytes = b"x") -> Callable[[Members], None]:
    """Add a member."""
    return lambda members: members.update({name: content})


def structure(text: str) -> Callable[[Members], None]:
    """Change what a result says of its form."""
    return added(f"results/{KEY}/value.json", text.encode())


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


CASES: dict[str, Callable[[Members], None]] = {
    "a page": added("chapters/paper/01_line/notebook.ipynb", b"{}"),
    "a drawing": added("chapters/paper/01_line/figures/line.svg", b"<svg onload='x'/>"),
    "a file elsewhere": added("../../.bashrc"),
    "an absolute file": added("/etc/passwd"),
    "a chapter without entry": added("chapters/paper/99_more/value.json", b"1"),
    "a chapter with another name": manifest(chapters={"../x": HONEST["chapters"]["paper/01_line"]}),
    "a chapter that writes to a terminal": manifest(chapters={"\x1b[31m": {}}),
    "no chapter": manifest(chapters={}),
    "a text as result": structure('"<script>"'),
    "a text in a result": structure('{"a": ["[x]: /etc/passwd"]}'),
    "a text as name": structure('{"<img src=x onerror=y>": 1}'),
    "an array of texts": added(f"results/{KEY}/0.npy", saved(np.array(["<script>"]))),
    "an array of objects": added(f"results/{KEY}/0.npy", saved(np.array([print], dtype=object))),
    "an array that is none": added(f"results/{KEY}/0.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr'(("),
    "an array that lies": added(
        f"results/{KEY}/0.npy",
        saved(np.ones(3)).replace(b"(3,), }    ", b"(9999999,)}"),
    ),
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
    "a key that leads out": manifest(
        chapters={"paper/01_line": {"key": "../..", "fingerprint": ""}}
    ),
    "a machine of many lines": manifest(machine="a\n\n```{include} /etc/passwd\n```"),
    "a machine that writes to a terminal": manifest(machine="\x1b]0;x\x07"),
    "no manifest": lambda members: members.pop(MANIFEST) and None,
    "a manifest that is no object": added(MANIFEST, b"[]"),
    "a manifest that is no JSON": added(MANIFEST, b"{"),
    "a deep manifest": added(MANIFEST, b"[" * 90_000),
}


def test_a_sound_archive_is_read(tmp_path: Path) -> None:
    first, second = read(written(tmp_path / archives.NAME, honest()))
    assert first["measures"]["slope"].tolist() == [1.0, 1.0, 1.0]
    assert [second[1], second[2]] == [1.5, {"a": [1]}]


@pytest.mark.parametrize("case", CASES)
def test_what_could_act_is_refused_in_a_sentence(tmp_path: Path, case: str) -> None:
    members = honest()
    CASES[case](members)
    with pytest.raises(BookError) as error:
        read(written(tmp_path / archives.NAME, members))
    assert all(map(is_sentence, error.value.problems))


@pytest.mark.parametrize(
    "info",
    [
        {"compress_type": zipfile.ZIP_BZIP2},
        {"external_attr": stat.S_IFLNK << 16},
    ],
)
def test_a_member_of_another_kind_is_refused(tmp_path: Path, info: dict[str, int]) -> None:
    with pytest.raises(BookError):
        read(written(tmp_path / archives.NAME, honest(), **info))


def test_a_member_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / archives.NAME, honest())
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as file:
        file.writestr(f"results/{KEY}/value.json", "1")
    with pytest.raises(BookError, match="does not belong there"):
        read(path)


def test_what_unpacks_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBER", 2**20)
    members = honest() | {f"results/{KEY}/0.npy": bytes(2**24)}
    with pytest.raises(BookError, match="is not the result of a computation"):
        read(written(tmp_path / archives.NAME, members))
    monkeypatch.setattr(archives, "MOST_DIRECTORY", 100)
    with pytest.raises(BookError, match="ends in another way"):
        read(written(tmp_path / "listed.zip", honest()))


def mutated(dice: random.Random) -> Members:
    """The members of an archive with something in it that is not as it should be."""
    members = honest()
    names = list(members)
    for _ in range(dice.randint(1, 3)):
        name = dice.choice(names)
        content = members.get(name, b"")
        match dice.randrange(7):
            case 0:
                place = dice.randrange(len(content) or 1)
                changed = bytes([dice.randrange(256) for _ in range(dice.randint(1, 4))])
                members[name] = content[:place] + changed + content[place + len(changed) :]
            case 1:
                members[name] = content[: dice.randrange(len(content) or 1)]
            case 2:
                members[dice.choice(TEXTS) or "x"] = content
            case 3:
                field = dice.choice([*HONEST, "more"])
                value = dice.choice([*TEXTS, None, -1, 2**70, 1e400, [], {}, True, [{}]])
                members[MANIFEST] = json.dumps(HONEST | {field: value}).encode()
            case 4:
                members[f"results/{KEY}/value.json"] = json.dumps(
                    dice.choice([{"array": t} for t in TEXTS] + [{t: 1} for t in TEXTS] + TEXTS)
                ).encode()
            case 5:
                shape = [dice.randint(-2, 9) for _ in range(dice.randint(0, 5))]
                text = f"{{'descr': '{dice.choice(['<f8', '|O', '<U9', 'V8'])}', 'fortran_order': "
                text += f"False, 'shape': ({', '.join(map(str, shape))},)}}\n"
                header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
                members[f"results/{KEY}/0.npy"] = header + bytes(dice.randrange(64))
            case 6:
                members.pop(name, None)
    return members


def test_of_ten_thousand_generated_archives_none_acts_or_ends_in_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    honestly = open
    monkeypatch.setattr(
        "builtins.open", lambda file, *a, **k: opened.append(str(file)) or honestly(file, *a, **k)
    )
    dice, refused, odd = random.Random(0), 0, []
    for _ in range(10_000):
        path = written(tmp_path / archives.NAME, mutated(dice))
        archives._opened.cache_clear()
        try:
            found = read(path)
        except BookError as error:
            refused += 1
            odd += [problem for problem in error.problems if not is_sentence(problem)]
        else:
            assert all(map(is_plain, found)), found
    assert odd == []
    assert refused > 5000
    assert {Path(name).parent for name in opened} <= {tmp_path, archives.SCHEMA.parent}
