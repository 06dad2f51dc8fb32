"""The ledger: its rows, how they meet what chapters report, and what pages and machines read."""

import dataclasses
import json
import math
import re
from dataclasses import replace
from typing import get_args

import pytest
import yaml
from jsonschema import Draft202012Validator
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild.errors import BookError
from bookbuild.ledger import counts, pages
from bookbuild.ledger.claims import (
    SCHEMA,
    Claim,
    Finding,
    Kind,
    Rebuttal,
    idle,
    judge,
    read_claims,
)
from bookbuild.ledger.counts import checks_of, checks_table, told_checks
from bookbuild.ledger.records import (
    Known,
    Question,
    Records,
    ledger_json,
    ledger_row,
    ledger_schema,
)
from bookbuild.reporting.expectations import Form, read_expectation
from bookbuild.reporting.measures import Measure
from bookbuild.source.chapters import Chapter

CHAPTER, OTHER = "paper/01_line", "paper/02_other"
ROW = {
    "id": "a-slope",
    "source": "§1",
    "statement": "The slope is two.",
    "kind": "paper",
    "chapter": CHAPTER,
    "measure": "slope",
    "expect": {"within": [1, 3]},
    "why": "Exact.",
}


def read(folder, rows):
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "claims.yml").write_text(yaml.safe_dump(rows), encoding="utf-8")
    return read_claims(folder, [CHAPTER, OTHER])


def measure(value, **check):
    return {"value": value, "over": None, **({"check": check} if check else {})}


TWO = measure(2.0)


def without(*names):
    return {name: value for name, value in ROW.items() if name not in names}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([ROW | {"expects": 1}], "row 'a-slope': the field 'expects' is unknown"),
        ([without("id")], "line 1: the field 'id' is missing"),
        ([without("measure", "expect", "why")], "'measure' is missing"),
        ([ROW | {"not_testable": "too large"}], "is not allowed beside 'not_testable'"),
        ([ROW | {"exact": " "}], "'exact' is not a text"),
        ([ROW | {"kind": "old"}], "'kind' is not one of paper, sharper, new, companion"),
        ([ROW | {"chapter": "paper/9"}], "the chapter 'paper/9' does not exist"),
        ([ROW | {"headline": "$N^2$ steps"}], "'headline' has a formula"),
        ([ROW | {"rebuttal": {"defence": "B"}}], "'rebuttal.answer' is missing"),
        ([ROW | {"expect": {"within": [2, 1]}}], "'within' are the wrong way round"),
        ([ROW | {"expect": {"at_most": math.inf}}], "'at_most' is not finite"),
        ([ROW | {"expect": {"at_most": 10**400}}], "'at_most' is not finite"),
        ([ROW | {"expect": {"contains": "1e999"}}], "'contains' is not finite"),
        ([ROW | {"expect": {"contains": math.nan}}], "'contains' is not finite"),
        ([ROW, ROW], "line 7, row 'a-slope': an earlier row has the same id"),
        ({"a": 1}, "claims.yml, line 1: it is not a list of rows"),
    ],
)
def test_a_malformed_row_is_named_with_its_fault(tmp_path, rows, reason):
    with pytest.raises(BookError, match=reason):
        read(tmp_path, rows)


def test_the_types_name_what_the_schema_allows():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts = schema["$defs"]
    assert get_args(Kind) == tuple(parts["claim"]["properties"]["kind"]["enum"])
    assert get_args(Form) == tuple(parts["expectation"]["properties"])
    assert parts["claim"]["properties"].keys() - {"expect"} == {
        field.name for field in dataclasses.fields(Claim)
    } - {"expectation"}


@pytest.mark.parametrize(
    ("reported", "reason"),
    [
        ({CHAPTER: {"slop": TWO}}, "row 'a-slope': measure 'slope' is not reported by any"),
        ({CHAPTER: {}, OTHER: {"slope": TWO}}, "by paper/02_other, not by"),
        ({CHAPTER: {"slope": measure(True)}}, "does not fit"),
        ({CHAPTER: {"slope": TWO}, OTHER: {"slope": TWO}}, "by paper/01_line and by paper/02_ot"),
    ],
)
def test_claims_and_measures_have_to_match(tmp_path, reported, reason):
    with pytest.raises(BookError, match=reason):
        judge(read(tmp_path, [ROW]), reported, judged=True)


CHECKED = measure(1.0, what="x", at_most=2)


@pytest.mark.parametrize(
    ("measures", "quoted", "told"),
    [
        ({"slope": TWO, "x": CHECKED, "y": TWO}, {"y"}, []),
        ({"slope": TWO, "x": CHECKED}, {"slope", "x"}, []),
        ({"x": TWO}, {"slope"}, ["'x' of chapter paper/01_line has no claim in data/claims.yml, "]),
        (
            {"slope": CHECKED},
            set(),
            ["'slope' of chapter paper/01_line has a claim .*, and a check"],
        ),
        ({"x": TWO, "y": TWO}, set(), ["'x' .* has no claim", "'y' .* has no claim"]),
    ],
)
def test_a_measure_is_for_one_thing(tmp_path, measures, quoted, told):
    result = list(idle(read(tmp_path, [ROW]), {OTHER: {}, CHAPTER: measures}, quoted))
    for sentence, pattern in zip(result, told, strict=True):
        assert re.match(f"Measure {pattern}", sentence)


def test_the_smoke_profile_matches_but_does_not_judge(tmp_path):
    claims = read(tmp_path, [ROW])
    reported = {CHAPTER: {"slope": measure(9.0), "x": measure(1.0)}}
    for judged, verdict in ((True, "contradicted"), (False, "not judged")):
        assert [one.verdict for one in judge(claims, reported, judged=judged)] == [verdict]
    with pytest.raises(BookError, match="not reported by any chapter"):
        judge(claims, {}, judged=False)


def test_kinds_are_counted_apart(tmp_path):
    kinds = ["erratum", "paper", "new", "paper"]
    rows = [ROW | {"id": f"row-{n}", "kind": k, "measure": f"m{n}"} for n, k in enumerate(kinds)]
    rows.append(without("measure", "expect", "why") | {"not_testable": "No machine is that large."})
    reported = {CHAPTER: {f"m{n}": measure(9.0 if n == 1 else 2.0) for n in range(4)}}
    told = counts.told_verdicts(judge(read(tmp_path, rows), reported, judged=True))
    assert told == [
        "Claims of the paper, as printed: 1 reproduced, 1 contradicted, 1 not testable here",
        "New results: 1 reproduced",
        "Errata of the paper: 1 reproduced",
        "contradicted: row-1 (Claims of the paper, as printed; §1)",
    ]


def test_a_rebuttal_is_read_and_owed_by_rows_about_a_source_alone(tmp_path):
    texts = {"defence": "It is about large sizes.", "answer": "No."}
    (plain,), (defended,) = read(tmp_path, [ROW]), read(tmp_path, [ROW | {"rebuttal": texts}])
    assert defended.rebuttal == Rebuttal(**texts)
    for verdict in ("partly", "contradicted", "not testable here"):
        assert plain.owes_a_rebuttal(verdict)
        assert not defended.owes_a_rebuttal(verdict)
        assert dataclasses.replace(plain, kind="companion").owes_a_rebuttal(verdict)
        assert not dataclasses.replace(plain, kind="new").owes_a_rebuttal(verdict)
    assert not plain.owes_a_rebuttal("reproduced")
    assert not plain.owes_a_rebuttal("not judged")


LINE, SQUARE = "paper/01_line", "beyond/01_square"
CHAPTERS = [Chapter(name, name.title(), new_notebook(), ()) for name in (SQUARE, LINE)]


def checked(value, over=None, **check):
    return {"value": value, "over": over, "check": check}


REPORTED = {
    LINE: {
        "slope": checked(2.0, what="slope < 3", at_most=3),
        "slopes": checked([1.0, 2.0], "seeds", what="slopes", within=[0, 1.5]),
        "free": {"value": 1.0, "over": None},
    },
    SQUARE: {"is_square": checked(False, what="it is square", holds=True)},
    "paper/02_other": {"free_too": {"value": 1.0, "over": None}},
}


def test_checks_are_told_by_chapter_in_the_order_of_the_book():
    result = checks_of(REPORTED, judged=True)
    assert {name: [*of] for name, of in result.items()} == {
        LINE: ["slope", "slopes"],
        SQUARE: ["is_square"],
    }
    text = checks_table(result, CHAPTERS)
    assert "<p>1 does not hold, 1 holds, 1 holds in part.</p>" in text
    assert text.index("Beyond/01_Square") < text.index("Paper/01_Line")
    assert f'<a href="{LINE}.html#measure-slope">slope &lt; 3</a>' in text
    assert '<td data-label="Expected">at most 3</td>' in text
    assert "<b>2</b> checks</span>" in text
    assert checks_table({}, CHAPTERS) == checks_table(result, []) == ""
    assert told_checks(result, "a.html") == [
        "Checks: 1 hold, 1 hold in part, 1 do not hold; a.html lists them"
    ]
    assert told_checks(checks_of(REPORTED, judged=False), "") == ["Checks: 3 not judged"]
    assert told_checks({}, "a.html") == []


EXPECTED = read_expectation({"at_least": 1})
CLAIM = Claim("a-row", "§1", 'It "grows", always.', "paper", "paper/x", "m", EXPECTED, "Why.")
UNTESTED = Claim("b", "§2", "S.", "new", "paper/x", not_testable="No.")
FINDINGS = [
    Finding(CLAIM, Measure({"B = 1": [1.0, float("inf")]}, "settings"), "reproduced"),
    Finding(UNTESTED, None, "not testable here"),
]


def test_every_row_is_there():
    rows = [ledger_row(finding, Records()) for finding in FINDINGS]
    assert json.loads(ledger_json(rows)) == rows
    assert rows[0]["measured"] == {"B = 1": [1.0, "inf"]}
    assert (rows[0]["expected"], rows[0]["page"]) == (str(EXPECTED), "book/paper/x.html")
    assert (rows[1]["measured"], rows[1]["why"]) == (None, "No.")


def test_the_published_schema_describes_the_rows_and_what_evidence_adds():
    known = {"a-row": Known({}, "", {"weather": "wet"})}
    fields = {"weather": {"enum": ["wet", None]}}
    records = Records(known, fields=fields)
    rows = [ledger_row(finding, records) for finding in FINDINGS]
    assert [row["weather"] for row in rows] == ["wet", None]
    assert rows[0]["address"] == "claims/a-row.html"
    validator = Draft202012Validator(ledger_schema(records))
    assert validator.is_valid(rows)
    for wrong in ({"verdict": "true"}, {"weather": "dry"}, {"more": 1}):
        assert not validator.is_valid([rows[0] | wrong])


PAGE_OF_LINE = Chapter(CHAPTER, "Line", new_notebook(), ())
FINDING = Finding(
    Claim("a", "§1", "A.", "paper", CHAPTER, "slope", EXPECTED, "Because."),
    Measure(2.0, None),
    "reproduced",
)
NONE = Records()


def finding(verdict="reproduced", measured=FINDING.measured, **claim):
    """The finding above with some fields of its claim, its verdict and what was measured anew."""
    return Finding(replace(FINDING.claim, **claim), measured, verdict)


def untested(**claim):
    fields = {"measure": "", "expectation": None, "why": "", "not_testable": "No."}
    return finding("not testable here", None, **fields | claim)


def table_of(value=2.0, records=NONE):
    """Return the table of one claim, measured as told."""
    measured = Measure(value, None)
    result = finding(EXPECTED.verdict(measured), measured)
    return pages.verdict_table([result], [PAGE_OF_LINE], records, {})


def test_a_row_shows_its_rebuttal_or_that_none_is_written():
    rebuttal = Rebuttal("It is $N$.", "It is not.")
    text = pages.verdict_table(
        [untested(printed="a is", rebuttal=rebuttal)], [PAGE_OF_LINE], NONE, {}
    )
    for output in ("<span>“a is”</span>", "**Its best defence:** It is $N$.", "It is not."):
        assert output in text
    missing = "Nobody has written a defence for this row yet."
    assert [missing in one for one in (text, table_of(0.5), table_of())] == [False, True, False]


@pytest.mark.parametrize("kind", ["paper", "sharper"])
def test_a_row_has_the_three_columns_of_its_grid(kind):
    text = pages.verdict_table([finding(kind=kind)], [PAGE_OF_LINE], NONE, {})
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
def test_a_source_names_figures_and_theorems_else_its_section(source, named):
    assert pages.items_of(source) == named


def test_the_matrix_counts_each_verdict_of_a_figure_and_sharper_readings_and_errata_apart():
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


def test_a_row_says_what_evidence_knows_of_it():
    text = table_of(records=WET)
    assert "<p>It <b>rained</b>. </p>" in text
    assert 'data-records="wet"' in text
    assert "&#34;wet&#34;: &#34;in rain&#34;" in text  # for the filter
    assert table_of().partition("id=")[0] in table_of(records=replace(WET, rows={}))
    counted = counts.answer_counts(ASKED, [FINDING, finding(id="b")], WET)
    output = 'verdicts.html?kind=paper&amp;weather=wet"><b>1</b> were measured in rain</a>'
    assert output in counted
    assert counts.answer_counts(ASKED, [FINDING], NONE) == ""
