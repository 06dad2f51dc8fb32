"""What scripts show of other pages: excerpts of a search, previews of what a link leads to.

A page that is read from a folder may not fetch its neighbours, but it may load scripts. So each
page has two beside it, loaded when they are asked for: one with its text, another with whatever
is linked to on it: equations, figures, theorems, sources. The glossary has a card for each row.
"""

import html
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urldefrag

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, NavigableString

from .checks.pages import parsed

FOLDER = Path("_static", "cards")
CARDS = {"math", "proof", "admonition", "citation"}  # classes; figures are cards too
GLOSSARY = "book/glossary.html"
SILENT = {"script", "style", "button"}
SPACE = re.compile(r"\s+")


def add_cards(site: Path) -> None:
    """Write the scripts of all pages of a site."""
    pages = {
        path.relative_to(site).as_posix(): parsed(path)
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.relative_to(site).parts
    }
    wanted = _targets(pages)
    for name, page in pages.items():
        article = page.select_one("article")
        if article is None:
            continue
        stem = name.removesuffix(".html")
        _write(site / FOLDER / f"{stem}.text.js", f"{stem}.text", excerpt(article))
        cards = {key: _moved(card, name) for key, card in _cards(article, wanted.get(name, set()))}
        if name == GLOSSARY:
            cards |= dict(_symbols(article))
        _write(site / FOLDER / f"{stem}.js", stem, cards)


def excerpt(article: Tag) -> str:
    """Return the text of an article as HTML, with its anchors and nothing else."""
    return f'<div role="main">{SPACE.sub(" ", "".join(_plain(article)))}</div>'


def _plain(tag: Tag) -> Iterator[str]:
    for child in tag.children:
        if isinstance(child, Tag):
            if child.name in SILENT or "headerlink" in child.get_attribute_list("class"):
                continue
            anchor = child.get("id")
            yield f'<div id="{html.escape(str(anchor))}">' if anchor else " "
            yield from _plain(child)
            yield "</div>" if anchor else " "
        elif isinstance(child, NavigableString) and not isinstance(child, Comment):
            yield html.escape(str(child), quote=False)


def _targets(pages: Mapping[str, BeautifulSoup]) -> dict[str, set[str]]:
    """Return the anchors of each page that other pages link to."""
    targets: dict[str, set[str]] = {}
    for name, page in pages.items():
        for link in page.select('article a[href*="#"]'):
            address, anchor = urldefrag(str(link["href"]))
            if address and ":" not in address:
                target = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
                targets.setdefault(unquote(target), set()).add(unquote(anchor))
    return targets


def _cards(article: Tag, anchors: set[str]) -> Iterator[tuple[str, Tag]]:
    """Yield the parts of an article that anchors name, where they are such that fit on a card."""
    places: dict[str, Tag] = {}
    for place in article.find_all(id=True):
        places.setdefault(str(place["id"]), place)
    for anchor in sorted(anchors & places.keys()):
        place = places[anchor]
        figure = place if place.name == "figure" else place.find_parent("figure")
        card = figure or place
        if isinstance(card, Tag) and (
            figure or CARDS.intersection(card.get_attribute_list("class"))
        ):
            yield anchor, card


def _symbols(article: Tag) -> Iterator[tuple[str, str]]:
    """Yield the class of each symbol of the glossary, with its row: symbol and meaning."""
    for row in article.select("tr:has(td)"):
        cells = row.find_all("td")
        marked = cells[0].select_one(".symbol")
        if marked is not None:
            inner = " ".join(cell.decode_contents() for cell in cells[:2])
            for name in marked.get_attribute_list("class"):
                if str(name).startswith("symbol-"):
                    yield str(name), f'<div class="symbol-card">{inner}</div>'


def _moved(card: Tag, name: str) -> str:
    """Return a card's HTML with the addresses of its images as seen from the top of the site."""
    copy = BeautifulSoup(str(card), "html.parser")
    for image in copy.select("img[src]"):
        source = str(image["src"])
        if not source.startswith("data:"):
            image["src"] = posixpath.normpath(posixpath.join(posixpath.dirname(name), source))
    return str(copy)


def _write(path: Path, name: str, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, ensure_ascii=False)
    path.write_text(f"bookCards({json.dumps(name)}, {text});\n", encoding="utf-8")
