"""The targets of the Makefile: each is told, none is a file, and those that pages name exist."""

import re

from this_book import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TOLD = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
PAGES = [ROOT / "README.md", *sorted((ROOT / "book").rglob("*.md"))]
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
