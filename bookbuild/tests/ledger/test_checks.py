"""The checks of chapters as a table, and their counts."""

from typing import Any

from nbformat.v4 import new_notebook

from bookbuild.ledger.checks import checks_of, checks_table, told_checks
from bookbuild.source.chapters import Chapter

LINE, SQUARE = "paper/01_line", "beyond/01_square"
CHAPTERS = [Chapter(name, name.title(), new_notebook(), ()) for name in (SQUARE, LINE)]


def measure(value: Any, over: str | None = None, **check: Any) -> dict[str, Any]:
    return {"value": value, "over": over, "check": check}


REPORTED = {
    LINE: {
        "slope": measure(2.0, what="slope < 3", at_most=3),
        "slopes": measure([1.0, 2.0], "seeds", what="slopes", within=[0, 1.5]),
        "free": {"value": 1.0, "over": None},
    },
    SQUARE: {"is_square": measure(False, what="it is square", holds=True)},
    "paper/02_other": {"free_too": {"value": 1.0, "over": None}},
}


def test_checks_are_told_by_chapter_in_the_order_of_the_book() -> None:
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
