"""Pages as the builder's extensions make them: folds, symbols, metadata, words of the search."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from py_mini_racer import mini_racer
from sphinx_proof.nodes import proof_node

from bookbuild.sphinx_extension import (
    GLOSSARY,
    English,
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


def test_a_proof_is_folded_without_the_word_before_it():
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
def test_details_are_folded_below_their_first_paragraph(name, hidden):
    title, *texts = (nodes.Text(text) for text in ("Controls", "What was found.", "And how."))
    section = nodes.section("", nodes.title("", "", title), ids=["controls", name])
    section += [nodes.paragraph("", "", text) for text in texts]
    document = new_document("page")
    document += section
    fold(None, document, "page")
    assert [child.astext() for node in section.findall(folded) for child in node] == hidden
    assert section.astext().split() == ["Controls", "What", "was", "found.", "And", "how."]


@pytest.mark.parametrize(
    ("page", "text", "classes"),
    [
        ("book/paper/04", r"\alpha", ["symbol", "symbol-3"]),
        ("book/paper/04", r"\alpha = 1", []),
        ("book/companions/01", r"\alpha", []),
        (GLOSSARY, r"\alpha=\alpha_3", ["symbol", "symbol-3"]),
    ],
)
def test_only_whole_formulas_are_marked(tmp_path, page, text, classes):
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


def test_every_page_has_its_metadata(built_once):
    site = built_once[0].settings().site
    pages = sorted((site / "book").rglob("*.html"))
    assert len(pages) == 4
    for path in pages:
        head = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").head
        said = {tag.get("name"): tag["content"] for tag in head.find_all("meta", content=True)}
        assert all(said[tag] for tag in ("description", "citation_title", "citation_author")), path
        (canonical,) = head.find_all("link", rel="canonical")
        address = f"/toy/{path.relative_to(site).as_posix()}"
        assert canonical["href"] == said["citation_public_url"]
        assert canonical["href"].endswith(address)


TEXT = r"γ₄ and N² of layer 1 are \gamma_4 and N^{2}; code has gamma_4."


@pytest.mark.parametrize(
    ("asked", "word"),
    [("γ₄", "gamma4"), ("gamma_4", "gamma4"), ("N²", "N2"), ("N^2", "N2"), ("layer 1", "layer1")],
)
def test_a_query_is_split_into_words_of_the_index(asked, word):
    assert word in English({}).split(TEXT)
    with mini_racer() as engine:
        engine.eval(English.js_splitter_code)
        assert list(engine.call("splitQuery", asked)) == [word]
