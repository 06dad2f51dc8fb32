"""How a chapter of the paper opens and ends, and which headings may carry the paper's numbers."""

import re

import pytest

from tools.this_book import ROOT

PAPER = ROOT / "book" / "paper"
# the conclusion is a takeaway itself; the other two are tables for looking things up
WITHOUT = {"09_conclusion", "errata", "equations"}
PAGES = sorted(path for path in PAPER.glob("*.md") if path.stem not in WITHOUT)
CHAPTERS = [
    *PAGES,
    *(
        path
        for part in ("beyond", "companions")
        for path in sorted((ROOT / "book" / part).glob("[0-9]*.md"))
    ),
]
TAKEAWAY = re.compile(r"^````\{admonition\} What to take away\n:class: takeaway\n\n(.*?)^````$",
                      re.DOTALL | re.MULTILINE)  # fmt: skip
LAST = ("What this does not show", "Checks of this section")  # what may follow the takeaway
CONCLUDED = re.compile(r"^```\{concluded\} .*?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^## ((?:\d|[A-F])\.\d+(?:.[A-F]\.\d+)?) ", re.MULTILINE)
# the paper's own sections below its chapters; a number of ours has a star
PRINTED = {"2.1", "2.2", "2.3", "3.1", "3.2", "3.3", "6.1", "7.1", "7.2", "B.3", "B.6–B.8"}


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
def test_a_chapter_ends_with_what_to_take_away(page) -> None:
    text = page.read_text(encoding="utf-8")
    (box,) = TAKEAWAY.findall(text)
    after = text.partition(box)[2]
    headings = re.findall(r"^## (.*)$", after, re.MULTILINE)
    assert all(heading.endswith(LAST) for heading in headings), headings
    for sentences in CONCLUDED.findall(box):
        output = re.findall(r"^(reproduced|partly|contradicted): ", sentences, re.MULTILINE)
        assert output == ["reproduced", "partly", "contradicted"]
        assert max(len(re.findall(r"[.!?](?: |$)", line)) for line in sentences.splitlines()) == 1
    assert 1 <= len(re.findall(r"[.!?](?:\s|$)", CONCLUDED.sub("", box))) <= 2


def test_only_the_paper_s_own_sections_carry_its_numbers() -> None:
    texts = [path.read_text(encoding="utf-8") for path in PAPER.glob("*.md")]
    numbers = [number for text in texts for number in HEADING.findall(text)]
    assert len(numbers) >= 8
    assert set(numbers) <= PRINTED
