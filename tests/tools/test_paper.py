"""The paper prints its results by macro only, and its sources are LaTeX that prints."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from bookbuild.errors import BookError
from tools.paper import FIGURES, NUMBERS, SOURCES, macros, missing, typeset

TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in SOURCES}
TYPED = re.compile(r"\d*\.\d+(?!\d*\\linewidth)|\d\s*\\%")
EXCEPTIONS = {  # decimals in statements that are not results
    "2.27", "2.99",  # a check of the page divides what is proved by them
    "2.3", "2.4", "2.25",  # centres of proved intervals, whose half widths are macros
}  # fmt: skip
ONES = {source: {e[1]: 1.0 for e in NUMBERS.values()} for source, *_ in NUMBERS.values()}


def test_every_number_is_defined_and_used():
    used = {name for text in TEXTS.values() for name in re.findall(r"\\num\{([^}]*)\}", text)}
    assert used == set(NUMBERS)


def test_no_result_is_typed():
    assert set(TYPED.findall(TEXTS["paper"] + TEXTS["main"])) <= EXCEPTIONS


def test_ends_of_intervals_are_rounded_outwards():
    ends = {name: e[3] for name, e in NUMBERS.items() if re.match("every-(low|high)|limit", name)}
    assert len(ends) == 16
    assert all(end == ("down" if "low" in name else "up") for name, end in ends.items())


def test_a_number_that_no_page_reports_is_told():
    with pytest.raises(BookError, match="does not report"):
        macros({source: {} for source in ONES})


def test_the_sources_print(tmp_path):
    if lacking := missing():
        pytest.skip(lacking)
    for figure in FIGURES:
        plt.figure().savefig(tmp_path / f"{Path(figure).name}.pdf")
    typeset(tmp_path, macros(ONES))
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert not re.findall("undefined|multiply defined|Overfull .hbox", log)
    labels = (tmp_path / "paper.aux").read_text(encoding="utf-8")
    (page,) = re.findall(r"newlabel\{end-of-main\}\{\{[^}]*\}\{(\d+)\}", labels)
    assert int(page) <= 12
