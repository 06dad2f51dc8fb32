"""The pipeline on the toy book: what is executed, what is kept, what fails and how."""

import importlib.metadata
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from jsonschema import Draft202012Validator

from bookbuild.errors import BookError
from bookbuild.ledger.claims import SCHEMA as ROWS
from bookbuild.results.store import Store
from bookbuild.schema import faults, load
from bookbuild.source.book import SCHEMA as BOOK
from bookbuild.source.chapters import FRONT_SCHEMA
from bookbuild.source.chapters import SCHEMA as CHAPTER
from toy_book import LINE, SQUARE

PAGE, CLAIMS = f"book/{LINE}.md", "data/claims.yml"


def page(toy, name):
    return (toy.settings().site / "book" / f"{name}.html").read_text(encoding="utf-8")


def site(toy):
    folder = toy.settings().site
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def path_of(toy, name):
    return Store(toy.settings().results).path(toy.key(name))


def test_the_first_build_makes_a_judged_site(built_once):
    toy, result = built_once
    assert toy.started() == {LINE, SQUARE}
    assert {finding.claim.id: finding.verdict for finding in result.findings} == {
        "line-slope": "reproduced",
        "line-is-endless": "not testable here",
        "square-of-three": "contradicted",
    }
    contradicted = 'verdicts.html?kind=new&amp;verdict=contradicted"><b>1</b> contra'
    reproduced = 'verdicts.html?kind=paper&amp;verdict=reproduced"><b>1</b> repro'
    for name, *texts in (
        (
            LINE,
            "The slope is 2.00 for every seed, and the square 9.",
            "profile paper · device cpu · seed 0",
        ),
        (LINE, 'id="measure-slope"'),
        ("index", contradicted, reproduced),
        ("verdicts", contradicted, reproduced, 'href="paper/01_line.html#measure-slope"'),
        (SQUARE, "<summary>How this figure was made</summary>"),
        (SQUARE, f'srcset="../../figures/{SQUARE}/fig-square_narrow.svg"'),
        (SQUARE, "Theorem 1.1 </span> (Squares grow)", "Lemma 1.2 </span>", ">Theorem 1.1</a>"),
        (SQUARE, "chapter 1 of", "incollection"),
    ):
        assert all(text in page(toy, name) for text in texts), name
    assert "Fig. 1" not in page(toy, SQUARE)
    figures = toy.settings().site / "figures" / SQUARE
    assert all((figures / f"fig-square{ending}.svg").is_file() for ending in ("", "_narrow"))


def test_two_builds_from_the_same_results_are_the_same_bytes(toy):
    """No file is excepted, and a prose edit reaches the page without execution."""
    first = site(toy)
    toy.build()
    second = site(toy)
    assert {name for name in first.keys() | second if first.get(name) != second.get(name)} == set()
    toy.edit(PAGE, "for every seed", "for each and every seed")
    result = toy.build()
    assert (result.executed, result.cached, toy.started()) == (0, 2, set())
    assert "for each and every seed" in page(toy, LINE)


def test_warnings_fail_a_build_all_at_once_and_leave_the_earlier_site(toy):
    before = site(toy)
    for name, lost in ((LINE, "nowhere"), (SQUARE, "anywhere")):
        with (toy.root / "book" / f"{name}.md").open("a", encoding="utf-8") as stream:
            stream.write(f"\nSee {{ref}}`{lost}`.\n")
    with pytest.raises(BookError, match=r"(?s)nowhere.*anywhere|anywhere.*nowhere"):
        toy.build()
    assert site(toy) == before


@pytest.mark.parametrize(
    ("path", "old", "new", "changed"),
    [
        ("src/toy/square.py", "x * x", "x**2", {SQUARE}),
        ("src/toy/__init__.py", "package.", 'package."""\nprint("""', {LINE, SQUARE}),
        ("data/points.csv", "4.0", "5.0", {LINE}),
        (PAGE, "slopes(points)", "slopes(points[:2])", {LINE}),
        (PAGE, "# A line", "# A straight line", set()),
        (PAGE, "The slope is", "It is", set()),
        (PAGE, ":.2f", ":.3f", {LINE}),
    ],
)
def test_keys_change_with_what_a_chapter_depends_on(toy, path, old, new, changed):
    before = {name: toy.key(name) for name in (LINE, SQUARE)}
    toy.edit(path, old, new)
    assert {name for name in before if toy.key(name) != before[name]} == changed


def test_keys_change_with_the_parameters_and_the_versions_of_what_is_imported_alone(
    toy, monkeypatch
):
    others = ({}, {"seed": 1}, {"profile": "smoke"}, {"changes": {"n": 2}}, {"changes": {"n": 3}})
    keys = [toy.key(LINE, **x) for x in others]
    assert len({*keys, toy.key(LINE, device="cuda"), toy.key(LINE, jobs=1, timeout=5)}) == 6
    every, version = {LINE, SQUARE}, importlib.metadata.version
    toy.append(SQUARE, "import sympy")
    before = {name: toy.key(name) for name in every}
    for package, changed in (("sympy", {SQUARE}), ("torch", set()), ("myst-nb", every)):
        monkeypatch.setattr(
            "bookbuild.reporting.provenance.version",
            lambda name, package=package: "99" if name == package else version(name),
        )
        assert {name for name in before if toy.key(name) != before[name]} == changed


@pytest.mark.usefixtures("without_site")
def test_an_edit_during_a_build_does_not_reach_its_chapters(toy):
    edit = f"path = Path('{toy.root}/src/toy/line.py')\n"
    edit += "path.write_text(path.read_text().replace('2.0 * point', '3.0 * point'))"
    toy.edit(PAGE, "from toy import line", f"{edit}\nfrom toy import line")
    assert toy.build().findings[0].verdict == "reproduced"
    assert "3.0 * point" in (toy.root / "src/toy/line.py").read_text(encoding="utf-8")
    assert toy.build().findings[0].verdict == "contradicted"  # under a key of its own
    assert toy.started() == {LINE}


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("hidden = 1\nraise KeyError('lost')", "KeyError: 'lost'"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "its kernel died"),
        ("import time\ntime.sleep(60)", "it took longer than the time-out of 3 s"),
        (
            "from bookbuild import check\ncheck('x', float('nan'), at_most=1)",
            "ValueError: measure 'check_x' is not a number (NaN)",
        ),
    ],
    ids=["error", "killed", "time-out", "nan"],
)
def test_a_failed_cell_is_named_and_the_notebook_kept(toy, code, cause):
    toy.append(LINE, code)
    toy.append(LINE, "print('never')")
    toy.edit("src/toy/square.py", "x * x", "x**2")
    with pytest.raises(BookError) as caught:
        toy.build(timeout=3)
    first = code.partition("\n")[0]
    assert caught.value.problems == (
        f"Chapter {LINE}, cell 3 ({first}) failed: {cause}; see _build/paper/failed/{LINE}.",
    )
    kept = toy.settings().failed / LINE
    cells = nbformat.read(kept / "notebook.ipynb", as_version=4).cells
    assert any("slope" in str(cell.get("outputs")) for cell in cells)
    assert not any("never" in str(cell.get("outputs")) for cell in cells)
    assert (kept / "log.txt").stat().st_size > 0
    assert not any(toy.settings().running.iterdir())
    assert path_of(toy, SQUARE).is_file()  # the other chapters go on


def test_a_failed_expression_is_named_with_its_line_and_an_idle_measure_by_its_name(
    toy,
):
    toy.edit(PAGE, "for every seed", "for every seed and `no` {eval}`'x'`, {eval}`slope\n  [9]`")
    text = (toy.root / PAGE).read_text(encoding="utf-8")
    line = text[: text.index("{eval}`slope\n")].count("\n") + 1
    with pytest.raises(BookError) as caught:
        toy.build()
    assert caught.value.problems == (
        f"Chapter {LINE}, line {line}: slope [9]: failed: ValueError: expression 3: IndexError: "
        f"list index out of range; see _build/paper/failed/{LINE}.",
    )
    toy.edit(PAGE, "[9]", "[0]")
    toy.append(LINE, "report(idle=1.0)")
    with pytest.raises(BookError, match="the measure 'idle' has no claim, and no other page"):
        toy.build()


def test_a_malformed_claim_fails_before_anything_runs(toy):
    toy.edit(CLAIMS, "kind: new", "kindd: new")
    toy.edit("src/toy/line.py", "2.0", "2")
    with pytest.raises(BookError, match="'square-of-three': the field 'kindd' is unknown"):
        toy.build()
    assert toy.started() == set()


@pytest.mark.slow("it waits for builds that it kills")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_build_leaves_no_process_and_nothing_half_written(toy, how):
    toy.append(LINE, f"import time\nPath('{toy.root}/asleep').touch()\ntime.sleep(600)")
    code = "from bookbuild.cli import main; main()"
    build = subprocess.Popen(
        [sys.executable, "-c", code, "chapter", LINE],
        cwd=toy.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # a shell's background jobs, and so their children, ignore this signal
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    kernel = _youngest(build.pid, toy.root / "asleep")
    os.kill(build.pid, how)
    _, output = build.communicate(timeout=120)
    assert build.returncode != 0
    # An interrupted build kills its kernels itself; after kill -9 they notice within seconds.
    assert toy.ends(kernel.pid, seconds=120 if how is signal.SIGKILL else 0.3)
    assert "Traceback" not in output
    assert not path_of(toy, LINE).exists()


@pytest.mark.slow("it waits for builds that it kills")
@pytest.mark.usefixtures("without_site")
def test_one_build_at_a_time_and_a_killed_one_counts_until_its_page_builder_has_ended(toy, command):
    toy.edit(PAGE, "for every seed", "for each seed")
    order = [sys.executable, "-m", "bookbuild", "build", "--device", "cpu"]
    html = toy.settings().stage / "_build" / "html"
    with subprocess.Popen(order, cwd=toy.root, stdout=subprocess.DEVNULL) as first:
        page_builder = _youngest(first.pid, html)
        page_builder.suspend()
        output = f"Another build of the paper profile is running here (process {first.pid}): "
        output += "wait until it has ended, and try again."
        second = subprocess.run(order, cwd=toy.root, capture_output=True, text=True)
        assert (second.returncode, second.stdout, second.stderr) == (1, "", f"{output}\n")
        first.kill()
    assert command(toy.root, "build", "--device", "cpu") == output
    page_builder.resume()
    assert toy.ends(page_builder.pid, seconds=120)
    site = toy.settings().site / Path(PAGE).with_suffix(".html")
    assert "for each seed" not in site.read_text(encoding="utf-8")  # nothing half made is shown
    assert command(toy.root, "build", "--device", "cpu") == ""


def _youngest(pid, sign):
    """Return the last process below a build, each of which has borne the next, after a sign."""
    deadline = time.monotonic() + 120
    while not sign.exists():
        assert time.monotonic() < deadline, f"there is no {sign}"
        time.sleep(0.02)
    *_, last = psutil.Process(pid).children(recursive=True)
    return last


SCHEMAS = [ROWS, BOOK, CHAPTER, FRONT_SCHEMA]


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_schema_is_sound_and_its_examples_fit(path):
    schema = load(path, path)
    Draft202012Validator.check_schema(schema)
    assert not any(faults(example, path) for example in schema["examples"])
