"""What the rows of the verdict page say."""

from dataclasses import replace
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild.ledger.claims import Claim, Finding, Rebuttal
from bookbuild.ledger.counts import (
    KINDS,
    news,
    record_counts,
    told_verdicts,
    unrenewed,
    verdict_counts,
)
from bookbuild.ledger.evidence import Evidence, Repeated, Rerun
from bookbuild.ledger.pages import (
    items_of,
    matrix,
    results_table,
    verdict_matrix,
    verdict_table,
    verdicts_below,
)
from bookbuild.ledger.planted import Seen
from bookbuild.ledger.preregistration import Preregistration
from bookbuild.ledger.records import Cost, Records
from bookbuild.ledger.trainings import wrong_trainings
from bookbuild.reporting.expectations import Measured, read_expectation
from bookbuild.source.chapters import Chapter

CHAPTER = "paper/01_line"
FINDING = Finding(
    Claim("a", "§1", "A.", "paper", CHAPTER, "slope", read_expectation({"at_least": 1}), "B."),
    Measured(2.0, None),
    "reproduced",
)


def row(
    expect: dict[Any, Any],
    value: Any,
    over: Any,
    *,
    judged: bool = True,
    records: Records = Records(),  # noqa: B008
) -> str:
    """Return the table of one claim, measured as told."""
    expectation, measured = read_expectation(expect), Measured(value, over)
    claim = Claim("a", "§1", "A.", "paper", CHAPTER, "slope", expectation, "Because.")
    verdict = expectation.verdict(measured) if judged else "not judged"
    return verdict_table([Finding(claim, measured, verdict)], [chapter()], records, {})


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        (Cost(27.46, "timed"), "takes 27 minutes on one core.</p>"),
        (Cost(95, "guessed", 5), "takes about 2 hours on one core, with the 5 stored runs that the "
         "chapter reads; some of this is guessed.</p>"),
    ],
)  # fmt: skip
def test_a_chapter_says_what_its_rows_take_from_nothing(cost: Cost, told: str) -> None:
    assert told in row({"at_least": 1}, 1.0, None, records=Records(costs={CHAPTER: cost}))
    assert "from nothing" not in row({"at_least": 1}, 1.0, None)


def test_a_row_shows_its_rebuttal_or_that_none_is_written() -> None:
    rebuttal = Rebuttal("It is $N$.", "It is not.")
    claim = Claim(
        "a", "§1", "A.", "paper", CHAPTER, not_testable="No.", printed="a is", rebuttal=rebuttal
    )
    text = verdict_table([Finding(claim, None, "not testable here")], [chapter()], Records(), {})
    for told in ("<span>“a is”</span>", "\n\nA.\n\n", "**Its best defence:** It is $N$.", "It is not."):
        assert told in text
    missing = "Nobody has written a defence of the paper for this row yet."
    assert missing not in text
    assert missing in row({"at_least": 2}, 1.0, None)
    assert missing not in row({"at_least": 1}, 1.0, None)


def chapter() -> Chapter:
    return Chapter(CHAPTER, "Line", new_notebook(), ())


def test_no_number_adds_kinds_up() -> None:
    claims = [Claim(f"a-{kind}", "§1", "A.", kind, CHAPTER, not_testable="No.") for kind in KINDS]
    text = verdict_counts([Finding(claim, None, "not testable here") for claim in claims], up="../")
    assert text.count("<b>1</b>") == len(KINDS) == text.count("<dt>")
    assert "<b>4</b>" not in text
    link = '<a class="verdict not-testable-here" href="../verdicts.html?kind=erratum&amp;verdict='
    assert link in text.partition("<dt>Errata of the paper</dt>")[2]


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
    assert items_of(source) == named


def test_the_matrix_counts_each_verdict_of_a_figure_and_errata_apart() -> None:
    def finding(name: str, kind: Any, source: str, verdict: Any) -> Finding:
        return Finding(Claim(name, source, "A.", kind, CHAPTER, "slope"), None, verdict)

    drawn = new_code_cell(metadata={"mystnb": {"figure": {"name": "figure-10"}}})
    stated = new_markdown_cell("(figure-2)=\nA sentence.")
    book = new_notebook(cells=[drawn, stated])
    items = matrix(
        [
            finding("a", "paper", "Fig. 2, caption", "contradicted"),
            finding("b", "paper", "§5, Fig. 2", "reproduced"),
            finding("c", "erratum", "Erratum, Fig. 2", "reproduced"),
            finding("d", "new", "Fig. 2", "partly"),  # ours, and no claim of the paper
            finding("e", "paper", "§3", "partly"),
            finding("f", "paper", "Theorem 1", "reproduced"),
        ],
        [Chapter(CHAPTER, "Line", book, ())],
    )
    assert [item.name for item in items] == ["Figure 2", "Figure 10", "Theorem 1", "§3"]
    assert items[0].counts == {"reproduced": 1, "contradicted": 1}
    assert (items[0].errata, items[1].counts, items[1].errata) == (1, {}, 0)
    assert items[0].href == f"{CHAPTER}.html#figure-2"
    assert items[2].href == f"{CHAPTER}.html#measure-slope"


def test_the_verdicts_of_a_statement_lead_to_its_rows() -> None:
    claim = Claim("a", "Theorem 2, Corollary 1", "A.", "paper", CHAPTER, "slope")
    below = verdicts_below([Finding(claim, None, "partly")], [chapter()], up="../")
    assert set(below) == {"theorem-2", "corollary-1"}
    assert "Claims about Corollary 1:" in below["corollary-1"]
    link = "../verdicts.html?kind=paper&amp;item=corollary-1&amp;verdict=partly"
    assert f'href="{link}"' in below["corollary-1"]
    assert "toy sizes" not in below["corollary-1"]
    toy = verdicts_below([Finding(claim, None, "not judged")], [chapter()])
    assert "toy sizes" in toy["theorem-2"]
    text = verdict_matrix([Finding(claim, None, "partly")], [chapter()], up="../")
    assert f'href="../{CHAPTER}.html#measure-slope">Theorem 2</a>' in text
    assert f'href="{link}"' in text
    assert verdict_matrix([], [chapter()]) == ""


def test_contradicted_claims_are_news() -> None:
    claim = Claim("a", "Fig. 2", "It grows.", "paper", CHAPTER, "slope")
    found = Measured(2.0, None)
    text = news([Finding(claim, found, "contradicted")])
    assert 'href="verdicts.html#claim-a">contradicted</a> **Fig. 2.** It grows.' in text
    assert "Of the 1 claims" in text
    assert "0 hold in every run and 0 in some settings or at some seeds. Contradicted: 1." in text
    waiting = news([Finding(claim, found, "partly", unconfirmed=True)])
    assert "1 hold in every run" in waiting
    assert "For 1 of those that hold, the runs at other first seeds" in waiting
    assert "toy sizes" in news([Finding(claim, found, "not judged")])


SLIP = Seen("N < 3 is forgotten.", "code", "paper", "kills")


def evidence(
    own: Any = "reproduced", seeds: Repeated | None = None, *faults: Seen, **repeated: Repeated
) -> Evidence:
    """What is known of a row: steady, if nothing else is told."""
    steady = Repeated(own, reruns(own))
    others = repeated.get("others", Repeated(own))
    return Evidence(seeds or steady, repeated.get("rounding", steady), others, faults)


def reruns(*verdicts: Any, current: bool = True) -> tuple[Rerun, ...]:
    names = (f"seed {100 * place}" for place in range(1, 9))
    return tuple(Rerun(*one, current, "abc") for one in zip(names, verdicts, strict=False))


REPEATED = [
    (Repeated("partly", reruns(*["partly"] * 3)), "steady", "at three other first seeds and under"),
    (
        Repeated("reproduced", reruns("reproduced", "partly", None)),
        "flips",
        "depends on the seed: it is reproduced here, reproduced at seed 100, partly at seed 200.",
    ),
    (Repeated("reproduced", (), ("seed 100",)), "missing", "Nobody has repeated the row at the"),
    (
        Repeated("reproduced", reruns("reproduced", current=False)),
        "earlier",
        "was the same at one other first seed with earlier code (commit abc). ",
    ),
]


@pytest.mark.parametrize(("known", "word", "told"), REPEATED)
def test_a_row_says_what_other_seeds_make_of_it(known: Repeated, word: str, told: str) -> None:
    records = Records(evidence={"a": evidence("reproduced", known)})
    text = row({"at_least": 1}, 2.0, None, records=records)
    assert told in text
    assert f'data-records=" {word} steady untried"' in text
    assert len(text) - len(row({"at_least": 1}, 2.0, None)) < 250  # the page has hundreds of rows
    assert f"kind=paper&amp;seeds={word}" in record_counts("seeds", [FINDING], records)


def test_a_row_says_what_rounding_and_settings_make_of_it() -> None:
    other = Repeated("reproduced", (Rerun("device cuda", "partly", True, "abc"),))
    shown = {
        found: row({"at_least": 1}, 2.0, None, records=Records(evidence={"a": known}))
        for found, known in {
            "steady": evidence(),
            "missing": evidence(rounding=Repeated("reproduced", (), ("rounding one",))),
            "flips": evidence(rounding=other, others=other),
        }.items()
    }
    assert "The verdict is the same at one other first seed and under an" in shown["steady"]
    assert "Nobody has repeated the row under another rounding yet. " in shown["missing"]
    assert "depends on rounding: it is reproduced here, partly at device cuda." in shown["flips"]
    assert "depends on the setting or the device: it is rep" in shown["flips"]
    assert "the setting or the device" not in shown["steady"]
    assert "rounding" not in row({"at_least": 1}, 2.0, None)


@pytest.mark.parametrize(
    ("own", "faults", "told"),
    [
        ("reproduced", [SLIP], "The row would catch this error: N &lt; 3 is forgotten. "),
        ("partly", [SLIP._replace(profile="smoke", current=False)],
         "is forgotten (tried at toy sizes) (tried with earlier code). "),
        ("reproduced", [SLIP._replace(sight="green")] * 2, "None of the errors that we planted"),
        ("reproduced", [], "No error has been planted in this chapter yet."),
    ],
)  # fmt: skip
def test_a_row_says_whether_it_would_catch_an_error(own: Any, faults: Any, told: str) -> None:
    known = evidence(own, None, *faults)
    assert told in row({"at_least": 1}, 2.0, None, records=Records(evidence={"a": known}))


def test_rows_that_lack_evidence_are_counted() -> None:
    lacking = Repeated("reproduced", (), ("seed 100",))
    known = {"a": evidence("reproduced", lacking), "b": evidence()}
    findings = [FINDING, replace(FINDING, claim=replace(FINDING.claim, id="b"))]
    text = unrenewed(findings, Records(evidence=known, required=True))
    assert "Of the 2 rows that are judged, 1 was not repeated" in text
    assert "; by this build alone, 1 of them would read *reproduced*" in text
    assert unrenewed(findings, Records(evidence=known)) == ""
    assert unrenewed(findings[1:], Records(evidence=known, required=True)) == ""
    assert told_verdicts([replace(FINDING, verdict="partly", unconfirmed=True), FINDING])[1] == [
        "partly for want of evidence: 1 rows"
    ]


def test_wrong_trainings_are_a_matrix() -> None:
    loss = Seen("The loss is <wrong>.", "loss", "paper", "true", "It is about positions.")
    faults = [loss, loss._replace(says="It trains.", kind="network", sight="kills", why=""), SLIP,
              loss._replace(says="Tiny.", profile="smoke")]  # fmt: skip
    records = Records(evidence={"a": evidence("reproduced", None, *faults)})
    text = wrong_trainings([FINDING], [chapter()], records)
    assert "Line: 2 wrong trainings, 1 rows" in text
    assert '<th scope="row">Loss: The loss is &lt;wrong&gt;.</th><td>–</td>' in text
    assert "<td>●</td>" in text
    assert "<li>Row 1: It is about positions.</li>" in text
    assert "no matrix" in wrong_trainings([FINDING], [chapter()], Records(evidence={}))


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (
            Preregistration("before", read_expectation({"at_least": 1})),
            "We wrote down this expectation before the measure existed.",
        ),
        (
            Preregistration(
                "changed", read_expectation({"at_least": 1}), (read_expectation({"at_least": 3}),)
            ),
            "We changed this expectation after the measure existed. It was at least 3 before.",
        ),
        (Preregistration("together", read_expectation({"at_least": 1})), "<p><a "),
        (Preregistration("before", read_expectation({"at_least": 2})), "<p><a "),  # another one
    ],
)
def test_a_row_says_when_its_expectation_was_written(known: Preregistration, told: str) -> None:
    text = row({"at_least": 1}, 2.0, None, records=Records(preregistration={"a": known}))
    assert told in text
    own = known.expectation == FINDING.claim.expectation
    counts = record_counts("preregistration", [FINDING], Records(preregistration={"a": known}))
    assert (f"kind=paper&amp;preregistration={known.state}" in counts) == own
    assert f'data-records="{known.state if own else ""}   "' in text


def test_new_results_are_listed_with_what_was_measured() -> None:
    def finding(kind: Any, name: str) -> Finding:
        claim = Claim(name, "§1", f"Law of {name}.", kind, CHAPTER, "slope")
        return Finding(claim, Measured(2.0, None), "reproduced")

    text = results_table([finding("new", "lines"), finding("paper", "curves")], up="../")
    assert "\n\nLaw of lines.\n\n" in text
    assert f'<a href="../{CHAPTER}.html#measure-slope">2</a>' in text
    assert 'href="../verdicts.html#claim-lines">reproduced</a>' in text
    assert "<summary>Measured: 1 reproduced</summary>" in text
    assert "curves" not in text


def test_a_row_over_settings_says_where_it_fails() -> None:
    text = row({"at_least": 1}, {"B = 64": 0.5, "B < 256": [1.0, 0.25], "B = 4": 2.0}, "settings")
    link = '<a href="paper/01_line.html#measure-slope">holds in 1 of 3 settings, 0.25 to 2</a>'
    assert link in text
    fails = "<li>B = 64: 0.5</li><li>B &lt; 256: 0.625 (0.25 to 1, n = 2)</li>"
    assert f'<div class="failing">fails in<ul>{fails}</ul></div>' in text
    assert ">partly<" in text
    text = row({"holds": True}, {f"D = {n}": n < 1 for n in range(6)}, "settings")
    assert "<summary>fails in 5 settings</summary>" in text
    text = row({"at_least": 1}, {"a": 0.5, "b": 2.0}, "settings", judged=False)
    assert ">2 settings, 0.5 to 2</a>" in text
    assert "fail" not in text


@pytest.mark.parametrize(
    ("values", "told"),
    [([1.0, 2.0], ""), ([0.0, 2.0], "<br>holds in 1 of 2 seeds</dd>"), ([0.0], "")],
)
def test_seeds_that_disagree_are_counted(values: list[float], told: str) -> None:
    text = row({"at_least": 1}, values, "seeds")
    assert text.count("holds in") == bool(told)
    assert told in text
