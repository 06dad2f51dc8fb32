"""What the rows of the verdict page say."""

from typing import Any

import pytest
from bookbuild.ledger.carried import IN_PLACE, Carried, carried_on
from bookbuild.ledger.mutation import trial_of
from bookbuild.ledger.seed_sensitivity import Rerun, with_reruns
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild.ledger.claims import Claim, Finding, Rebuttal
from bookbuild.ledger.counts import KINDS, news, record_counts, verdict_counts
from bookbuild.ledger.pages import (
    items_of,
    matrix,
    results_table,
    verdict_matrix,
    verdict_table,
    verdicts_below,
)
from bookbuild.ledger.preregistration import Preregistration
from bookbuild.ledger.records import Cost, Records
from bookbuild.ledger.templates import render
from bookbuild.reporting.expectations import Measured, read_expectation
from bookbuild.source.chapters import Chapter

CHAPTER = "paper/01_line"


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


def test_a_row_says_what_it_takes_from_scratch() -> None:
    told = {
        Cost(0.02, "timed"): "From scratch: under 0.1 minutes of one core.",
        Cost(27.46, "timed"): "From scratch: 27.5 minutes of one core.",
        Cost(
            60, "guessed", 5
        ): "From scratch: 60.0 minutes of one core, with 5 stored runs; some of this is guessed.",
    }
    for cost, sentence in told.items():
        assert sentence in row({"at_least": 1}, 1.0, None, records=Records(costs={CHAPTER: cost}))
    assert "From scratch" not in row({"at_least": 1}, 1.0, None)


def test_a_row_shows_its_rebuttal_or_that_none_is_written() -> None:
    rebuttal = Rebuttal("“A” (§1).", "It is $N$.", "It is not.")
    plain = Claim("a", "§1", "A.", "paper", CHAPTER, not_testable="No.")
    defended = Claim("a", "§1", "A.", "paper", CHAPTER, not_testable="No.", rebuttal=rebuttal)
    shown = [
        verdict_table([Finding(claim, None, "not testable here")], [chapter()], Records(), {})
        for claim in (defended, plain)
    ]
    for text in ("**The paper:** “A” (§1).", "**Its best defence:** It is $N$.", "It is not."):
        assert text in shown[0]
        assert text not in shown[1]
    missing = "Nobody has written a defence of the paper for this row yet."
    assert missing in shown[1]
    assert missing not in shown[0]
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
        ("Fig. 4, caption", ["Figure 4"]),
        ("Figs. 6-8", ["Figure 6", "Figure 7", "Figure 8"]),
        ("Definitions 1 and 2, Fig. 4", ["Figure 4", "Definition 1", "Definition 2"]),
        ("Assumptions 3, 7", ["Assumption 3", "Assumption 7"]),
        ("Theorem 2, Corollary 1", ["Theorem 2", "Corollary 1"]),
        ("Theorem 1, A.5", ["Theorem 1"]),
        ("Geometry of grokking, Theorem 4.14", []),  # of another paper
        ("§2.1, §3.1", ["§2"]),
        ("A.6, A.7", ["Appendix A"]),
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
    assert verdicts_below([], [chapter()]) == {}


def test_the_matrix_is_a_grid_of_links() -> None:
    claim = Claim("a", "Fig. 2", "A.", "paper", CHAPTER, "slope")
    text = verdict_matrix([Finding(claim, None, "contradicted")], [chapter()], up="../")
    assert f'href="../{CHAPTER}.html#measure-slope">Figure 2</a>' in text
    link = "../verdicts.html?kind=paper&amp;item=figure-2&amp;verdict=contradicted"
    assert f'href="{link}"' in text
    assert verdict_matrix([], [chapter()]) == ""


def test_contradicted_claims_are_news() -> None:
    claim = Claim("a", "Fig. 2", "It grows.", "paper", CHAPTER, "slope")
    found = Measured(2.0, None)
    text = news([Finding(claim, found, "contradicted")])
    assert 'href="verdicts.html#claim-a">contradicted</a> **Fig. 2.** It grows.' in text
    assert "contradict 1 of the 1 claims of the paper" in text
    assert "contradict none of the 1 claims" in news([Finding(claim, found, "partly")])
    assert "toy sizes" in news([Finding(claim, found, "not judged")])


def rerun(own: Any, *verdicts: Any, current: bool = True, carried: Carried = IN_PLACE) -> Rerun:
    seeds = tuple(100 * (1 + place) for place in range(len(verdicts)))
    return Rerun(seeds, verdicts, own, current, carried)


@pytest.mark.parametrize(
    ("stored", "slug", "told"),
    [
        (rerun("reproduced", *["reproduced"] * 3), "steady", "holds at 3 of 3"),
        (rerun("contradicted", *["contradicted"] * 3), "steady", "holds at 0 of 3"),
        (
            rerun("reproduced", "reproduced", "contradicted", "partly"),
            "flips",
            "flips: reproduced here, reproduced from 100, contradicted from 200, partly from 300",
        ),
        (
            rerun("reproduced", "contradicted", current=False),
            "flips",
            "flips: reproduced here, contradicted from 100; measured by earlier code",
        ),
        (
            rerun("reproduced", "reproduced", current=False),
            "earlier",
            "holds at 1 of 1; measured by earlier code",
        ),
        (
            rerun("reproduced", "reproduced", carried=Carried(2, ("smoke",))),
            "steady",
            "holds at 1 of 1; carried over 2 edits that changed no bit of the smoke book",
        ),
    ],
)
def test_a_row_says_at_how_many_other_seeds_it_holds(stored: Rerun, slug: str, told: str) -> None:
    text = row({"at_least": 1}, 2.0, None, records=Records(reruns={"a": stored}))
    assert f'<p class="rerun">Other first seeds: {told}.</p>' in text
    assert f'data-seeds="{slug}"' in text
    assert "other first seed" not in row({"at_least": 1}, 2.0, None).lower()


@pytest.mark.parametrize(
    ("stored", "slug", "told"),
    [
        (rerun("partly", "partly"), "steady", "also partly"),
        (
            rerun("reproduced", "contradicted"),
            "flips",
            "the verdict depends on it: reproduced here, contradicted there",
        ),
        (
            rerun("reproduced", "reproduced", current=False),
            "earlier",
            "also reproduced; measured by earlier code",
        ),
    ],
)
def test_a_row_says_whether_rounding_decides_it(stored: Rerun, slug: str, told: str) -> None:
    records = Records(roundings={"a": stored})
    text = row({"at_least": 1}, 2.0, None, records=records)
    assert f'<p class="rerun">Other rounding: {told}.</p>' in text
    assert f'data-rounding="{slug}"' in text
    claim = Claim("a", "§1", "A.", "new", CHAPTER, "slope", read_expectation({"at_least": 1}))
    counts = record_counts("rounding", [Finding(claim, None, "reproduced")], records)
    assert f"kind=new&amp;rounding={slug}" in counts


@pytest.mark.parametrize("current", [True, False])
def test_a_row_that_flips_is_partly_at_best(current: bool) -> None:
    """However old the evidence is: an edit alone must not lift a verdict."""
    claim = Claim("a", "§1", "A.", "paper", CHAPTER, "slope", read_expectation({"at_least": 1}))

    def verdict(own: Any, *others: Any) -> str:
        finding = Finding(claim, Measured(2.0, None), own)
        (one,), (other,) = (
            with_reruns([finding], *stored)
            for stored in (({"a": rerun(own, *others, current=current)}, {}),
                           ({}, {"a": rerun(own, *others, current=current)}))
        )  # fmt: skip
        assert one == other
        return one.verdict

    assert verdict("reproduced", "reproduced", "contradicted") == "partly"
    assert verdict("reproduced", "partly") == "partly"
    assert verdict("reproduced", "reproduced") == "reproduced"
    assert verdict("contradicted", "reproduced") == "contradicted"  # no row rises by another run
    own = [Finding(claim, Measured(2.0, None), "reproduced")]
    assert with_reruns(own, {}) == own


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (
            Preregistration("before", read_expectation({"at_least": 1})),
            "written before the measure",
        ),
        (
            Preregistration(
                "changed", read_expectation({"at_least": 1}), (read_expectation({"at_least": 3}),)
            ),
            "changed after the measure; it was at least 3",
        ),
        (Preregistration("before", read_expectation({"at_least": 2})), ""),  # another expectation
    ],
)
def test_a_row_says_when_its_expectation_was_written(known: Preregistration, told: str) -> None:
    text = row({"at_least": 1}, 2.0, None, records=Records(preregistration={"a": known}))
    assert (f'<p class="preregistration">Expectation: {told}.</p>' in text) is bool(told)
    assert f'data-preregistration="{known.state if told else ""}"' in text


def test_expectations_are_counted_by_when_they_were_written() -> None:
    claim = Claim("a", "§1", "A.", "new", CHAPTER, "slope", read_expectation({"at_least": 1}))
    findings = [Finding(claim, Measured(2.0, None), "reproduced")]
    known = {"a": Preregistration("together", read_expectation({"at_least": 1}))}
    text = record_counts("preregistration", findings, Records(preregistration=known))
    assert 'verdicts.html?kind=new&amp;preregistration=together"><b>1</b> not told</a>' in text
    text = record_counts("seeds", findings, Records(reruns={"a": rerun("reproduced", "partly")}))
    assert 'verdicts.html?kind=new&amp;seeds=flips"><b>1</b> flip</a>' in text
    assert (
        record_counts("preregistration", findings, Records())
        == record_counts("seeds", findings, Records())
        == ""
    )


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


RECORD: dict[str, Any] = {
    "chapters": {
        CHAPTER: {
            "fingerprint": "1",
            "faults": {
                "slip": {"says": "a factor is forgotten", "profile": "paper"},
                "turn": {"says": "all is -1", "profile": "smoke"},
            },
            "rows": {
                "a": {"turned": ["slip"]},
                "b": {"moved": ["slip"]},
                "c": {},
                "e": {"turned": ["turn"]},
                "f": {"improved": ["slip"]},
            },
        }
    },
    "argued": {"c": "It is counted by hand."},
}


@pytest.mark.parametrize(
    ("name", "fingerprint", "verdict", "alertness", "told"),
    [
        ("a", "1", "partly", "turned", "1 of 2 turn this row, the sharpest: a factor is forgotten"),
        ("a", "1", "contradicted", "turned", "1 of 2 turn this row, the sharpest: a factor is "
         "forgotten"),
        ("a", "2", "partly", "untried", ""),  # the chapter has been edited since
        ("b", "1", "reproduced", "green", "none of 2 turns this row"),
        ("b", "1", "contradicted", "contradicted", "the row is contradicted, "
         "so none of 2 can make it worse"),
        ("c", "2", "reproduced", "argued", "It is counted by hand"),
        ("d", "1", "contradicted", "untried", ""),
        ("f", "1", "contradicted", "contradicted", "the row is contradicted, so none of 2 can make "
         "it worse; 1 makes it better, which proves nothing"),
        ("f", "1", "reproduced", "green", "none of 2 turns this row; 1 makes it better, which "
         "proves nothing"),
    ],
)  # fmt: skip
def test_a_row_says_whether_a_planted_fault_turns_it(
    name: str, fingerprint: str, verdict: Any, alertness: str, told: str
) -> None:
    claim = Claim(name, "§1", "A.", "new", CHAPTER, "slope", read_expectation({"at_least": 1}))
    trial = trial_of(Finding(claim, None, verdict), RECORD, {CHAPTER: fingerprint})
    assert trial.alertness == alertness
    text = row({"at_least": 1}, 2.0, None, records=Records(trials={"a": trial}))
    assert f'data-faults="{alertness}"' in text
    assert (f'<p class="planted">Planted faults: {told}.</p>' in text) is bool(told)
    counts = record_counts(
        "faults", [Finding(claim, None, "reproduced")], Records(trials={name: trial})
    )
    assert f"kind=new&amp;faults={alertness}" in counts


def test_a_row_tried_at_tiny_sizes_says_so() -> None:
    claim = Claim("e", "§1", "A.", "new", CHAPTER, "slope", read_expectation({"at_least": 1}))
    finding = Finding(claim, None, "reproduced")
    records = Records(trials={"a": trial_of(finding, RECORD, {CHAPTER: "1"})})
    text = row({"at_least": 1}, 2.0, None, records=records)
    assert "Planted faults (tiny sizes): 1 of 2 turn this row" in text


def test_a_row_tells_its_faults_by_kind_and_size_and_leaves_symmetries_out() -> None:
    faults = {
        "slip": {"says": "a factor is forgotten", "profile": "paper"},
        "loss": {"says": "the loss is wrong", "profile": "paper", "kind": "loss"},
        "other": {"says": "the loss is wrong too", "profile": "paper", "kind": "loss"},
        "far": {"says": "nothing here", "profile": "paper", "kind": "loss"},
        "turn": {"says": "all is -1", "profile": "smoke"},
        "same": {"says": "all is turned", "profile": "paper", "kind": "loss", "symmetry": True},
    }
    rows = {"a": {"turned": ["loss"], "moved": ["slip", "other", "turn", "same"]}}
    chapter = {"fingerprint": "1", "faults": faults, "rows": rows}
    claim = Claim("a", "§1", "A.", "new", CHAPTER, "slope", read_expectation({"at_least": 1}))
    record = {"chapters": {CHAPTER: chapter}, "argued": {}}
    trial = trial_of(Finding(claim, None, "reproduced"), record, {CHAPTER: "1"})
    text = row({"at_least": 1}, 2.0, None, records=Records(trials={"a": trial}))
    assert "1 of 5 turn this row, the sharpest: the loss is wrong. By kind" in text
    assert "its reach: code 0 of 1, code at tiny sizes 0 of 1, loss 1 of 3." in text
    assert "Its verdict stays the same under 1 change that is not a fault" in text
    rows["a"]["turned"].append("same")
    turned = trial_of(Finding(claim, None, "reproduced"), record, {CHAPTER: "1"})
    assert (turned.symmetries, turned.turned) == (0, trial.turned)


def test_a_drill_that_was_carried_over_an_edit_is_current_and_says_so() -> None:
    chapter = carried_on(RECORD["chapters"][CHAPTER], "1", "2", "c" * 12, "smoke", 787)
    record = {**RECORD, "chapters": {CHAPTER: chapter}}
    claim = Claim("a", "§1", "A.", "new", CHAPTER, "slope", read_expectation({"at_least": 1}))
    trial = trial_of(Finding(claim, None, "reproduced"), record, {CHAPTER: "2"})
    assert trial.alertness == "turned"
    text = row({"at_least": 1}, 2.0, None, records=Records(trials={"a": trial}))
    assert "forgotten; carried over 1 edit that changed no bit of the smoke book.</p>" in text


def test_the_faults_that_the_witness_missed_are_listed() -> None:
    missed = [{"fault": "slip", "says": "N < 3 is forgotten"}]
    record = {"tried": 180, "refused": 179, "missed": missed, "blind": ["law"]}
    text = render("witness.html", **record)
    assert "of the 180 hand-written faults that we planted" in text
    assert "it refused 179. It missed those listed here" in text
    assert "<ul>\n<li>N &lt; 3 is forgotten</li>\n</ul>" in text
    assert "compared in the paper profile" in text
    assert "\n\n" not in text.strip()  # one block of HTML


def test_a_witness_that_missed_nothing_lists_nothing() -> None:
    text = render("witness.html", tried=3, refused=3, missed=[], blind=[])
    assert "it refused 3.</p>" in text
    assert "missed" not in text


def test_a_row_over_settings_says_where_it_fails() -> None:
    text = row({"at_least": 1}, {"B = 64": 0.5, "B < 256": [1.0, 0.25], "B = 4": 2.0}, "settings")
    link = '<a href="paper/01_line.html#measure-slope">holds in 1 of 3 settings, 0.25 to 2</a>'
    assert link in text
    fails = "<li>B = 64: 0.5</li><li>B &lt; 256: 0.625 (0.25 to 1, n = 2)</li>"
    assert f'<div class="failing">fails in<ul>{fails}</ul></div>' in text
    assert ">partly<" in text


def test_many_failing_settings_stand_behind_a_fold() -> None:
    text = row({"holds": True}, {f"D = {n}": n < 1 for n in range(6)}, "settings")
    assert "holds in 1 of 6 settings</a>" in text
    assert "<summary>fails in 5 settings</summary>" in text
    assert text.count("<li>") == 5


def test_where_nothing_fails_nothing_is_named() -> None:
    text = row({"at_least": 1}, {"a": 1.0, "b": 2.0}, "settings")
    assert "holds in 2 of 2 settings, 1 to 2</a></dd>" in text


@pytest.mark.parametrize(
    ("values", "told"),
    [([1.0, 2.0], ""), ([0.0, 2.0], '<p class="holding">holds in 1 of 2 seeds</p>'), ([0.0], "")],
)
def test_seeds_that_disagree_are_counted(values: list[float], told: str) -> None:
    text = row({"at_least": 1}, values, "seeds")
    assert text.count("holds in") == bool(told)
    assert told in text


def test_without_a_verdict_no_setting_fails() -> None:
    text = row({"at_least": 1}, {"a": 0.5, "b": 2.0}, "settings", judged=False)
    assert ">2 settings, 0.5 to 2</a>" in text
    assert "fail" not in text
