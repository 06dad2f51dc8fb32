"""Processes of chapters on the toy book: what they share, and what happens when they are lost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from bookbuild.errors import BookError
from bookbuild.execution import nursery
from bookbuild.results import executed
from bookbuild.results.keys import chapter_key
from bookbuild.results.store import Store
from bookbuild.source.chapters import read_chapter

if TYPE_CHECKING:
    from conftest import Toy

LINE, SQUARE = "paper/01_line", "beyond/01_square"
TELLING = """
import logging, os, sys
loaded = {name: name in sys.modules for name in ("scipy.stats", "torch")}
import matplotlib, scipy.stats
process = {
    "inline": "inline" in matplotlib.get_backend(),
    "sources first": "running" in sys.path[0],
    "its own folder": os.environ["BOOKBUILD_OUTPUT"].endswith("-beyond-01_square/entry"),
    "a session": os.getsid(0) == os.getpid(),
    "nothing to read": sys.__stdin__.read() == "",
    "progress, asked for where bookbuild begins": logging.getLogger(
        "emergence.running.progress"
    ).handlers != [],
    "hash seed": hash("emergence") == -3074898122222032432,
}
report("loaded", loaded, over="settings", judged=False)
report("process", process, over="settings", judged=False)
"""


def append(toy: Toy, name: str, code: str) -> None:
    with (toy.root / "book" / f"{name}.md").open("a", encoding="utf-8") as stream:
        stream.write(f"\n```{{code-cell}} ipython3\n{code}\n```\n")


def reported(toy: Toy) -> dict[str, dict[str, object]]:
    """Build the book, and return what its second chapter reported."""
    toy.build()
    key = chapter_key(read_chapter(toy.root, SQUARE), toy.settings())
    entry, _ = executed.find(toy.settings(), key)
    assert entry is not None
    Store(toy.settings().results).path(key).unlink()
    return {name: measure["value"] for name, measure in entry.measures.items()}


@pytest.mark.usefixtures("without_site")
def test_a_forked_chapter_is_like_a_started_one(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    append(toy, SQUARE, TELLING)
    forked = reported(toy)
    code = "import sys; from bookbuild.execution import nursery as n; n.FORKS = False"
    command = [sys.executable, "-c", f"{code}; sys.exit(n.main(sys.argv[1:]))"]
    monkeypatch.setattr(nursery, "COMMAND", command)
    started = reported(toy)
    assert set(started.pop("loaded").values()) == {False}
    # only what the chapters import has been loaded
    assert forked.pop("loaded") == {"scipy.stats": True, "torch": False}
    assert [what for what, is_so in forked["process"].items() if not is_so] == []
    assert forked == started


def test_a_killed_nursery_fails_its_chapters(toy: Toy) -> None:
    append(toy, LINE, "import psutil\npsutil.Process().parent().parent().kill()")
    with pytest.raises(BookError) as caught:
        toy.build(jobs=1)
    end = "failed: its process ended with code -9; see _build/paper/failed"
    assert f"Chapter {LINE} {end}/{LINE}." in caught.value.problems
