"""One PDF of all pages, or one sentence that says why not."""

import shutil

import pytest
from pypdf import PdfReader

from bookbuild.errors import BookError
from bookbuild.site import browser, pdf

BROWSER = browser.program()


@pytest.fixture
def site(tmp_path):
    for name in ("one", "two"):
        page = (
            f"<!doctype html><meta charset=utf-8><title>Page {name} — Book</title>"
            f"<p>Text of {name}.</p>"
        )
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("program", "pages", "message"),
    [
        (None, ["one.html"], "needs a browser"),
        ("browser", ["one.html", "three.html"], r"no page three\.html"),
        ("/bin/false", ["one.html"], r"one\.html cannot be printed"),
    ],
)
def test_what_stands_in_the_way_is_named(site, monkeypatch, program, pages, message):
    monkeypatch.setattr(shutil, "which", lambda _: program)
    with pytest.raises(BookError, match=message):
        pdf.write_pdf(site, pages, site / "book.pdf")
    assert not (site / "book.pdf").exists()


@pytest.mark.skipif(BROWSER is None, reason="no browser here")
def test_pages_come_in_order_with_bookmarks(site):
    assert pdf.write_pdf(site, ["two.html", "one.html"], site / "book.pdf") == 2
    reader = PdfReader(site / "book.pdf")
    assert ["Text of two." in page.extract_text() for page in reader.pages] == [True, False]
    assert [item.title for item in reader.outline] == ["Page two", "Page one"]
