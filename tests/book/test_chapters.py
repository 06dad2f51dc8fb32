"""The code of every chapter passes the linter, and opens as every chapter does."""

import re
import subprocess
import sys

import pytest

from bookbuild.source.chapters import read_chapter
from tools.this_book import ROOT

PAGES = sorted((ROOT / "book").glob("*/*.md"))
CHAPTERS = [page for page in PAGES if "kernelspec" in page.read_text(encoding="utf-8")]
OPENINGS = {
    "paper": ("**The paper's question.**", "**What the paper says.**", "**What we find.**"),
    "beyond": ("**The question.**", "**What one would expect.**", "**What we find.**"),
    "companions": ("**The question.**", "**What the source says.**", "**What we find.**"),
}
# a last line that shows its value is no useless expression in a notebook
RULES = ["--select", "E9,F,B", "--ignore", "F722,F821,B018"]


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
def test_code_has_no_unused_or_unknown_names(page):
    cells = read_chapter(ROOT, f"{page.parent.name}/{page.stem}").code
    source = "\n\n".join(cell.source for cell in cells)
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", *RULES, "-"]
    run = subprocess.run(ruff, input=source, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
def test_data_that_the_code_reads_is_named_in_the_front_matter(page):
    chapter = read_chapter(ROOT, f"{page.parent.name}/{page.stem}")
    read = {name for cell in chapter.code for name in re.findall(r"data/[\w./]+", cell.source)}
    assert {name for name in read if (ROOT / name).is_file()} <= set(chapter.data)


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
def test_text_names_question_claim_and_finding(page):
    if page.stem in {"errata", "equations"}:
        pytest.skip("a list, not a section of the paper")
    text = page.read_text(encoding="utf-8")
    opening = OPENINGS[page.parent.name]
    introduction = "**The paper's question.**", "**The paper's answer, in four claims.**"
    wanted = introduction if page.stem == "01_introduction" else opening
    places = [text.find(phrase) for phrase in wanted]
    assert -1 not in places
    assert places == sorted(places)
