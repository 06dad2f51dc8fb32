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


def test_without_a_browser_it_says_so(site, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(BookError, match="needs a browser"):
        pdf.write_pdf(site, ["one.html"], site / "book.pdf")


def test_a_missing_page_is_named(site, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: "browser")
    with pytest.raises(BookError, match=r"no page three\.html"):
        pdf.write_pdf(site, ["one.html", "three.html"], site / "book.pdf")
    assert not (site / "book.pdf").exists()


def test_a_page_that_cannot_be_printed_is_named(site, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: "/bin/false")
    with pytest.raises(BookError, match=r"one\.html cannot be printed"):
        pdf.write_pdf(site, ["one.html"], site / "book.pdf")


@pytest.mark.skipif(BROWSER is None, reason="no browser here")
def test_pages_come_in_order_with_bookmarks(site):
    assert pdf.write_pdf(site, ["two.html", "one.html"], site / "book.pdf") == 2
    reader = PdfReader(site / "book.pdf")
    assert ["Text of two." in page.extract_text() for page in reader.pages] == [True, False]
    assert [item.title for item in reader.outline] == ["Page two", "Page one"]
