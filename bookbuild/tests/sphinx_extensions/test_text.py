"""Proofs and zeros are folded, and symbols of the glossary are marked."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx_proof.nodes import proof_node

from bookbuild.sphinx_extensions.text import (
    GLOSSARY,
    HEAD,
    fold,
    folded,
    mark_symbols,
)

SYMBOLS = r"""| symbol | meaning |
|---|---|
| $N$ | pairs |
| $\mathbf a_i, \mathbf b_i$ | item and label |
| $\alpha=\alpha_3$ | layer 1 |
| $N$ | again |
"""


def table(*rows: tuple[nodes.Node, ...]) -> nodes.table:
    group = nodes.tgroup("", cols=2)
    for row in rows:
        group += nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in row))
    return nodes.table("", group)


def test_a_proof_is_folded_without_the_word_before_it() -> None:
    first = nodes.paragraph("", "", nodes.Text("Proof. By "), nodes.math("", "x"))
    rest = nodes.paragraph("", "", nodes.Text("And so on."))
    section = nodes.admonition("", first, rest, classes=["proof", "proof"], ids=["proof"])
    document = new_document("page")
    document += [nodes.paragraph("", "", nodes.Text("A theorem.")), proof_node("", section)]
    fold(None, document, "page")
    (hidden,) = document.findall(folded)
    assert [child.astext() for child in hidden] == ["By x", "And so on."]
    assert not list(document.findall(proof_node))
    assert document[0].astext() == "A theorem."


@pytest.mark.parametrize(("name", "hidden"), [("details-controls", ["And how."]), ("main", [])])
def test_details_are_folded_below_their_first_paragraph(name: str, hidden: list[str]) -> None:
    title, *texts = (nodes.Text(text) for text in ("Controls", "What was found.", "And how."))
    section = nodes.section("", nodes.title("", "", title), ids=["controls", name])
    section += [nodes.paragraph("", "", text) for text in texts]
    document = new_document("page")
    document += section
    fold(None, document, "page")
    assert [child.astext() for node in section.findall(folded) for child in node] == hidden
    assert section.astext().split() == ["Controls", "What", "was", "found.", "And", "how."]


@pytest.mark.parametrize(
    ("head", "left", "line"),
    [
        (HEAD, ["0", "0"], "2 steps, all vanish"),
        (HEAD, ["x", "y", "0"], "2 of 3 steps do not vanish"),
        (["step", "loss"], ["0"], None),
    ],
)
def test_a_table_of_zeros_is_folded_and_open_where_something_is_left(
    head: list[str], left: list[str], line: str | None
) -> None:
    rows = (head, *(["one", value] for value in left))
    document = new_document("page")
    document += table(*(tuple(map(nodes.Text, row)) for row in rows))
    fold(None, document, "page")
    folds = [(node["line"], node["open"]) for node in document.findall(folded)]
    assert folds == ([(line, "not" in line)] if line else [])
    assert len(list(document.findall(nodes.table))) == 1


@pytest.mark.parametrize(
    ("page", "text", "classes"),
    [
        ("book/paper/04", r"\alpha", ["symbol", "symbol-3"]),
        ("book/paper/04", r"\alpha = 1", []),
        ("book/companions/01", r"\alpha", []),
        (GLOSSARY, r"\alpha=\alpha_3", ["symbol", "symbol-3"]),
    ],
)
def test_only_whole_formulas_are_marked(
    tmp_path: Path, page: str, text: str, classes: list[str]
) -> None:
    glossary = tmp_path / f"{GLOSSARY}.md"
    glossary.parent.mkdir()
    glossary.write_text(SYMBOLS, encoding="utf-8")
    config = "bookbuild: {symbols: [paper, beyond]}\n"
    (tmp_path / "_config.yml").write_text(config, encoding="utf-8")
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.math(text, text))
    mark_symbols(SimpleNamespace(srcdir=tmp_path), document, page)
    (formula,) = document.findall(nodes.math)
    assert formula["classes"] == classes
