"""What the stage makes of the code, the numbers and the prose of a page."""

import copy
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.reporting.expressions import TAG, TEXTS
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
from bookbuild.site.numbers import executed_page, quote_numbers, quoted_in
from bookbuild.source.chapters import INJECTED, Chapter, tags


def output(text, kind="text/html", **about):
    """An output that says in its metadata what it is about."""
    metadata = {ABOUT: about} if about else {}
    return new_output("display_data", data={kind: text}, metadata=metadata)


def test_what_outputs_say_of_themselves_becomes_a_figure_and_lines_below_it():
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
def test_checks_of_a_section_are_behind_a_fold_until_the_next_heading_or_the_end(cells, folded):
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


def findings(a, b):
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
def test_the_verdict_chooses_the_sentence(verdicts, told):
    text = quote_verdicts(PAGE, "story.md", findings(*verdicts), up="../")
    assert f"Before.\n\n{told} <a" in text
    first, second = (verdict.replace(" ", "-") for verdict in verdicts)
    assert f'<a class="verdict {first}" href="../verdicts.html#claim-a">' in text
    assert f'After, <a class="verdict {second}" href="../verdicts.html#claim-b">' in text
    assert "{" not in text


def test_an_unknown_row_is_named():
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
def test_verdicts_follow_the_whole_statement(text, told):
    assert add_below(text, BELOW) == (told or text)


NUMBERS = {"slope": -1.2345, "share": 0.5, "holds": True, "never": float("-inf")}


def code(source, *own, **more):
    return new_code_cell(source, metadata={"tags": list(own)}, **more)


def told(*texts):
    """The cell that evaluates expressions, with a warning and their values."""
    values = new_output("display_data", data={TEXTS: [*texts]})
    return code("_tell()", TAG, outputs=[new_output("stream", text="careful"), values])


def test_a_page_has_the_outputs_of_an_execution_in_its_current_prose():
    parameters, shown = (
        code("seed = 0", "parameters", "remove-cell"),
        new_output("stream", text="42"),
    )
    prose = 'New: {eval}`a`, {eval}``f"`{b}`"``, and ``{eval}`c` ``.'
    cells = [parameters, new_markdown_cell(prose), code("42"), new_markdown_cell("{eval}`d`")]
    chapter = Chapter("paper/x", "X", new_notebook(cells=cells))
    executed = [parameters, code("seed = 3", INJECTED), told("-1", "2"), new_markdown_cell("old")]
    executed += [code("42", execution_count=3, outputs=[shown]), told("e")]
    page = executed_page(chapter, new_notebook(cells=executed)).cells
    filled = "New: −1, 2, and ``{eval}`c` ``."
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
        ("as ``{glue:text}`gone` `` says", "as ``{glue:text}`gone` `` says"),
    ],
)
def test_numbers_of_other_pages_are_quoted_by_name(text, page):
    assert quote_numbers(text, "story.md", NUMBERS) == page


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{glue:text}`gone:.2f`", "story.md quotes the number 'gone', which no chapter reports."),
        ("{glue:text}`slope:d2`", "story.md quotes the number 'slope' as 'd2': "),
    ],
)
def test_a_number_that_cannot_be_quoted_is_named(text, reason):
    with pytest.raises(BookError, match=re.escape(reason)):
        quote_numbers(text, "story.md", NUMBERS)


def test_a_measure_is_quoted_by_its_name_and_by_its_ends(tmp_path):
    (tmp_path / "book" / "paper").mkdir(parents=True)
    page = tmp_path / "book" / "paper" / "x.md"
    page.write_text("{glue:text}`a`, {glue:text}`b_max:.1f`, {eval}`d`", encoding="utf-8")
    seeds = {"value": [1.0, 2.0], "over": "seeds"}
    one = {"value": 1.0, "over": None}
    reported = {"paper/x": {"a": one, "b": seeds}, "paper/y": {"c": seeds, "d": one}}
    assert quoted_in(tmp_path, reported) == {"a", "b"}
