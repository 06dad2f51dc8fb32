"""The code of every chapter passes the linter, and opens as every chapter does."""

import re
import subprocess
import sys

from bookbuild.source.chapters import read_chapter
from tools.this_book import ROOT

PAGES = sorted((ROOT / "book").glob("*/*.md"))
CHAPTERS = [page for page in PAGES if "kernelspec" in page.read_text(encoding="utf-8")]
READ = [read_chapter(ROOT, f"{page.parent.name}/{page.stem}") for page in CHAPTERS]
OPENINGS = {
    "paper": ("**The paper's question.**", "**What the paper says.**", "**What we find.**"),
    "beyond": ("**The question.**", "**What one would expect.**", "**What we find.**"),
    "companions": ("**The question.**", "**What the source says.**", "**What we find.**"),
}
# a last line that shows its value is no useless expression in a notebook
RULES = ["--select", "E9,F,B", "--ignore", "F722,F821,B018"]


def test_code_has_no_unused_or_unknown_names(tmp_path):
    for chapter in READ:
        source = "\n\n".join(cell.source for cell in chapter.code)
        (tmp_path / f"{chapter.name.replace('/', '-')}.py").write_text(source, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", *RULES, tmp_path]
    run = subprocess.run(ruff, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_data_that_the_code_reads_is_named_in_the_front_matter():
    for chapter in READ:
        read = {name for cell in chapter.code for name in re.findall(r"data/[\w./]+", cell.source)}
        assert {name for name in read if (ROOT / name).is_file()} <= set(chapter.data), chapter.name


def test_text_names_question_claim_and_finding():
    for page in (page for page in CHAPTERS if page.stem not in {"errata", "equations"}):
        text = page.read_text(encoding="utf-8")
        opening = OPENINGS[page.parent.name]
        introduction = "**The paper's question.**", "**The paper's answer, in four claims.**"
        wanted = introduction if page.stem == "01_introduction" else opening
        places = [text.find(phrase) for phrase in wanted]
        assert -1 not in places, page
        assert places == sorted(places), page
