"""What scripts show of other pages: excerpts of a search, previews of what a link leads to.

A page that is read from a folder may not fetch its neighbours, but it may load scripts. So each
page has two beside it, loaded when they are asked for: one with its text, another with whatever
may be linked to on it: equations, figures, theorems, sources. The glossary has a card for each row.
"""

import copy
import json
import posixpath
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from lxml.html import HtmlElement, tostring

from bookbuild.site.checks.pages import page_names, parsed

from .formulas import readable
from .names import names_of

FOLDER = Path("_static", "cards")
CARDS = {"math", "proof", "admonition", "citation"}  # classes; figures are cards too
GLOSSARY = "book/glossary.html"
SILENT = {"script", "style", "button"}
SPACE = re.compile(r"\s+")


def add_cards(site: Path) -> None:
    """Write the scripts of all pages of a site."""
    pages = {name: parsed(site / name) for name in page_names(site)}
    _write(site / FOLDER / "names.js", "names", names_of(pages, GLOSSARY))
    for name, page in pages.items():
        article = page.find(".//article")
        if article is None:
            continue
        stem = name.removesuffix(".html")
        _write(site / FOLDER / f"{stem}.text.js", f"{stem}.text", excerpt(article))
        cards = {key: _moved(card, name) for key, card in _cards(article)}
        if name == GLOSSARY:
            cards |= dict(_symbols(article))
        _write(site / FOLDER / f"{stem}.js", stem, cards)


def excerpt(article: HtmlElement) -> str:
    """Return the text of an article as HTML, with its anchors and nothing else."""
    return f'<div role="main">{SPACE.sub(" ", "".join(_plain(article)))}</div>'


def _plain(tag: HtmlElement) -> Iterator[str]:
    if "math" in tag.classes:
        yield _text(readable(tag.text_content()))
        return
    yield _text(tag.text)
    for child in tag:
        if _speaks(child):
            anchor = child.get("id")
            yield f'<div id="{escape(anchor)}">' if anchor else " "
            yield from _plain(child)
            yield "</div>" if anchor else " "
        yield _text(child.tail)


def _speaks(tag: HtmlElement) -> bool:
    """Return whether a tag is one of text; a comment's name is no string."""
    return isinstance(tag.tag, str) and tag.tag not in SILENT and "headerlink" not in tag.classes


def _text(text: str | None) -> str:
    return escape(text or "", quote=False)


def _cards(article: HtmlElement) -> Iterator[tuple[str, HtmlElement]]:
    """Yield the anchors of an article with what they name, where that fits on a card."""
    for place in article.xpath(".//*[@id]"):
        figure = place if place.tag == "figure" else next(place.iterancestors("figure"), None)
        if figure is not None or CARDS.intersection(place.classes):
            yield place.get("id"), place if figure is None else figure


def _symbols(article: HtmlElement) -> Iterator[tuple[str, str]]:
    """Yield the class of each symbol of the glossary, with its row: symbol and meaning."""
    for row in article.xpath(".//tr[td]"):
        cells = row.findall("td")
        for marked in cells[0].find_class("symbol")[:1]:
            inner = " ".join(map(_inside, cells[:2]))
            for name in marked.classes:
                if name.startswith("symbol-"):
                    yield name, f'<div class="symbol-card">{inner}</div>'


def _inside(tag: HtmlElement) -> str:
    return _text(tag.text) + "".join(tostring(child, encoding="unicode") for child in tag)


def _moved(card: HtmlElement, name: str) -> str:
    """Return a card's HTML with the addresses of its images as seen from the top of the site."""
    moved = copy.deepcopy(card)
    for image in moved.xpath("descendant-or-self::img[@src]"):
        source = image.get("src")
        if not source.startswith("data:"):
            image.set("src", posixpath.normpath(posixpath.join(posixpath.dirname(name), source)))
    return tostring(moved, encoding="unicode", with_tail=False)


def _write(path: Path, name: str, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, ensure_ascii=False)
    path.write_text(f"bookCards({json.dumps(name)}, {text});\n", encoding="utf-8")
