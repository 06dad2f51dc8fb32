"""What the stage makes of the code and the prose of a page."""

from collections.abc import Sequence
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.site.cells import LONG, SURPRISE, TOY, add_below, fold_cells, quote_verdicts
from bookbuild.site.stage import INJECTED, graft
from bookbuild.source.chapters import tags


def test_outputs_are_grafted_onto_the_current_prose() -> None:
    output = new_output("stream", text="42")
    alt = {"mystnb": {"image": {"alt": "new text"}}}
    parameters = code("seed = 0", "parameters", "remove-cell")
    shown = new_code_cell("42", metadata=alt)
    current = new_notebook(cells=[parameters, new_markdown_cell("new prose"), shown])
    executed = [parameters, code("seed = 3", INJECTED), new_markdown_cell("old prose")]
    executed.append(new_code_cell("42", execution_count=3, outputs=[output]))
    cells = graft(current, new_notebook(cells=executed)).cells
    assert [cell.source for cell in cells] == ["seed = 0", "seed = 3", "new prose", "42"]
    assert "hide-input" in tags(cells[1])
    assert (cells[3].execution_count, cells[3].outputs) == (3, [output])
    assert cells[3].metadata.mystnb.image.alt == "new text"
    assert current.cells[2].outputs == []


def folds(*cells: NotebookNode) -> list[tuple[str, bool]]:
    """What is shown of cells, and whether it is behind a fold."""
    return [(cell.source, "hide-input" in tags(cell)) for cell in fold_cells(cells)]


def code(source: str, *own: str, outputs: Sequence[object] = ()) -> NotebookNode:
    return new_code_cell(source, metadata={"tags": list(own)}, outputs=list(outputs))


@pytest.mark.parametrize(
    ("lines", "own", "folded"),
    [(LONG, (), False), (LONG + 1, (), True), (LONG + 1, ("remove-cell",), False)],
)
def test_only_long_code_is_folded(lines: int, own: tuple[str, ...], folded: bool) -> None:
    source = "\n".join(["x = 1"] * lines)
    assert folds(code(source, *own)) == [(source, folded)]


GLUED = new_output("display_data", metadata={"scrapbook": {"name": "slope"}})
SHOWN = new_output("stream", text="42")


def test_neighbouring_folds_are_joined_where_nothing_is_shown_between() -> None:
    hidden = [code("a = 1", "hide-input"), code("b = 2", "hide-input", outputs=[GLUED])]
    (cell,) = fold_cells([*hidden, code("c = 3", "hide-input", outputs=[SHOWN])])
    assert cell.source == "a = 1\n\nb = 2\n\nc = 3"
    assert cell.outputs == [GLUED, SHOWN]
    cells = [code("a", "hide-input", outputs=[SHOWN]), code("b", "hide-input")]
    cells += [
        new_markdown_cell("text"),
        code("c", "hide-input"),
        code("d"),
        code("e", "hide-input"),
    ]
    assert fold_cells(cells) == cells


def test_reports_go_behind_a_fold_and_the_model_stays_in_sight() -> None:
    source = "law = fit(x)\n\n# the slope\nreport('slope', law)\nprint(law)"
    cell = code(source, outputs=[GLUED])
    cell.execution_count = 3
    head, tail = fold_cells([cell])
    assert head.source == "law = fit(x)"
    assert tail.source == "# the slope\nreport('slope', law)\nprint(law)"
    assert (head.outputs, tail.outputs) == ([], [GLUED])
    assert head.execution_count == tail.execution_count == 3
    assert tags(tail) == ["hide-input"]
    assert head.id != tail.id
    whole = "for k in (1, 2):\n    report(f'a_{k}', k)"
    assert folds(code(whole)) == [(whole, True)]
    stay = [code("a = 1  # no report"), code("report('a', 1)", "remove-cell")]
    assert fold_cells(stay) == stay


PAGE = """Before.

```{concluded} a b
reproduced: Both hold.
partly: One of them holds.
```

After, {verdict}`b`.
"""


def findings(a: Any, b: Any) -> dict[str, Finding]:
    return {
        name: Finding(Claim(name, "§1", f"It is {name}.", "paper", "paper/x"), None, verdict)
        for name, verdict in (("a", a), ("b", b))
    }


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (("reproduced", "reproduced"), "Both hold."),
        (("reproduced", "contradicted"), "One of them holds."),
        (("contradicted", "contradicted"), f"{SURPRISE}It is a. It is b."),
        (("reproduced", "not judged"), TOY),
    ],
)
def test_the_verdict_chooses_the_sentence(verdicts: tuple[str, str], told: str) -> None:
    text = quote_verdicts(PAGE, "story.md", findings(*verdicts), up="../")
    assert f"Before.\n\n{told} <a" in text
    first, second = (verdict.replace(" ", "-") for verdict in verdicts)
    assert f'<a class="verdict {first}" href="../verdicts.html#claim-a">' in text
    assert f'After, <a class="verdict {second}" href="../verdicts.html#claim-b">' in text
    assert "{" not in text


def test_an_unknown_row_is_named() -> None:
    with pytest.raises(
        BookError, match=r"story\.md quotes the claim 'a', which is not in the ledger"
    ):
        quote_verdicts(PAGE, "story.md", {})


BELOW = {"theorem-1": "<p>one</p>\n", "lemma-2": "<p>two</p>\n"}
THEOREM = "```{prf:theorem} Ours\n:label: theorem-1\n\nIt holds.\n\n$$x$$\n```"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Before.\n\n{THEOREM}\n\nAfter.", f"Before.\n\n{THEOREM}\n\n<p>one</p>\n\nAfter."),
        (f"(lemma-2)=\n{THEOREM}", f"(lemma-2)=\n{THEOREM}\n\n<p>two</p>\n\n<p>one</p>"),
        ("(lemma-2)=\nOne.\nTwo.\n\nThree.", "(lemma-2)=\nOne.\nTwo.\n\n<p>two</p>\n\nThree."),
        ("(other-3)=\nNo claim.\n", None),
        ("See [](#theorem-1).", None),
        (
            f"````{{admonition}} Both\n{THEOREM}\n````\n\nAfter.",
            f"````{{admonition}} Both\n{THEOREM}\n````\n\n<p>one</p>\n\nAfter.",
        ),
    ],
)
def test_verdicts_follow_the_whole_statement(text: str, told: str | None) -> None:
    assert add_below(text, BELOW) == (told or text)
