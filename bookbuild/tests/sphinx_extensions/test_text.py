"""Pages as the builder's extensions make them: folds, symbols, metadata, words of the search."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from py_mini_racer import mini_racer

from bookbuild.sphinx_extension import GLOSSARY, English, fold, folded, mark_symbols

SYMBOLS = r"""| symbol | meaning |
|---|---|
| $N$ | pairs |
| $\mathbf a_i, \mathbf b_i$ | item and label |
| $\alpha=\alpha_3$ | layer 1 |
| $N$ | again |
"""


@pytest.mark.parametrize(
    ("title", "name", "hidden"),
    [
        ("Controls", "details-controls", ["And how."]),
        ("A.2* Checks of this section", "checks", ["What was found.", "And how."]),
        ("Checks of this section of ours", "details", []),
    ],
)
def test_details_and_checks_are_folded_and_what_is_about_the_page_is_not(title, name, hidden):
    section = nodes.section("", nodes.title("", "", nodes.Text(title)), ids=["controls", name])
    section += [nodes.paragraph("", "", nodes.Text(x)) for x in ("What was found.", "And how.")]
    section += nodes.raw("", '<p class="made-by">This page</p>', format="html")
    section += nodes.admonition("", classes=["cite"])
    whole = nodes.section("", nodes.title("", "", nodes.Text("Page")), section)
    document = new_document("page")
    document += whole
    fold(None, document, "page")
    assert [child.astext() for node in section.findall(folded) for child in node] == hidden
    assert section.astext().count("What was found.") == section.astext().count("And how.") == 1
    assert [type(child) for child in whole[2:]] == [nodes.raw, nodes.admonition]


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
