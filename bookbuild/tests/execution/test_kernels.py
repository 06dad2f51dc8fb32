"""Kernels of chapters, and what is told of chapters while they run."""

import io
import re
import sys

import pytest
from rich.console import Console

from bookbuild.errors import BookError
from bookbuild.execution import fork_server
from bookbuild.execution.display import Bar, Display, display_of, seconds_left
from bookbuild.results.store import Store
from toy_book import LINE, SQUARE

TELLING = """
import logging, os, sys
loaded = {name: name in sys.modules for name in ("scipy.stats", "torch")}
import matplotlib, scipy.stats
scipy.stats.norm
process = {
    "inline": "inline" in matplotlib.get_backend(),
    "sources first": "running" in sys.path[0],
    "its own folder": os.environ["BOOKBUILD_OUTPUT"].endswith("-beyond-01_square/entry"),
    "the salt of drawings": os.environ["BOOKBUILD_SALT"] == "emergence",
    "a session": os.getsid(0) == os.getpid(),
    "nothing to read": sys.__stdin__.read() == "",
    "children of its own": os.waitstatus_to_exitcode(os.system("exit 3")) == 3,
    "progress, asked for where bookbuild begins": logging.getLogger(
        "emergence.running.progress"
    ).handlers != [],
    "hash seed": hash("emergence") == -3074898122222032432,
}
report(loaded=loaded, process=process)
"""


def reported(toy):
    """Build the book, and return what its second chapter reported."""
    toy.build()
    entry = toy.entry(SQUARE)
    Store(toy.settings().results).path(entry.key).unlink()
    return {name: measure["value"] for name, measure in entry.measures.items()}


@pytest.mark.usefixtures("without_site")
def test_a_forked_chapter_is_like_a_started_one(toy, monkeypatch):
    toy.append(SQUARE, TELLING)
    quotes = " ".join(f"{{glue:text}}`{name}_settings`" for name in ("loaded", "process"))
    toy.edit("book/index.md", "# A toy book\n", f"# A toy book\n\n{quotes}\n")
    forked = reported(toy)
    code = "import sys; from bookbuild.execution import fork_server as n; n.FORKS = False"
    command = [sys.executable, "-c", f"{code}; sys.exit(n.main(sys.argv[1:]))"]
    monkeypatch.setattr(fork_server, "COMMAND", command)
    started = reported(toy)
    assert set(started.pop("loaded").values()) == {False}
    # only what the chapters import has been loaded
    assert forked.pop("loaded") == {"scipy.stats": True, "torch": False}
    assert [what for what, is_so in forked["process"].items() if not is_so] == []
    assert forked == started


def test_a_fork_server_that_is_killed_takes_its_kernels_along(toy):
    number = toy.root / "kernel"
    code = f"process = psutil.Process()\nPath({str(number)!r}).write_text(str(process.pid))\n"
    code += "process.parent().kill()\ntime.sleep(60)"
    toy.append(LINE, f"import psutil, time\nfrom pathlib import Path\n{code}")
    with pytest.raises(BookError) as caught:
        toy.build()
    (output,) = caught.value.problems
    assert output.endswith(f"failed: its kernel died; see _build/paper/failed/{LINE}.")
    assert toy.ends(int(number.read_text()), seconds=120)


EXPECTED = {"paper/05": 100.0, "paper/06": 300.0}
BAR = re.compile("[━╸╺]+")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def record(step, time, experiment="N = [16]"):
    return {"experiment": experiment, "step": step, "total": 100, "time": time}


def test_in_a_file_a_chapter_is_one_line():
    lines = []
    display = display_of(lines.append)
    assert type(display) is Display
    with display.opened(40, EXPECTED, jobs=2):
        for name in EXPECTED:
            display.start(name)
            display.progress(name, record(50, 100.0))
        display.done("paper/06", 3.04, failed=True)
        display.done("paper/05", 61.24, failed=False)
    assert lines == [
        "paper/06: failed after 3.0 s (41 of 42)",
        "paper/05: done in 61.2 s (42 of 42)",
    ]


def test_in_a_terminal_the_book_has_a_bar_and_each_running_chapter_a_line():
    stream = io.StringIO()
    console = Console(force_terminal=True, file=stream, width=60)
    display = Bar(console)
    with pytest.raises(KeyboardInterrupt), display.opened(40, EXPECTED, jobs=2):  # noqa: PT012
        for name in EXPECTED:
            display.start(name)
        display.progress("paper/05", {})
        display.progress("paper/05", record(10, 0.0, "another"))
        display.progress("paper/05", record(10, 100.0))
        display.progress("paper/05", record(30, 120.0))
        display.progress("paper/06", record(0, 0.0, "a [bold] experiment of a long name"))
        assert drawn(display) == [
            "40 of 42 chapters ━ about 5 min left",
            "  paper/05: N = [16], step 30 of 100, about 70 s left",
            "  paper/06: a [bold] experiment of a long name, step 0 of 1…",
        ]
        display.done("paper/05", 100.0, failed=False)
        display.done("paper/06", 3.0, failed=True)
        raise KeyboardInterrupt
    output = stream.getvalue()
    assert output.index("\x1b[31mpaper/06: failed after 3.0 s (42 of 42)\x1b[0m") > 0
    assert "paper/05: done" not in output
    assert (output.count("\x1b[?25l"), output.count("\x1b[?25h")) == (1, 1)  # the cursor is back
    assert drawn(display) == ["42 of 42 chapters ━"]


def drawn(display):
    """What a terminal of 60 columns shows."""
    console = Console(force_terminal=True, file=io.StringIO(), width=60)
    with console.capture() as capture:
        console.print(display._picture())
    text = BAR.sub("━", CODES.sub("", capture.get()))
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize(("tty", "term", "kind"), [(True, "xterm", Bar), (True, "dumb", Display)])
def test_only_a_terminal_that_moves_its_cursor_has_a_bar(monkeypatch, tty, term, kind):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: tty, raising=False)
    monkeypatch.setenv("TERM", term)
    assert type(display_of(print)) is kind


@pytest.mark.parametrize(
    ("took", "elapsed", "jobs", "left"),
    [
        ({}, {}, 1, 70 + 300 + 10),
        ({}, {}, 2, 300),  # the longest alone takes as much
        ({}, {"a": 20.0, "b": 400.0}, 1, 50 + 10),
        ({"a": 170.0}, {}, 1, 2 * (300 + 10)),  # this machine takes twice as long
        ({"a": 70.0, "b": 300.0, "c": 10.0}, {}, 1, 0),
    ],
)
def test_the_time_left_is_that_of_the_record_scaled_by_what_was_seen(took, elapsed, jobs, left):
    expected = {"a": 70.0, "b": 300.0, "c": 10.0}
    assert seconds_left(expected, took, elapsed, jobs) == pytest.approx(left)
