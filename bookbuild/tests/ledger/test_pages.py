"""What the verdict page, the lists of results and the matrices say."""

from dataclasses import replace
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild.ledger import counts, pages
from bookbuild.ledger.claims import Claim, Finding, Rebuttal
from bookbuild.ledger.records import Known, Question, Records
from bookbuild.reporting.expectations import read_expectation
from bookbuild.reporting.measures import Measure
from bookbuild.source.chapters import Chapter

CHAPTER = "paper/01_line"
LINE = Chapter(CHAPTER, "Line", new_notebook(), ())
EXPECTED = read_expectation({"at_least": 1})
FINDING = Finding(
    Claim("a", "§1", "A.", "paper", CHAPTER, "slope", EXPECTED, "Because."),
    Measure(2.0, None),
    "reproduced",
)
NONE = Records()


def finding(verdict: Any = "reproduced", measured: Any = FINDING.measured, **claim: Any) -> Finding:
    """The finding above with some fields of its claim, its verdict and what was measured anew."""
    return Finding(replace(FINDING.claim, **claim), measured, verdict)


def untested(**claim: Any) -> Finding:
    fields = {"measure": "", "expectation": None, "why": "", "not_testable": "No."}
    return finding("not testable here", None, **fields | claim)


def row(value: float = 2.0, records: Records = NONE) -> str:
    """Return the table of one claim, measured as told."""
    measured = Measure(value, None)
    result = finding(EXPECTED.verdict(measured), measured)
    return pages.verdict_table([result], [LINE], records, {})


def test_a_row_shows_its_rebuttal_or_that_none_is_written() -> None:
    rebuttal = Rebuttal("It is $N$.", "It is not.")
    text = pages.verdict_table([untested(printed="a is", rebuttal=rebuttal)], [LINE], NONE, {})
    for output in ("<span>“a is”</span>", "**Its best defence:** It is $N$.", "It is not."):
        assert output in text
    missing = "Nobody has written a defence for this row yet."
    assert [missing in one for one in (text, row(0.5), row())] == [False, True, False]


@pytest.mark.parametrize("kind", ["paper", "sharper"])
def test_a_row_has_the_three_columns_of_its_grid(kind: Any) -> None:
    text = pages.verdict_table([finding(kind=kind)], [LINE], NONE, {})
    line = next(line for line in text.splitlines() if line.startswith("<b>"))
    sharper = "<i>our sharper reading:</i> " if kind == "sharper" else ""
    badge = '<span class="verdict reproduced">reproduced</span>'
    assert line == f"<b>§1</b> <span>{sharper}A.</span> {badge}"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("Definitions 1 and 2, Fig. 4", ["Figure 4", "Definition 1", "Definition 2"]),
        ("Assumptions 3, 7", ["Assumption 3", "Assumption 7"]),
        ("Figs. 6-8, A.5", ["Figure 6", "Figure 7", "Figure 8"]),
        ("Geometry of grokking, Theorem 4.14", []),  # of another paper
        ("§2.1, §3.1", ["§2"]),
        ("Erratum, App. B.1", ["Appendix B"]),
        ("Eq. 12", ["Eq. 12"]),
        ("One area law, this book", []),
    ],
)
def test_a_source_names_figures_and_theorems_else_its_section(
    source: str, named: list[str]
) -> None:
    assert pages.items_of(source) == named


def test_the_matrix_counts_each_verdict_of_a_figure_and_sharper_readings_and_errata_apart() -> None:
    drawn = new_code_cell('show(fig, "figure-10", caption="A.", alt="B.")')
    stated = new_markdown_cell("(figure-2)=\nA sentence.")
    result = [
        finding("contradicted", source="Fig. 2, caption"),
        finding("reproduced", source="§5, Fig. 2"),
        finding("reproduced", source="Erratum, Fig. 2", kind="erratum"),
        finding("contradicted", source="Fig. 2", kind="sharper"),
        finding("partly", source="Fig. 2", kind="new"),  # ours, and no claim of the paper
        finding("partly", source="§3"),
        finding("reproduced", source="Theorem 1"),
    ]
    book = Chapter(CHAPTER, "Line", new_notebook(cells=[drawn, stated]), ())
    items = pages.claims_by_place(result, [book])
    assert [item.name for item in items] == ["Figure 2", "Figure 10", "Theorem 1", "§3"]
    assert items[0].counts == {"reproduced": 1, "contradicted": 1}
    assert (items[0].sharper, items[0].errata) == (1, 1)
    assert (items[1].counts, items[1].sharper, items[1].errata) == ({}, 0, 0)
    assert items[0].href == f"{CHAPTER}.html#figure-2"
    assert items[2].href == f"{CHAPTER}.html#measure-slope"


ASKED = Question("weather", "Weather", {"wet": ("were measured in rain", "in rain")})
WET = Records({"a": Known({"weather": "wet"}, "It <b>rained</b>. ", {})}, (ASKED,))


def test_a_row_says_what_evidence_knows_of_it() -> None:
    text = row(records=WET)
    assert "<p>It <b>rained</b>. </p>" in text
    assert 'data-records="wet"' in text
    assert "&#34;wet&#34;: &#34;in rain&#34;" in text  # for the filter
    assert row().partition("id=")[0] in row(records=replace(WET, rows={}))
    counted = counts.answer_counts(ASKED, [FINDING, finding(id="b")], WET)
    output = 'verdicts.html?kind=paper&amp;weather=wet"><b>1</b> were measured in rain</a>'
    assert output in counted
    assert counts.answer_counts(ASKED, [FINDING], NONE) == ""
