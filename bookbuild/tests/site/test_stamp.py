"""A build that would change nothing ends at once, and only such a one."""

import shutil
from collections.abc import Callable
from importlib import metadata
from types import SimpleNamespace

import pytest

from bookbuild import pipeline
from bookbuild.execution.display import Display
from bookbuild.pipeline import renew_book
from bookbuild.results.store import Store
from bookbuild.site import stamp
from tools.toy_book import LINE

NOTHING = "nothing has changed since the site was built"
PAGE = "index.html"


@pytest.fixture
def renew(toy, monkeypatch) -> Callable[..., bool]:
    """Renew the toy book; return whether that ended at once. Its site is one page, for speed."""

    def one_page(settings, entries):
        shutil.rmtree(settings.site, ignore_errors=True)
        settings.site.mkdir()
        (settings.site / PAGE).write_text("a page", encoding="utf-8")

    monkeypatch.setattr(pipeline, "build_site", one_page)
    monkeypatch.setattr(pipeline, "write_stage", lambda *_: None)

    def run(**changes: object) -> bool:
        toy.lines.clear()
        toy.told = renew_book(toy.settings(**changes), Display(toy.lines.append), toy.lines.append)
        return toy.lines == [NOTHING]

    toy.settings().site.with_name(stamp.NAME).unlink()  # that of the whole site
    assert not run()
    return run


def test_nothing_changed_ends_at_once_and_says_the_same(toy, renew):
    before = toy.told
    assert renew()
    assert toy.told == before
    assert (before.executed, before.cached) == (0, 2)
    assert before.amiss == ["contradicted: square-of-three (New results; §2)"]


def test_an_edit_of_a_source_breaks_the_stamp_and_what_no_build_reads_does_not(toy, renew):
    for path in ("book/index.md", "data/claims.yml", "src/toy/line.py", "_config.yml"):
        text = (toy.root / path).read_text(encoding="utf-8")
        (toy.root / path).write_text(f"{text}\n", encoding="utf-8")
        assert not renew(), path
    more = toy.root / "book" / "more.css"
    more.write_text("p { color: red }", encoding="utf-8")
    assert not renew()
    more.unlink()
    assert not renew()
    for name in ("tests/test_it.py", "src/toy/__pycache__/x.pyc", "book/a.ipynb", ".hidden"):
        (toy.root / name).parent.mkdir(parents=True, exist_ok=True)
        (toy.root / name).write_text("new", encoding="utf-8")
    (toy.root / "book" / "lost").symlink_to("nowhere")
    assert renew()


def test_another_option_or_version_breaks_the_stamp(renew, monkeypatch):
    assert not renew(seed=1)
    assert not renew()
    found = [*metadata.distributions(), SimpleNamespace(name="sphinx", version="99")]
    monkeypatch.setattr(stamp, "distributions", lambda: found)
    assert not renew()


def test_a_page_that_was_touched_or_lost_breaks_the_stamp(toy, renew):
    page = toy.settings().site / PAGE
    page.write_text("another page", encoding="utf-8")
    assert not renew()
    page.unlink()
    assert not renew()
    assert page.read_text(encoding="utf-8") == "a page"


def test_a_result_that_was_touched_or_lost_breaks_the_stamp(toy, renew):
    result = Store(toy.settings().results).path(toy.key(LINE))
    content = bytearray(result.read_bytes())
    content[len(content) // 2] ^= 1
    result.write_bytes(content)
    assert not renew()
    assert toy.started() == {LINE}
    result.unlink()
    assert not renew()
    assert toy.started() == {LINE}


def test_a_stamp_that_cannot_be_read_is_none(toy, renew):
    for text in ("{", "[]", '{"told": {}}', '{"state": 1, "keys": []}'):
        toy.settings().site.with_name(stamp.NAME).write_text(text, encoding="utf-8")
        assert not renew(), text
    assert renew()
