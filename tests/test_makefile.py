"""The targets of the Makefile: each is told, none is a file, and those that pages name exist."""

import re

from this_book import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TOLD = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "book").rglob("*.md"))]
COMMAND = re.compile(r"(?:^|`)make ([a-z-]+)", re.MULTILINE)  # a line of a shell, or code in a line


def test_every_target_is_told_and_none_is_a_file():
    phony = set(re.search(r"^\.PHONY: (.*)", MAKEFILE, re.MULTILINE)[1].split())
    assert phony == TOLD


def test_every_command_on_a_page_is_a_target():
    found = {
        page.relative_to(ROOT).as_posix(): set(COMMAND.findall(page.read_text("utf-8")))
        for page in PAGES
    }
    assert {"reproduce", "test"} <= found["README.md"]
    assert {page: names - TOLD for page, names in found.items() if names - TOLD} == {}


def test_what_contributors_are_sent_to_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src|book|data)/[\w./]*)`", text)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []
    workshop = (ROOT / "book" / "workshop.md").read_text(encoding="utf-8")
    assert [
        how
        for how in re.findall(r"see \*(.+?)\*|See \*(.+?)\*", text)
        if f"**{''.join(how)}" not in workshop
    ] == []
