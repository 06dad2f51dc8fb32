"""File, page and theorems of a chapter have one number, and none looks like one of the paper."""

import re

import pytest

from bookbuild.source.book import read_book
from bookbuild.source.chapters import read_toc
from tools.this_book import ROOT

STATED = re.compile(r"^`{3,}\{prf:(?!proof)\w+\}.*\n((?::\w+:.*\n)*)", re.MULTILINE)


@pytest.mark.parametrize(("folder", "part"), [("beyond", "II"), ("companions", "III")])
def test_a_page_is_listed_under_the_number_of_its_file(folder: str, part: str) -> None:
    result = re.findall(rf"'book/{folder}/(\d\d)_\w+', 'title': [\"'](.*?) ", str(read_toc(ROOT)))
    assert len(result) >= 10
    assert result == [(f"{n:02}", f"{part}.{n}") for n in range(1, len(result) + 1)]


def test_only_pages_with_a_number_number_their_theorems_and_each_can_be_named() -> None:
    book, numbered = read_book(ROOT), 0
    for page in (ROOT / "book").glob("*/*.md"):
        number = book.chapter_number(f"{page.parent.name}/{page.stem}")
        for options in STATED.findall(page.read_text(encoding="utf-8")):
            assert ":label:" in options, page
            assert bool(number) == (":nonumber:" not in options), page
            numbered += bool(number)
    assert numbered > 30
