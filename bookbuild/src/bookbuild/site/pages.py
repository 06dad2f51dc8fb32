"""What is added to the pages of a built site: previews of links, drawings for phones, a policy."""

import base64
import copy
import hashlib
import html
import json
import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lxml.html import HtmlElement, tostring

from bookbuild.reporting.notebook import FIGURES_FOLDER, FOR_PHONES
from bookbuild.results.executed import Entries

from .checks import page_names, parsed

CARDS = Path("_static", "cards")
ON_CARDS = {"math", "proof", "admonition", "citation"}  # classes; figures are shown too
GLOSSARY = "book/glossary.html"
WINDOW = "screen and (max-width: 600px)"  # below it a page's column is too narrow for panels
IMAGE = re.compile(r'<img\b[^>]*\bsrc="([^"]+\.svg)"[^>]*>')
SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)pt" height="([\d.]+)pt"')
POINT = 4 / 3  # pixels
INLINE = re.compile(r"<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)
HANDLER = re.compile(r'<[a-z][^>]*?\son[a-z]+="([^"]*)"')
FIRST = re.compile(r"<head>\s*<meta charset=[^>]*>")
POLICY = (  # styles may stand in the text, for MathJax sets formulas with them
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; worker-src blob:; base-uri 'none'; "
    "form-action 'self'; script-src"
)


def add_cards(site: Path) -> None:
    """Write a script beside each page with the HTML of what may be linked to on it, by its anchor.

    A page that is read from a folder may not fetch its neighbours, but it may load their scripts.
    The glossary has a card for each row.
    """
    for name in page_names(site):
        article = parsed(site / name).find(".//article")
        if article is None:
            continue
        cards = {}
        for place in article.xpath(".//*[@id]"):
            card = next(place.iterancestors("figure"), place)
            if card.tag == "figure" or ON_CARDS.intersection(place.classes):
                cards[place.get("id")] = _moved(card, name)
        if name == GLOSSARY:
            cards |= dict(_symbols(article))
        stem = name.removesuffix(".html")
        path = site / CARDS / f"{stem}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = json.dumps(cards, ensure_ascii=False)
        path.write_text(f"bookCards({json.dumps(stem)}, {content});\n", encoding="utf-8")


def _symbols(article: HtmlElement) -> Iterator[tuple[str, str]]:
    """Yield the class of each symbol of the glossary, with its row: symbol and meaning."""
    for row in article.xpath(".//tr[td]"):
        cells = row.findall("td")
        for marked in cells[0].find_class("symbol")[:1]:
            shown = "".join(tostring(cell, encoding="unicode") for cell in cells[:2])
            for name in marked.classes:
                if name.startswith("symbol-"):
                    yield name, f'<table class="symbol-card"><tr>{shown}</tr></table>'


def _moved(card: HtmlElement, name: str) -> str:
    """Return a card's HTML with the addresses of its images as seen from the top of the site."""
    moved = copy.deepcopy(card)
    for image in moved.xpath("descendant-or-self::img[@src]"):
        source = image.get("src")
        if not source.startswith("data:"):
            image.set("src", posixpath.normpath(posixpath.join(posixpath.dirname(name), source)))
    return tostring(moved, encoding="unicode", with_tail=False)


def add_narrow(site: Path, entries: Entries) -> None:
    """Offer the narrow drawing of each figure beside the wide one, on every page of a site.

    Both say how large they are, so that nothing moves when they arrive.
    """
    narrow = {
        content.decode().rstrip(): f"{FIGURES_FOLDER}/{chapter}/{name[:-4]}{FOR_PHONES}.svg"
        for chapter, entry in entries.items()
        for name, content in entry.figures.items()
        if name.endswith(".svg") and not name.endswith(f"{FOR_PHONES}.svg")
    }
    drawing = cache(
        lambda path: path.read_text(encoding="utf-8").rstrip() if path.is_file() else ""
    )
    for name in page_names(site):
        page = site / name

        def offer(image: re.Match[str], page: Path = page) -> str:
            wide = drawing((page.parent / image[1]).resolve())
            if wide not in narrow:
                return image[0]
            other = site / narrow[wide]
            source = posixpath.relpath(narrow[wide], page.parent.relative_to(site).as_posix())
            return (
                f'<picture><source media="{WINDOW}" srcset="{source}" {_size(drawing(other))}>'
                f"{image[0].replace('<img', f'<img {_size(wide)}', 1)}</picture>"
            )

        text = page.read_text(encoding="utf-8")
        page.write_text(IMAGE.sub(offer, text), encoding="utf-8")


def _size(drawing: str) -> str:
    """Return the size of a drawing as attributes of its element, in pixels."""
    size = SIZE.search(drawing)
    assert size is not None
    width, height = (round(float(points) * POINT) for points in size.groups())
    return f'width="{width}" height="{height}"'


def add_policies(site: Path) -> None:
    """Write into the head of every page a policy that allows the site's own files and scripts.

    Sphinx and its theme write a few scripts and two handlers into the pages, all of them above the
    article; the policy names each by its hash. What stands from there on comes from chapters and
    their outputs: no script in it is named, and so none runs. Handlers are those of all pages,
    because the search reads other pages for its excerpts.
    """
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    handlers = {
        html.unescape(text)
        for page in pages.values()
        for text in HANDLER.findall(page.partition("<article")[0])
    }
    for path, page in pages.items():
        first = FIRST.search(page)
        if first:  # else the page only leads on to another one
            scripts = {*INLINE.findall(page.partition("<article")[0]), *handlers}
            digests = (hashlib.sha256(text.encode()).digest() for text in scripts)
            hashes = sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
            unsafe = "'unsafe-hashes' " if handlers else ""  # what handlers need beside a hash
            allowed = f"{POLICY} 'self' {unsafe}{' '.join(hashes)}"
            meta = f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
            page = f"{page[: first.end()]}\n{meta}{page[first.end() :]}"
            path.write_text(page, encoding="utf-8")
