"""What is laid beside pages for other pages to show."""

import json
from pathlib import Path

import pytest
from lxml.html import document_fromstring

from bookbuild.site.lookup.cards import FOLDER, add_cards

LINKS = """<html><article><a href="b.html#equation-one">1</a> <a href="b.html#plot-image">2</a>
<a href="b.html#words">3</a> <a href="https://example.org/b.html#two">4</a></article></html>"""
TARGETS = """<html><article><h1 id="words">Words<a class="headerlink">#</a></h1>
<div class="math" id="equation-one">\\[x &lt; y\\]</div>
<div class="math" id="two">\\[z\\]</div>
<figure><img id="plot-image" src="../_images/plot.svg" alt="A plot"></figure>
<!-- hidden --><script>silent()</script></article></html>"""
GLOSSARY = """<html><article><table><tr><th>symbol</th><th>meaning</th></tr>
<tr><td><span class="math symbol symbol-3">a</span></td><td>an item</td><td>code</td></tr>
<tr><td>none</td><td>x</td></tr></table></article></html>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of three pages with their cards."""
    (tmp_path / "book").mkdir()
    for name, text in (("a", LINKS), ("b", TARGETS), ("glossary", GLOSSARY)):
        (tmp_path / "book" / f"{name}.html").write_text(text, encoding="utf-8")
    add_cards(tmp_path)
    return tmp_path


def content(site: Path, name: str):
    """The content of a script of cards, which names itself."""
    text = (site / FOLDER / f"{name}.js").read_text(encoding="utf-8")
    assert text.startswith("bookCards(")
    own, cards = json.loads(f"[{text.strip()[len('bookCards(') : -len(');')]}]")
    assert own == name
    return cards


def test_a_page_has_cards_of_what_is_linked_to_and_fits_on_one(site: Path) -> None:
    cards = content(site, "book/b")
    assert set(cards) == {"equation-one", "two", "plot-image"}
    assert "x &lt; y" in cards["equation-one"]
    assert 'src="_images/plot.svg"' in cards["plot-image"]
    assert content(site, "book/a") == {}


def test_the_glossary_has_a_card_for_each_symbol(site: Path) -> None:
    (name, card), *others = content(site, "book/glossary").items()
    assert (name, others) == ("symbol-3", [])
    assert "an item" in card
    assert "code" not in card


def test_an_excerpt_is_text_with_anchors(site: Path) -> None:
    text = document_fromstring(content(site, "book/b.text"))
    assert text.xpath('//*[@role="main"]//*[@id="words"]')[0].text_content().strip() == "Words"
    assert "x < y" in text.text_content()
    assert "\\[" not in text.text_content()
    assert not {"silent", "hidden"} & set(text.text_content().replace("()", "").split())
