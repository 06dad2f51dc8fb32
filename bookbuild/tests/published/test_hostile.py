"""Forged archives: each is refused in a sentence, differs, or lends the honest bytes."""

import io
import json
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bookbuild.errors import BookError
from bookbuild.published.verify import compare
from bookbuild.results import archive as archives
from bookbuild.results.archive import MANIFEST, Files, open_archive
from bookbuild.results.values import to_files

Members = dict[str, bytes | None]  # None: the member is left out
KEY, OTHER = "0" * 32, "1" * 32
LENT, MEASURED = f"results/{KEY}", "chapters/paper/01_line"
CHAPTER = {"fingerprint": OTHER, "results": [KEY]}
ABOUT = {
    **{"profile": "paper", "device": "cpu", "seed": 0, "commit": "abc"},
    **{"machine": "Linux x86_64, a processor", "chapters": {"paper/01_line": CHAPTER}},
}
REST = {"loss": np.array([0.0, 1.5, np.nan]), "n": [1, True, None], "x": 2.0}
VALUE: dict[str, Any] = {"a": {"b": 1.0}, **REST}
HONEST = {
    MEASURED: to_files({"measures": {"slope": np.ones(3)}, "figures": {}}),
    LENT: to_files(VALUE | {"last": np.float64(0.0), "name": "mean of W2"}),
}
SOUND: Members = {f"{at}/{name}": x for at, files in HONEST.items() for name, x in files.items()}
SOUND |= {MANIFEST: json.dumps(ABOUT, indent=1).encode()}
NOTHING: Members = {name: None for name in SOUND if name.startswith(LENT)}
TEXT, BLOCK = HONEST[LENT]["value.json"].decode(), f"{LENT}/0.npy"


def about(**changes: Any) -> Members:
    return {MANIFEST: json.dumps(ABOUT | changes, indent=1).encode()}


def listing(results: list[Any]) -> dict[str, Any]:
    """The chapters of a manifest, with these results of the only one."""
    return {"paper/01_line": CHAPTER | {"results": results}}


def lent(value: Any) -> Members:
    """Another value in place of the one that is lent, written as this book writes it."""
    return NOTHING | {f"{LENT}/{name}": content for name, content in to_files(value).items()}


def text(old: str, new: str) -> Members:
    """The structure of what is lent, spelled in another way."""
    assert old in TEXT
    return {f"{LENT}/value.json": TEXT.replace(old, new, 1).encode()}


def array(content: Any, **how: Any) -> Members:
    """An array in the place of one that is lent, as numpy writes it."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, content, **how)
    return {BLOCK: stream.getvalue()}


LOSS = VALUE["loss"]
DTYPES = "i1 i2 i4 i8 u1 u8 f2 f4 g c8 c16 G >f8 >i4 ? S3 U3 O V8 m8[s] M8[s]"
MEMBERS = f"""../../.bashrc /etc/passwd results/ {LENT}/value.json/ {LENT}/x.npy {LENT}/0000000.npy
{LENT}/7.npy {MEASURED}/notebook.ipynb {MEASURED}/figures/line.svg {MEASURED}/0.svg ./{LENT}/0.npy
chapters/99/value.json chapters/a/b/c/d/value.json results/{OTHER}/value.json {LENT.upper()}/0"""
SPELLINGS = {  # of what stands in the structure, with | between
    '"0x1.0000000000000p+0"': '"0x1p0"|"1.0"|"0X1.0000000000000P+0"|"inf"|"-nan"|"NaN"|1|"<b>"|[]',
    '{"float": "0x1.0000000000000p+0"}': '1.0|1|true|"1"|[1]|{"float": "0x1.0000000000001p+0"}',
    "[1, true, null]": "[true, 1, null]|[1, 1, null]|[1, true, NaN]|[1, true, -0]|[1., true, null]",
    "1, true, null": "1, true|1,true,null|1, true, null, null|01, true, null|1, true, null,",
    '"0.npy"': '"1.npy"|"/etc/passwd"|["0.npy"]|0',
    '{"scalar": "1.npy"}': '{"array": "1.npy"}|{"array": "0.npy"}|{"scalar": "0.npy"}',
    '"a": {"b"': '"a b": {"b"|"a": 1, "a": {"b"|"\\u0061": {"b"|"<img>": {"b"|"\\u0430": {"b"',
    "mean of W2": "mean of W3|[x]: /etc/passwd|\\u001b[31m|Mean of W2|mean of W2 ",
    "{": "\ufeff{| {|[",
}
FIELDS: list[tuple[str, Any]] = [("profile", "<b>"), ("seed", "0; rm"), ("seed", -1)]
FIELDS += [("order", []), ("device", 1)]
FIELDS += [("machine", "a\n\n```{include} /etc/passwd"), ("machine", "\x1b]0;x\x07")]
FIELDS += [("commit", "<script>"), ("chapters", {}), ("chapters", [])]
FIELDS += [("chapters", {name: CHAPTER}) for name in ("../x", "\x1b[31m", "paper/01_lost")]
LISTED: list[list[Any]] = [[], [KEY, OTHER], [KEY, "../.."], [[]] * 99]
FIELDS += [("chapters", listing(results)) for results in LISTED]
CASES: dict[str, Members] = {
    **{f"dtype {x}": array(np.nan_to_num(LOSS).astype(x)) for x in DTYPES.split()},
    **{f"shape {x}": array(LOSS.reshape(x)) for x in ((1, 3), (3, 1), (3, 1, 1))},
    **{f"number {x}": array(np.array([x, 1.5, np.nan])) for x in (-0.0, 5e-324, np.nan, np.inf)},
    **{f"array {len(x)}": array(np.array(x)) for x in ([], [0.0], [0.0, 1.5, np.nan, 1.0])},
    "sign of a NaN": array(np.copysign(LOSS, [1, 1, -1])),
    "version 2": array(LOSS, version=(2, 0)),
    "Fortran order": array(np.asfortranarray(np.ones((3, 2)))),
    "records": array(np.zeros(3, dtype=[("a", "f8"), ("b", "S8")])),
    "bytes behind an array": {BLOCK: HONEST[LENT]["0.npy"] + b"<script>"},
    **{
        f"header {x}": {BLOCK: HONEST[LENT]["0.npy"].replace(b"(3,), }     ", x.encode())}
        for x in ["(99999999,)}", "(3, ), }    ", "(exit(),), }", "(-3,), }    ", "(True, 3)}  "]
    },
    "a cut header": {BLOCK: b"\x93NUMPY\x01\x00\x10\x00{'descr'(("},
    "a pickle": {BLOCK: b"\x80\x04K\x00."},
    **{f"spelled {new}": text(old, new) for old in SPELLINGS for new in SPELLINGS[old].split("|")},
    "21 deep": text("[1, true, null]", "[" * 21 + "]" * 21),
    "90,000 deep": text("[1, true, null]", "[" * 90_000),
    "many digits": text("[1, true, null]", f"[{'9' * 5000}]"),
    "names joined by a blank": lent({"a b": 1.0, **REST}),
    "a name that shadows": lent(VALUE | {"a b": 2.0, "loss 1": 0.0}),
    "another order": lent(dict(reversed(VALUE.items()))),
    "numbers as names": lent(VALUE | {"n": {"1": 1, "2": True, "3": None}}),
    "a list for an array": lent(VALUE | {"loss": LOSS.tolist()}),
    **{f"without {name}": {name: None} for name in SOUND},
    **{f"member {name}": {name: b"1"} for name in MEMBERS.split()},
    **{f"manifest {x[:6]!r}": {MANIFEST: x} for x in (b"[]", b"{", b"[" * 90_000, b"\xff")},
    "a field twice": {MANIFEST: (SOUND[MANIFEST] or b"").replace(b"{", b'{\n "seed": 7,', 1)},
    **{f"{field} {value!r:.20}": about(**{field: value}) for field, value in FIELDS},
}


def written(folder: Path, members: Members, **info: Any) -> Path:
    """An archive of these members."""
    path = folder / archives.NAME
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            if content is not None:
                member = zipfile.ZipInfo(name)
                member.compress_type = zipfile.ZIP_DEFLATED
                for field, value in info.items():
                    setattr(member, field, value)
                file.writestr(member, content)
    archives._opened.cache_clear()
    return path


def read(path: Path, honest: dict[str, Files] = HONEST) -> tuple[str, bool]:
    """How an archive compares with honest files, and whether a build reads just these of it.

    It is *refused* with sentences that a terminal can show, and a reader read.
    """
    lends: list[bool] = []

    def pairs() -> Iterator[tuple[str, Files, Files | None]]:
        for folder in archive.members:
            files = archive.files(folder)
            lends.append(files == honest.get(folder))
            yield folder, files, honest.get(folder)

    try:
        archive = open_archive(path)
        archive.check()
    except BookError as error:
        bad = [x for x in error.problems if not (x.isprintable() and x[-1] == "." and len(x) < 500)]
        return f"refused {bad}" if bad else "refused", False
    return compare(pairs())[0], all(lends)


def test_the_honest_archive_is_equal(tmp_path: Path) -> None:
    assert read(written(tmp_path, SOUND)) == ("equal", True)
    assert len(CASES) > 100


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:Duplicate name", "ignore:Stored array")
def test_a_forged_archive_is_refused_or_differs(tmp_path: Path, case: str) -> None:
    assert read(written(tmp_path, SOUND | CASES[case]))[0] in ("refused", "agrees", "differs")


def test_a_member_of_another_kind_or_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    for info in ({"compress_type": zipfile.ZIP_BZIP2}, {"external_attr": stat.S_IFLNK << 16}):
        assert read(written(tmp_path, SOUND, **info))[0] == "refused"
    path = written(tmp_path, SOUND)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as file:
        file.writestr(f"{LENT}/value.json", "1")
    assert read(path)[0] == "refused"
    path.write_bytes(written(tmp_path, SOUND).read_bytes() + b"more")
    assert read(path)[0] == "refused"


LEAVES = (
    st.sampled_from([0.0, -0.0, 0, False, None, "0", 1, 1.0, True])
    | st.floats()
    | arrays.arrays(
        st.sampled_from(["f8", "f4", "f2", "i8", "?"]), arrays.array_shapes(min_side=0, max_side=2)
    )
)
NAMES = st.sampled_from(["a", "b", "a b", "1"])
VALUES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(NAMES, x, max_size=3), max_leaves=6
)


@settings(max_examples=300, deadline=None, suppress_health_check=[*HealthCheck])
@given(one=VALUES, other=VALUES)
def test_two_archives_that_lend_different_bytes_are_never_equal(
    tmp_path: Path, one: object, other: object
) -> None:
    grade, same = read(written(tmp_path, SOUND | lent(one)), HONEST | {LENT: to_files(other)})
    assert (grade == "equal") == same == (to_files(one) == to_files(other))


@settings(max_examples=300, deadline=None, suppress_health_check=[*HealthCheck])
@given(name=st.sampled_from([*SOUND]), place=st.floats(0, 1), other=st.binary(max_size=4))
def test_what_is_changed_anywhere_is_refused_or_differs_or_lends_the_same(
    tmp_path: Path, name: str, place: float, other: bytes
) -> None:
    content = SOUND[name] or b""
    at = int(place * len(content))
    grade, same = read(written(tmp_path, SOUND | {name: content[:at] + other + content[at + 1 :]}))
    assert grade in ("refused", "agrees", "differs") or (grade, same) == ("equal", True)


def fat(kind: str) -> Members:
    """A small archive that unpacks to much: arrays of zeros, or lists of many things."""
    keys = [f"{number:032x}" for number in range(7 if kind == "arrays" else 15)]
    one = {"value.json": f"[{', '.join([kind] * (2**20 // (len(kind) + 3)))}]".encode()}
    if kind == "arrays":
        one = to_files(np.zeros(2**23 - 64))
    if kind == "manifest":
        return about(chapters=listing([[]] * 150_000))
    files: Members = {f"results/{key}/{name}": x for key in keys for name, x in one.items()}
    return NOTHING | about(chapters=listing(keys)) | files


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells the peak of a program")
def test_an_archive_of_a_megabyte_takes_less_than_a_gigabyte(tmp_path: Path) -> None:
    for kind in ("arrays", "manifest", "[]", "{}", "0", '"a"', '{"float": "nan"}'):
        (tmp_path / kind).mkdir()
        assert written(tmp_path / kind, SOUND | fat(kind)).stat().st_size < 2**20
    done = subprocess.run([sys.executable, __file__, tmp_path], capture_output=True, text=True)
    assert int(done.stdout.splitlines()[-1]) < 2**20, done.stdout + done.stderr  # in kilobytes


@pytest.mark.parametrize("limit", [x for x in vars(archives) if x.startswith("MOST_")])
def test_what_unpacks_to_more_than_there_should_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(archives, limit, 100 if limit != "MOST_FAULTS" else 10)
    grade, _ = read(written(tmp_path, SOUND))
    assert grade == ("equal" if limit == "MOST_FAULTS" else "refused")


def test_the_first_faults_are_told_and_how_many_there_are(tmp_path: Path) -> None:
    keys = [f"{number:032x}" for number in range(25)]
    bad: Members = {f"results/{key}/value.json": b"1.5" for key in keys}
    path = written(tmp_path, SOUND | NOTHING | about(chapters=listing(keys)) | bad)
    with pytest.raises(BookError) as caught:
        open_archive(path).check()
    assert len(caught.value.problems) == 11
    assert caught.value.problems[-1] == "There are 25 such faults."


if __name__ == "__main__":  # what the test of memory executes
    for place in sorted(Path(sys.argv[1]).iterdir()):
        print(place.name, read(place / archives.NAME))
    print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
