"""What the rows of the verdict page say."""

from typing import Any

import pytest
from nbformat.v4 import new_notebook

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.expectations import Measured, read_expectation
from bookbuild.ledger.pages import KINDS, verdict_counts, verdict_table
from bookbuild.source.chapters import Chapter

CHAPTER = "paper/01_line"


def row(expect: dict[Any, Any], value: Any, over: Any, *, judged: bool = True) -> str:
    """Return the table of one claim, measured as told."""
    expectation, measured = read_expectation(expect), Measured(value, over)
    claim = Claim("a", "§1", "A.", "paper", CHAPTER, "slope", expectation, "Because.")
    verdict = expectation.verdict(measured) if judged else "not judged"
    return verdict_table([Finding(claim, measured, verdict)], [chapter()])


def chapter() -> Chapter:
    return Chapter(CHAPTER, "Line", new_notebook(), ())


def test_no_number_adds_kinds_up() -> None:
    claims = [Claim(f"a-{kind}", "§1", "A.", kind, CHAPTER, not_testable="No.") for kind in KINDS]
    text = verdict_counts([Finding(claim, None, "not testable here") for claim in claims], up="../")
    assert text.count("<b>1</b>") == len(KINDS) == text.count("<dt>")
    assert "<b>4</b>" not in text
    link = '<a class="verdict not-testable-here" href="../verdicts.html?kind=erratum&amp;verdict='
    assert link in text.partition("<dt>Errata of the paper</dt>")[2]


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
    assert "holds in 2 of 2 settings, 1 to 2</a></td>" in text


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
