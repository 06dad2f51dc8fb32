"""MyST prose as plain Markdown."""

import pytest

from bookbuild.notebooks.prose import Prose

PROSE = Prose(link=lambda name: f"<{name}>")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("{cite}`olsson,reddy`", "[olsson; reddy]"),
        ("{ref}`Hypothesis 1 <hypothesis-1>`", "Hypothesis 1"),
        ("[§2](02_heads.md), [v](../verdicts.md#x)", "[§2](<paper/02_heads>), [v](<verdicts>)"),
        ("(label)=\ntext", "text"),
        (
            "````{prf:proof}\nso\n\n```{note}\nx\n```\n````",
            "> **Proof.**\n>\n> so\n>\n> > **Note.**\n> >\n> > x",
        ),
        (":::{admonition} A title\n:class: tip\ntext\n:::", "> **A title.**\n>\n> text"),
        ("```{math}\n:label: e\nx\n```", "$$\nx\n$$"),
        ("```{include} a.md\n```", "*(Shown on the page of the book.)*"),
        ("```python\n{x}\n(label)=\n```", "```python\n{x}\n(label)=\n```"),
        # places are those of the parser
        ("{ref}``a `b` <c>``", "a `b`"),
        ("[{cite}`reddy`, **x**](#figure-4)", "[reddy], **x**"),
        ("[`a]b`](02_heads.md)", "[`a]b`](<paper/02_heads>)"),
        ('[a](<02_heads.md> "so")', '[a](<paper/02_heads> "so")'),
        ("[![a](b.svg)](02_heads.md)", "[![a](b.svg)](<paper/02_heads>)"),
        ("$`$ {cite}`reddy` $`$", "$`$ [reddy] $`$"),
        ("$N={}${ref}`slope`", "$N={}$slope"),
        ("> a {cite}`olsson,\n> reddy` b", "> a [olsson; reddy] b"),
        (
            "| [a](#a) | b \\| {cite}`reddy` |\n|---|---|\n| [a](#a) | `x` |",
            "| a | b \\| [reddy] |\n|---|---|\n| a | `x` |",
        ),
        ("[^1]: [a](#b)\n\nc[^1]", "[^1]: a\n\nc[^1]"),
        ("term {cite}`reddy`\n: [a](#b)", "term [reddy]\n: a"),
        ("- a\n\n  ```{note}\n  b\n  ```\n- c", "- a\n\n  > **Note.**\n  >\n  > b\n\n- c"),
        ("> ```{note} T\n> b\n> ```\n> c", "> > **T.**\n> >\n> > b\n>\n> c"),
        (
            "::::{prf:proof} of {cite}`reddy`\n:::{note}\n{ref}`x`\n:::\n::::",
            "> **of [reddy].**\n>\n> > **Note.**\n> >\n> > x",
        ),
        ("```{note}\nb\n```\n```{tip}\nc\n```", "> **Note.**\n>\n> b\n\n> **Tip.**\n>\n> c"),
        (":::{code-block} python\n{cite}`reddy`\n:::", "```python\n{cite}`reddy`\n```"),
        ("a\n\n```{raw} html\n<div>\n```\n\nb", "a\n\n\nb"),
    ],
)
def test_prose_becomes_plain_markdown(text, plain):
    assert PROSE.plain(text, "paper") == plain


@pytest.mark.parametrize(
    "text",
    [
        "``{cite}`olsson` `` and `[a](02_heads.md)`",
        "````\n```{note}\n(label)=\n{cite}`olsson`\n```\n````",
        r"\{cite}`olsson`",
        "$\\text{cite}`olsson`$ and $$\\{x\\}_{[a](02_heads.md)}$$",
        "[a](https://x.org#b) [b](mailto:a@b.md) ![c](picture.md.png)",
        "---\ntext\n---",
    ],
)
def test_what_is_no_role_link_or_directive_stays(text):
    assert PROSE.plain(text, "paper") == text
