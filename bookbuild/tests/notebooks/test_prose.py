"""MyST prose as plain Markdown."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookbuild.notebooks.prose import EXTENSIONS, Prose, read_citations
from bookbuild.source.book import read_config
from tools.this_book import ROOT

PROSE = Prose(
    link=lambda name, folder: f"<{name}>",
    numbers={"slope": 1.2345, "share": 0.5, "holds": True},
    citations={"olsson": "Olsson et al., 2022", "reddy": "Reddy, 2023"},
)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a {glue:text}`slope:.2f` b", "a 1.23 b"),
        ("{glue:text}`share:.0%`, {glue:text}`holds`", "50%, True"),
        ("{glue:text}`unknown:.2f`", "…"),
        ("{cite}`olsson,reddy`", "[Olsson et al., 2022; Reddy, 2023]"),
        ("{ref}`Hypothesis 1 <hypothesis-1>`", "Hypothesis 1"),
        ("[§2](02_heads.md), [v](../verdicts.md#x)", "[§2](<paper/02_heads>), [v](<verdicts>)"),
        ("[a](https://x.org/a.md) `code`", "[a](https://x.org/a.md) `code`"),
        ("see [Figure 4](#figure-4)", "see Figure 4"),
        ("(label)=\ntext", "text"),
        (
            "```{prf:theorem} Theorem 2\n:label: two\n\n$a$\n```\nafter",
            "> **Theorem 2.**\n>\n> $a$\n\nafter",
        ),
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
        ("[{cite}`reddy`, **x**](#figure-4)", "[Reddy, 2023], **x**"),
        ("[`a]b`](02_heads.md)", "[`a]b`](<paper/02_heads>)"),
        ('[a](<02_heads.md> "so")', '[a](<paper/02_heads> "so")'),
        ("[![a](b.svg)](02_heads.md)", "[![a](b.svg)](<paper/02_heads>)"),
        ("$`$ {cite}`reddy` $`$", "$`$ [Reddy, 2023] $`$"),
        ("$N={}${glue:text}`slope:.0f`", "$N={}$1"),
        ("two\nlines {cite}`olsson,\nreddy`", "two\nlines [Olsson et al., 2022; Reddy, 2023]"),
        ("> a {cite}`olsson,\n> reddy` b", "> a [Olsson et al., 2022; Reddy, 2023] b"),
        (
            "| [a](#a) | b \\| {cite}`reddy` |\n|---|---|\n| [a](#a) | `x` |",
            "| a | b \\| [Reddy, 2023] |\n|---|---|\n| a | `x` |",
        ),
        ("## On {cite}`reddy` ##", "## On [Reddy, 2023] ##"),
        ("[^1]: [a](#b)\n\nc[^1]", "[^1]: a\n\nc[^1]"),
        ("term {cite}`reddy`\n: [a](#b)", "term [Reddy, 2023]\n: a"),
        ("{math}`x^2`", "$x^2$"),
        ("- a\n\n  ```{note}\n  b\n  ```\n- c", "- a\n\n  > **Note.**\n  >\n  > b\n\n- c"),
        ("- :::{note}\n  b\n  :::", "- > **Note.**\n  >\n  > b"),
        ("> ```{note} T\n> b\n> ```\n> c", "> > **T.**\n> >\n> > b\n>\n> c"),
        (
            "::::{prf:proof} of {cite}`reddy`\n:::{note}\n{ref}`x`\n:::\n::::",
            "> **of [Reddy, 2023].**\n>\n> > **Note.**\n> >\n> > x",
        ),
        (
            "````{prf:proof}\n```python\n{cite}`reddy`\n```\n````",
            "> **Proof.**\n>\n> ```python\n> {cite}`reddy`\n> ```",
        ),
        ("```{note}\n---\nclass: x\n---\nb\n```", "> **Note.**\n>\n> b"),
        ("```{note}\nb\n```\n```{tip}\nc\n```", "> **Note.**\n>\n> b\n\n> **Tip.**\n>\n> c"),
        (":::{code-block} python\n{cite}`reddy`\n:::", "```python\n{cite}`reddy`\n```"),
        ("a\n\n```{raw} html\n<div>\n```\n\nb", "a\n\n\nb"),
        ("- (label)=\n  a", "-\n  a"),
        ("a\n\n(label)=", "a\n"),
    ],
)
def test_prose_becomes_plain_markdown(text, plain):
    assert PROSE.plain(text, "paper") == plain


@pytest.mark.parametrize(
    "text",
    [
        "a role is written `{cite}`olsson``",
        "``{cite}`olsson` `` and `[a](02_heads.md)`",
        "````\n```{note}\n(label)=\n{cite}`olsson`\n```\n````",
        "~~~\n[a](02_heads.md) {cite}`olsson`\n~~~",
        "    {cite}`olsson` [a](#b)\n    (label)=",
        r"\{cite}`olsson`",
        "$\\text{cite}`olsson`$ and $$\\{x\\}_{[a](02_heads.md)}$$",
        "$$\n{cite}`olsson`\n$$",
        "<div>\n[a](#b)\n</div>",
        "[a](https://x.org#b) [b](mailto:a@b.md) ![c](picture.md.png)",
        "---\ntext\n---",
    ],
)
def test_what_is_no_role_link_or_directive_stays(text):
    assert PROSE.plain(text, "paper") == text


@given(st.text(alphabet="a{}`[](#)=:$|>-\\ \n", max_size=40))
def test_a_code_block_stays_whatever_it_holds(code):
    block = f"~~~\n{code}\n~~~"
    assert PROSE.plain(block, "paper") == block


MARKDOWN = [
    *("`", "```", "{cite}`reddy`", "{glue:text}`slope`", "[a](#b)", "[b](c.md)", "$", "|", r"\|"),
    *("\n", "\n\n", "- ", "> ", "  ", "\t", "```{note} T\n", "```\n", ":::{margin}\n", ":::\n"),
    *("(l)=\n", "| a | b |\n|---|---|\n", "# ", "[^1]: ", "[r]: x.md\n", "[r]", "*", "word", " "),
    *("\n: ", "% c\n", "+++\n", "\\", "\0", "\x0b", "![", "<div>\n", "````{raw} html\n", "````\n"),
]


@given(st.lists(st.sampled_from(MARKDOWN), max_size=12).map("".join))
def test_any_text_is_read(text):
    PROSE.plain(text, "paper")


def test_the_syntax_is_that_of_the_site():
    assert set(EXTENSIONS) == set(read_config(ROOT)["parse"]["myst_enable_extensions"])


def test_a_book_says_which_extensions_its_pages_use():
    text = ":::{note}\nso\n:::"
    assert PROSE.plain(text, "paper") == "> **Note.**\n>\n> so"
    assert replace(PROSE, extensions=("dollarmath",)).plain(text, "paper") == text


def test_citations_name_authors_and_year(tmp_path):
    path = tmp_path / "references.bib"
    path.write_text(
        "@misc{a, author={Mu{\\c{s}}at, T and others}, year={2025}}\n"
        "@misc{b, author={Reddy, G}, year={2023}}\n"
        "@misc{c, author={Von Oswald, J and Lee, K}, year={2024}}\n"
        "@misc{d, author={Li, A and Wu, B and Xu, C}, year={2020}}\n"
    )
    assert read_citations(path) == {
        "a": "Muşat et al., 2025",
        "b": "Reddy, 2023",
        "c": "Von Oswald and Lee, 2024",
        "d": "Li et al., 2020",
    }
