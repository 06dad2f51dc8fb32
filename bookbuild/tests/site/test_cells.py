"""What the stage makes of the code and the prose of a page."""

import copy
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.reporting.notebook import ABOUT, FOLD_OPENING
from bookbuild.site.cells import (
    FOLD_END,
    FOLD_START,
    SURPRISE,
    TOY,
    add_below,
    arrange,
    fold_checks,
    quote_verdicts,
)


def output(text: str, kind: str = "text/html", **about: Any) -> NotebookNode:
    """An output that says in its metadata what it is about."""
    metadata = {ABOUT: about} if about else {}
    return new_output("display_data", data={kind: text}, metadata=metadata)


def test_what_outputs_say_of_themselves_becomes_a_figure_and_lines_below_it() -> None:
    stream = new_output("stream", text="42")
    drawing = output("<svg/>", "image/svg+xml", figure="fig-1", alt="It grows.")
    outputs = [
        output("<table>", measures=["slope", "free"]),
        stream,
        drawing,
        output("**It grows.**", "text/markdown", caption="fig-1"),
        output(f"{FOLD_OPENING}made by"),
        output("<p>a", measures=["a"], check=True),
        output("<p>b", measures=["b"], check=True),
    ]
    cell = new_code_cell("1", outputs=outputs, metadata={"tags": ["hide-input"]})
    below = arrange(cell, " and ".join)
    assert below == ["<p>a\n<p>b", "slope and free", f"{FOLD_OPENING}made by"]
    assert cell.outputs == [stream, drawing]
    assert drawing.metadata == {}
    assert cell.metadata == {
        "tags": ["hide-input"],
        "mystnb": {
            "image": {"alt": "It grows."},
            "figure": {"name": "fig-1", "caption": "**It grows.**"},
        },
    }
    for plain in (new_markdown_cell("text"), new_code_cell("1", outputs=[stream])):
        before = copy.deepcopy(plain)
        assert (arrange(plain, "".join), plain) == ([], before)


CODE = new_code_cell("x = 1")


@pytest.mark.parametrize(
    ("cells", "folded"),
    [
        (["## A\n\na", CODE, "## B"], ["## A\n\na", CODE, "## B"]),
        (
            ["a\n\n## 5.3 Checks of this section\n\nb", CODE, "### C\n\n## D\n\nx", CODE],
            [
                *("a", "## 5.3 Checks of this section", FOLD_START, "b", CODE, "### C", FOLD_END),
                *("## D", "x", CODE),
            ],
        ),
        (
            ["(label-1)=\n## A.2* Checks of this section", CODE, "### C\n\nc"],
            [
                "(label-1)=\n## A.2* Checks of this section",
                FOLD_START,
                CODE,
                "### C\n\nc",
                FOLD_END,
            ],
        ),
        (
            ["## Checks of this section\n\na\n\n(b)=\n## B", "## C"],
            ["## Checks of this section", FOLD_START, "a", FOLD_END, "(b)=\n## B", "## C"],
        ),
        (["## Checks of this section of ours", CODE], ["## Checks of this section of ours", CODE]),
        (["### Checks of this section", CODE], ["### Checks of this section", CODE]),
    ],
)
def test_checks_of_a_section_are_behind_a_fold_until_the_next_heading_or_the_end(
    cells: list[Any], folded: list[Any]
) -> None:
    result = fold_checks([new_markdown_cell(x) if isinstance(x, str) else x for x in cells])
    texts = (x if isinstance(x, str) else x.source for x in folded)
    assert [cell.source for cell in result] == [*texts]
    assert len({cell.id for cell in result if cell is not CODE}) == len(result) - folded.count(CODE)


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
