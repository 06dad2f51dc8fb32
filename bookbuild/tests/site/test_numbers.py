"""Numbers in the prose of a page: those of its own expressions, and those of other pages."""

import re
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbuild.errors import BookError
from bookbuild.reporting.expressions import TAG, TEXTS
from bookbuild.site.numbers import executed_page, quote_numbers, quoted_in
from bookbuild.source.cells import INJECTED, tags
from bookbuild.source.chapters import Chapter

NUMBERS = {"slope": -1.2345, "share": 0.5, "tiny": -2e-15, "holds": True, "never": float("-inf")}


def code(source: str, *own: str, **more: Any) -> Any:
    return new_code_cell(source, metadata={"tags": list(own)}, **more)


def told(*texts: str) -> Any:
    """The cell that evaluates expressions, with a warning and their values."""
    values = new_output("display_data", data={TEXTS: [*texts]})
    return code("_tell()", TAG, outputs=[new_output("stream", text="careful"), values])


def test_a_page_has_the_outputs_of_an_execution_in_its_current_prose() -> None:
    parameters, shown = (
        code("seed = 0", "parameters", "remove-cell"),
        new_output("stream", text="42"),
    )
    prose = 'New: {eval}`a`, {eval}``f"`{b}`"``, and ``{eval}`c` ``.'
    cells = [parameters, new_markdown_cell(prose), code("42"), new_markdown_cell("{eval}`d`")]
    chapter = Chapter("paper/x", "X", new_notebook(cells=cells))
    executed = [
        parameters,
        code("seed = 3", INJECTED),
        told("-1", "1e+06"),
        new_markdown_cell("old"),
    ]
    executed += [code("42", execution_count=3, outputs=[shown]), told("e")]
    page = executed_page(chapter, new_notebook(cells=executed)).cells
    filled = "New: −1, {math}`10^{6}`, and ``{eval}`c` ``."
    assert [cell.source for cell in page] == ["seed = 0", "seed = 3", filled, "42", "e"]
    assert tags(page[1]) == [INJECTED, "hide-input"]
    assert (page[3].execution_count, page[3].outputs) == (3, [shown])
    assert [cell.source for cell in chapter.notebook.cells[1:3]] == [prose, "42"]
    assert chapter.notebook.cells[2].outputs == []


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("a {glue:text}`slope:.2f` b", "a −1.23 b"),
        ("{glue:text}`share:.0%`, {glue:text}`holds`", "50%, True"),
        ("$N={}${glue:text}`share:.1f`", "$N={}$0.5"),
        ("{glue:text}`never`", "−∞"),
        ("{glue:text}`tiny:.0e`", "−{math}`2\\times10^{-15}`"),
        ("as ``{glue:text}`gone` `` says", "as ``{glue:text}`gone` `` says"),
    ],
)
def test_numbers_of_other_pages_are_quoted_by_name(text: str, page: str) -> None:
    assert quote_numbers(text, "story.md", NUMBERS) == page


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{glue:text}`gone:.2f`", "story.md quotes the number 'gone', which no chapter reports."),
        ("{glue:text}`slope:d2`", "story.md quotes the number 'slope' as 'd2': "),
    ],
)
def test_a_number_that_cannot_be_quoted_is_named(text: str, reason: str) -> None:
    with pytest.raises(BookError, match=re.escape(reason)):
        quote_numbers(text, "story.md", NUMBERS)


def test_a_measure_is_quoted_by_its_name_and_by_its_ends(tmp_path: Path) -> None:
    (tmp_path / "book" / "paper").mkdir(parents=True)
    page = tmp_path / "book" / "paper" / "x.md"
    page.write_text("{glue:text}`a`, {glue:text}`b_max:.1f`, {eval}`d`", encoding="utf-8")
    seeds = {"value": [1.0, 2.0], "over": "seeds"}
    one = {"value": 1.0, "over": None}
    reported = {"paper/x": {"a": one, "b": seeds}, "paper/y": {"c": seeds, "d": one}}
    assert quoted_in(tmp_path, reported) == {"a", "b"}
