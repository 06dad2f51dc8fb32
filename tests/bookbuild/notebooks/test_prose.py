"""MyST prose as plain Markdown."""

import pytest

from bookbuild.notebooks.prose import Prose, read_citations

PROSE = Prose(
    link=lambda name: f"<{name}>",
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
            "> **Theorem 2.**\n>\n> $a$\nafter",
        ),
        (
            "````{prf:proof}\nso\n\n```{note}\nx\n```\n````",
            "> **Proof.**\n>\n> so\n>\n> > **Note.**\n> >\n> > x",
        ),
        (":::{admonition} A title\n:class: tip\ntext\n:::", "> **A title.**\n>\n> text"),
        ("```{math}\n:label: e\nx\n```", "$$\nx\n$$"),
        ("```{include} a.md\n```", "*(Shown on the page of the book.)*"),
        ("```python\n{x}\n(label)=\n```", "```python\n{x}\n(label)=\n```"),
    ],
)
def test_prose_becomes_plain_markdown(text, plain):
    assert PROSE.plain(text, "paper") == plain


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
