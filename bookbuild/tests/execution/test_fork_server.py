"""Kernels of chapters on the toy book: what they find, and what happens when they are lost."""

import sys

import pytest

from bookbuild.errors import BookError
from bookbuild.execution import fork_server
from bookbuild.results.store import Store
from toy_book import LINE, SQUARE, Toy

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


def reported(toy: Toy) -> dict[str, dict[str, object]]:
    """Build the book, and return what its second chapter reported."""
    toy.build()
    entry = toy.entry(SQUARE)
    Store(toy.settings().results).path(entry.key).unlink()
    return {name: measure["value"] for name, measure in entry.measures.items()}


@pytest.mark.usefixtures("without_site")
def test_a_forked_chapter_is_like_a_started_one(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_fork_server_that_is_killed_takes_its_kernels_along(toy: Toy) -> None:
    number = toy.root / "kernel"
    code = f"process = psutil.Process()\nPath({str(number)!r}).write_text(str(process.pid))\n"
    code += "process.parent().kill()\ntime.sleep(60)"
    toy.append(LINE, f"import psutil, time\nfrom pathlib import Path\n{code}")
    with pytest.raises(BookError) as caught:
        toy.build()
    (output,) = caught.value.problems
    assert output.endswith(f"failed: its kernel died; see _build/paper/failed/{LINE}.")
    assert toy.ends(int(number.read_text()), seconds=120)
