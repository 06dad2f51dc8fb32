"""Checks for what a strict Sphinx build does not see: faults, and what is not to be published."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
from lxml import html
from lxml.html import HtmlElement

from bookbuild.reporting.notebook import LEAST_ALT
from bookbuild.results.executed import Entries

# kinds of link that a page loads
REQUESTING_LINKS = {"stylesheet", "icon", "manifest"}
REQUESTING_LINKS |= {"preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch"}
# Each begins with what it must hold letter by letter, so that long texts are passed over quickly;
# what has to stand before that is looked at from behind it.
PATTERNS = {
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a home folder": re.compile(r"/(?:home|Users)/(?!runner\b)[\w.-]+"),
    "a home folder of Windows": re.compile(r":\\\\?Users\\\\?(?!runner\b)[\w.-]+"),
}
SECRET_NAME = re.compile("TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|PRIVATE")
LEAST_SECRET = 8  # characters; a shorter value, such as 1 or true, is in every text
EVERYWHERE = ("/", "/usr", "/usr/local")  # they tell nothing of a machine
ESCAPED = r"(?<=\\[abfnrtv])|(?<=\dm)|(?<=file://)"  # what may stand before a path or a name


def check_notebooks(stage: Path, folders: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence for each private part of an output or of a notebook's metadata."""
    folders = tuple(folders)
    for path in sorted(stage.rglob("*.ipynb")):
        name = path.relative_to(stage).with_suffix("").as_posix()
        notebook = nbformat.read(path, as_version=4)
        code = (c for c in notebook.cells if c.cell_type == "code" and c.source.strip())
        for number, cell in enumerate(code, start=1):
            private = private_parts(str(cell.outputs), folders)
            yield from (f"{name}: an output of code cell {number} {part}." for part in private)
        private = private_parts(str(notebook.metadata), folders)
        yield from (f"{name}: the metadata of the notebook {part}." for part in private)


def check_figures(entries: Entries, folders: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence for each private part of a figure or its data."""
    folders = tuple(folders)
    for chapter, entry in entries.items():
        for name, content in entry.figures.items():
            private = private_parts(content.decode(errors="replace"), folders)
            yield from (f"{chapter}: the figure {name} {part}." for part in private)


def check_labels(entries: Entries) -> Iterator[str]:
    """Yield a sentence for each label that stands on a curve or beside that of another colour."""
    for chapter, entry in entries.items():
        for name, content in entry.figures.items():
            found = json.loads(content).get("faults", ()) if name.endswith(".json") else ()
            yield from (f"{chapter}: {fault}." for fault in found)


def check_site(site: Path) -> list[str]:
    """Return a sentence for each fault of the built pages."""
    site = site.resolve()
    faults: list[str] = []
    for name in page_names(site):
        page = parsed(site / name)
        flaws = [
            *_external_requests(page),
            *_alt_faults(page),
            *_unresolved(site / name, page, site),
        ]
        faults += (f"{name}: {fault}" for fault in flaws)
    return faults


def page_names(site: Path) -> list[str]:
    """Return the pages of a site, without templates and examples that packages bring along."""
    names = (path.relative_to(site) for path in sorted(site.rglob("*.html")))
    return [name.as_posix() for name in names if "_static" not in name.parts]


def _external_requests(page: HtmlElement) -> Iterator[str]:
    """Yield what a page would fetch from another server; links to follow by hand are fine.

    What scripts and style sheets would fetch, the policy of the page forbids.
    """
    for element, _, address, _ in page.iterlinks():
        kinds = element.get("rel", "").split() if element.tag == "link" else REQUESTING_LINKS
        is_external = address.startswith(("http:", "https:", "//")) and element.tag != "a"
        if is_external and REQUESTING_LINKS.intersection(kinds):
            yield f"it would request {address}."


def _alt_faults(page: HtmlElement) -> Iterator[str]:
    """Yield the figures whose alt text is missing or trivial; the theme has images of its own."""
    for image in page.xpath("//article//img"):
        alt = " ".join(image.get("alt", "").split())
        if len(alt) < LEAST_ALT or alt.endswith((".svg", ".png")):
            source = image.get("src", "")[:60]
            yield f"the image {source} has no alt text that states its finding, only {alt!r}."


def _unresolved(path: Path, page: HtmlElement, site: Path) -> Iterator[str]:
    """Yield the images and links of a page that lead out of the site, or to nothing in it.

    An address that begins with a slash starts at the server, of which the site is one folder.
    """
    for address in page.xpath("//img/@src | //source/@srcset | //a/@href"):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if parts.path.startswith("/") or not target.is_relative_to(site):
            yield f"{address} leads out of the folder of the site."
        elif not target.is_file():
            yield f"{address} leads nowhere."
        elif target.suffix == ".html" and unquote(parts.fragment) not in _anchors(parsed(target)):
            yield f"{address} leads to an anchor that does not exist."


def parsed(path: Path) -> HtmlElement:
    """Return a page of a site, read once as long as nothing writes it again."""
    return _parsed(path, path.stat().st_mtime_ns)


@cache
def _parsed(path: Path, written: int) -> HtmlElement:
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    return html.document_fromstring(path.read_bytes(), parser=parser)


@cache
def _anchors(page: HtmlElement) -> frozenset[str]:
    """Return the anchors of a page; the empty one is its top."""
    return frozenset({*page.xpath("//@id | //a/@name"), "", "top"})


def private_parts(text: str, folders: Iterable[Path]) -> Iterator[str]:
    """Yield what a text tells of this machine, its user and their secrets; never the secret."""
    places = (*folders, os.path.expanduser("~"), tempfile.gettempdir(), sys.prefix)
    for folder in sorted(filter(os.path.isabs, {*map(str, places)} - {*EVERYWHERE})):
        if _stands(folder, text, before=r"[\w.~/-]", after="/"):
            yield f"names the local folder {folder}/"
    for what, pattern in PATTERNS.items():
        if pattern.search(text):
            yield f"holds {what}"
    for name, value in os.environ.items():
        secret = SECRET_NAME.search(name.upper()) and len(value) >= LEAST_SECRET
        if secret and _stands(value, text, before=r"\w", after=r"(?!\w)"):
            yield f"holds the value of the environment variable {name}"


def _stands(name: str, text: str, *, before: str, after: str) -> bool:
    """Return whether a text has a path or a name that is no part of a longer one."""
    whole = f"(?:(?<!{before})|{ESCAPED}){re.escape(name)}{after}"
    return name in text and re.search(whole, text) is not None
