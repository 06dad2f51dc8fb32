"""What staging does to notebooks and prose."""

from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbuild.site.stage import graft, relink
from bookbuild.site.staged.cells import LONG, fold_long_code, join_folds, split_reports

NAMES = {"paper/01_line", "beyond/01_square"}


def test_outputs_are_grafted_onto_the_current_prose() -> None:
    tagged = {"tags": ["parameters", "remove-cell"]}
    output = new_output("stream", text="42")
    current = new_notebook(
        cells=[
            new_code_cell("seed = 0", metadata=tagged),
            new_markdown_cell("new prose"),
            new_code_cell("42", metadata={"mystnb": {"image": {"alt": "new text"}}}),
        ]
    )
    executed = new_notebook(
        cells=[
            new_code_cell("seed = 0", metadata=tagged, execution_count=1),
            new_code_cell(
                "seed = 3", metadata={"tags": ["injected-parameters"]}, execution_count=2
            ),
            new_markdown_cell("old prose"),
            new_code_cell("42", execution_count=3, outputs=[output]),
        ]
    )
    cells = graft(current, executed).cells
    assert [cell.source for cell in cells] == ["seed = 0", "seed = 3", "new prose", "42"]
    assert "hide-input" in cells[1].metadata.tags
    assert (cells[3].execution_count, cells[3].outputs) == (3, [output])
    assert cells[3].metadata.mystnb.image.alt == "new text"
    assert current.cells[2].outputs == []


@pytest.mark.parametrize(
    ("folder", "text", "linked"),
    [
        (".", "[a](paper/01_line.md)", "[a](paper/01_line.ipynb)"),
        ("paper", "[a](01_line.md#slope)", "[a](01_line.ipynb#slope)"),
        ("paper", "[a](../beyond/01_square.md)", "[a](../beyond/01_square.ipynb)"),
        ("paper", "[a](../verdicts.md)", None),
        (".", "[a](https://github.com/x/paper/01_line.md)", None),
        (".", "`paper/01_line.md`", None),
    ],
)
def test_links_to_chapters_name_the_staged_notebook(
    folder: str, text: str, linked: str | None
) -> None:
    assert relink(text, Path(folder), NAMES) == (linked or text)


@pytest.mark.parametrize(
    ("lines", "own", "seen"),
    [
        (LONG, [], []),
        (LONG + 1, [], ["hide-input"]),
        (LONG + 1, ["remove-cell"], ["remove-cell"]),
    ],
)
def test_only_long_code_is_folded(lines: int, own: list[str], seen: list[str]) -> None:
    cell = new_code_cell("\n".join(["x = 1"] * lines), metadata={"tags": own})
    fold_long_code(cell)
    assert cell.metadata.tags == seen


def folded(source: str, *outputs: object) -> NotebookNode:
    """A cell of code behind a fold."""
    return new_code_cell(source, metadata={"tags": ["hide-input"]}, outputs=list(outputs))


def test_neighbouring_folds_are_joined_where_nothing_is_shown_between() -> None:
    glued = new_output("display_data", metadata={"scrapbook": {"name": "slope"}})
    shown = new_output("stream", text="42")
    cells = join_folds([folded("a = 1"), folded("b = 2", glued), folded("c = 3", shown)])
    assert [cell.source for cell in cells] == ["a = 1\n\nb = 2\n\nc = 3"]
    assert cells[0].outputs == [glued, shown]


def test_other_neighbours_stay_apart() -> None:
    shown = new_output("stream", text="42")
    cells = [folded("a", shown), folded("b"), new_markdown_cell("text"), folded("c")]
    cells += [new_code_cell("d"), folded("e")]
    assert join_folds(cells) == cells


def test_reports_go_behind_a_fold_and_the_model_stays_in_sight() -> None:
    glued = new_output("display_data", metadata={"scrapbook": {"name": "slope"}})
    source = "law = fit(x)\n\n# the slope\nreport('slope', law)\nprint(law)"
    cell = new_code_cell(source, outputs=[glued], execution_count=3)
    head, tail = split_reports([cell])
    assert (head.source, tail.source) == (
        "law = fit(x)",
        "# the slope\nreport('slope', law)\nprint(law)",
    )
    assert (head.outputs, tail.outputs) == ([], [glued])
    assert head.execution_count == tail.execution_count == 3
    assert tail.metadata.tags == ["hide-input"]
    assert head.id != tail.id


def test_other_cells_that_report_are_folded_whole_or_stay() -> None:
    (cell,) = split_reports([new_code_cell("for k in (1, 2):\n    report(f'a_{k}', k)")])
    assert cell.source.startswith("for k")
    assert cell.metadata.tags == ["hide-input"]
    stay = [new_code_cell("a = 1  # no report"), new_markdown_cell("report(this)")]
    stay += [new_code_cell("report('a', 1)", metadata={"tags": ["remove-cell"]})]
    assert split_reports(stay) == stay
