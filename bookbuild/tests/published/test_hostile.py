"""What is compared, and forged archives: each is refused, differs, or lends the honest bytes."""

import io
import json
import stat
import sys
import zipfile
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bookbuild.errors import BookError
from bookbuild.published.verify import compare, different
from bookbuild.results import archive as archives
from bookbuild.results.archive import MANIFEST, open_archive
from bookbuild.results.values import to_files

KEY, OTHER = "0" * 32, "1" * 32
# of members of an archive, None stands for one that is left out
LENT, MEASURED = f"results/{KEY}", "chapters/paper/01_line"
CHAPTER = {"fingerprint": OTHER, "results": [KEY]}
ABOUT = {
    **{"profile": "paper", "device": "cpu", "seed": 0, "commit": "abc"},
    **{"machine": "Linux x86_64, a processor", "chapters": {"paper/01_line": CHAPTER}},
}
REST = {"loss": np.array([0.0, 1.5, np.nan]), "n": [1, True, None], "x": 2.0}
VALUE = {"a": {"b": 1.0}, **REST}
HONEST = {
    MEASURED: to_files({"measures": {"slope": np.ones(3)}, "figures": {}}),
    LENT: to_files(VALUE | {"last": np.float64(0.0), "name": "mean of W2"}),
}
SOUND = {f"{at}/{name}": x for at, files in HONEST.items() for name, x in files.items()}
SOUND |= {MANIFEST: json.dumps(ABOUT, indent=1).encode()}
NOTHING = {f"{LENT}/{name}": None for name in HONEST[LENT]}
TEXT, BLOCK = HONEST[LENT]["value.json"].decode(), f"{LENT}/0.npy"


def about(**changes):
    return {MANIFEST: json.dumps(ABOUT | changes, indent=1).encode()}


def listing(results):
    return about(chapters={"paper/01_line": CHAPTER | {"results": results}})


def lent(value):
    """Another value in place of the one that is lent, written as this book writes it."""
    return NOTHING | {f"{LENT}/{name}": content for name, content in to_files(value).items()}


def text(old, new):
    """The structure of what is lent, spelled in another way."""
    assert old in TEXT
    return {f"{LENT}/value.json": TEXT.replace(old, new, 1).encode()}


def array(content, **how):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, content, **how)
    return {BLOCK: stream.getvalue()}


LOSS = VALUE["loss"]
BLOCKS = HONEST[LENT]["0.npy"] + b"<script>", b"\x93NUMPY\x01\x00\x10\x00{'descr'((", b"\x80\x04K."
TWICE, LINK, BZIP2 = (zipfile.ZipInfo(BLOCK) for _ in range(3))
LINK.external_attr, BZIP2.compress_type = stat.S_IFLNK << 16, zipfile.ZIP_BZIP2
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
FIELDS = {
    **{"profile": ("<b>",), "seed": ("0; rm", -1), "order": ([],), "device": (1,)},
    "machine": ("a\n\n```{include} /etc/passwd", "\x1b]0;x\x07"),
    "commit": ("<script>",),
    "chapters": ({}, [], *({x: CHAPTER} for x in ("../x", "\x1b[31m", "paper/01_lost"))),
}
LISTED = ([], [KEY, OTHER], [KEY, "../.."], [[]] * 99)
CASES = {
    **{f"dtype {x}": array(np.nan_to_num(LOSS).astype(x)) for x in DTYPES.split()},
    **{f"shape {x}": array(LOSS.reshape(x)) for x in ((1, 3), (3, 1), (3, 1, 1))},
    **{f"number {x}": array(np.array([x, 1.5, np.nan])) for x in (-0.0, 5e-324, np.nan, np.inf)},
    **{f"array {len(x)}": array(np.array(x)) for x in ([], [0.0], [0.0, 1.5, np.nan, 1.0])},
    "sign of a NaN": array(np.copysign(LOSS, [1, 1, -1])),
    "version 2": array(LOSS, version=(2, 0)),
    "Fortran order": array(np.asfortranarray(np.ones((3, 2)))),
    "records": array(np.zeros(3, dtype=[("a", "f8"), ("b", "S8")])),
    **{
        f"header {x}": {BLOCK: HONEST[LENT]["0.npy"].replace(b"(3,), }     ", x.encode())}
        for x in ["(99999999,)}", "(3, ), }    ", "(exit(),), }", "(-3,), }    ", "(True, 3)}  "]
    },
    **{f"block {x[-8:]!r}": {BLOCK: x} for x in BLOCKS},
    **{f"spelled {new}": text(old, new) for old in SPELLINGS for new in SPELLINGS[old].split("|")},
    **{f"{x} deep": text("[1, true, null]", "[" * x + "]" * x) for x in (21, 90_000)},
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
    **{f"{field} {x!r:.20}": about(**{field: x}) for field in FIELDS for x in FIELDS[field]},
    **{f"listed {len(x)} {x[-1:]!r:.9}": listing(x) for x in LISTED},
    "a member twice": {TWICE: SOUND[BLOCK]},
    "a link": {BLOCK: None, LINK: SOUND[BLOCK]},
    "another compression": {BLOCK: None, BZIP2: SOUND[BLOCK]},
}


def written(folder, members):
    path = folder / archives.NAME
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            if content is not None:
                file.writestr(name, content)
    return path


def read(path, honest=HONEST):
    """How an archive compares with honest files, and whether a build reads just these of it."""
    archives._opened.cache_clear()
    try:
        archive = open_archive(path)
        archive.check()
    except BookError as error:
        bad = [x for x in error.problems if not (x.isprintable() and x[-1] == "." and len(x) < 500)]
        return f"refused {bad}" if bad else "refused", False
    pairs = [(folder, archive.files(folder), honest.get(folder)) for folder in archive.members]
    return compare(pairs)[0], all(files == known for _, files, known in pairs)


def test_the_honest_archive_is_equal_and_one_with_more_behind_it_is_not(tmp_path):
    path = written(tmp_path, SOUND)
    assert read(path) == ("equal", True)
    path.write_bytes(path.read_bytes() + b"more")
    assert read(path)[0] == "refused"
    assert len(CASES) > 100


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:Duplicate name", "ignore:Stored array")
def test_a_forged_archive_is_refused_or_differs(tmp_path, case):
    assert read(written(tmp_path, SOUND | CASES[case]))[0] in ("refused", "agrees", "differs")


KINDS, SHAPES = ["f8", "f4", "f2", "i8", "?"], arrays.array_shapes(min_side=0, max_side=2)
LEAVES = st.sampled_from([0.0, -0.0, 0, False, None, "0", 1, 1.0, True]) | st.floats()
LEAVES |= arrays.arrays(st.sampled_from(KINDS), SHAPES)
MANY = settings(max_examples=300, deadline=None, suppress_health_check=[*HealthCheck])
NAMES = st.sampled_from(["a", "b", "a b", "1"])
VALUES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(NAMES, x, max_size=3), max_leaves=6
)


@MANY
@given(one=VALUES, other=VALUES)
def test_two_archives_that_lend_different_bytes_are_never_equal(tmp_path, one, other):
    grade, same = read(written(tmp_path, SOUND | lent(one)), HONEST | {LENT: to_files(other)})
    assert (grade == "equal") == same == (to_files(one) == to_files(other))


@MANY
@given(name=st.sampled_from([*SOUND]), place=st.floats(0, 1), other=st.binary(max_size=4))
def test_what_is_changed_anywhere_is_refused_or_differs_or_lends_the_same(
    tmp_path, name, place, other
):
    content = SOUND[name] or b""
    at = int(place * len(content))
    grade, same = read(written(tmp_path, SOUND | {name: content[:at] + other + content[at + 1 :]}))
    assert grade in ("refused", "agrees", "differs") or (grade, same) == ("equal", True)


def fat(kind):
    """A small archive that unpacks to much: arrays of zeros, or lists of many things."""
    if kind == "manifest":
        return listing([[]] * 150_000)
    keys = [f"{number:032x}" for number in range(7 if kind == "arrays" else 15)]
    text = f"[{', '.join([kind] * (2**20 // (len(kind) + 3)))}]".encode()
    one = to_files(np.zeros(2**23 - 64)) if kind == "arrays" else {"value.json": text}
    return NOTHING | listing(keys) | {f"results/{k}/{n}": x for k in keys for n, x in one.items()}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells the peak of a program")
@pytest.mark.parametrize("kind", ["arrays", "manifest", "[]", "{}", "0", '"a"', '{"float": "nan"}'])
def test_an_archive_of_a_megabyte_takes_less_than_a_gigabyte(tmp_path, kind):
    path = written(tmp_path, SOUND | fat(kind))
    assert path.stat().st_size < 2**20
    before = psutil.Process().memory_info().rss
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    read(path)
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
    assert 2**10 * peak - before < 0.75 * 2**30  # the rest is for the program


@pytest.mark.parametrize("limit", ["BYTES", "RESULT", "JSON", "TEXT", "DIRECTORY"])
def test_what_unpacks_to_more_than_there_should_be_is_refused(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(archives, f"MOST_{limit}", 100)
    assert read(written(tmp_path, SOUND))[0] == "refused"


def test_the_first_faults_are_told_and_how_many_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_FAULTS", 1)
    bad = {f"{folder}/value.json": b"1.5" for folder in HONEST}
    with pytest.raises(BookError, match="There are 2 such faults") as caught:
        open_archive(written(tmp_path, SOUND | bad)).check()
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("published", "here"),
    [
        *(([1.0], [x]) for x in (1.02, np.inf, np.nan)),
        *((1.0, x) for x in (1, True, np.float64(1), np.ones(()), np.ones(1), [1.0], None, "x")),
        ({"a": [[1.0], [1.0, 2.0]]}, {"a": [[1.0], [1.0, 3.0]]}),
        ({"a b": 1.0, "a": {"b": 2.0}}, {"a b": 1.0, "a": {"b": 3.0}}),
        ({"b": 1, "a": 1}, {"a": 1, "b": 1}),
        ([100.0, 2.0, 0.001], [100.0, 2.1, 0.001]),  # not hidden by the large one
        ("x", "y"),
    ],
)
def test_what_is_apart_or_of_another_form_differs(published, here):
    grade, _, lines = compare([("x", to_files(published), to_files(here))])
    assert grade == "differs"
    assert lines


def test_differences_are_told_at_their_place():
    published = {"a": {"b": [1.0, 2.0, np.nan]}, "c": 1}
    here = {"a": {"b": [1.0, 2.01, np.nan]}, "d": 1}
    assert different(published, published, 0.0) == different(published["a"], here["a"], 0.01) == []
    lines = ["a b: 2 as published, 2.01 here", "c: only as published", "d: only here"]
    assert different(published, here, 0.0) == lines
    assert different([1.0], [1.0, 2.0], 0.0) == [": of shape (1,) as published, (2,) here"]
    near = [to_files([100.0, 2.0, small]) for small in (0.001, 0.00105)]
    assert compare([("x", *near)]) == ("agrees", 3, [])
