"""Checks for the faults that a strict Sphinx build does not see."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
from lxml import html
from lxml.html import HtmlElement

from bookbuild.results.executed import Entry
from bookbuild.source.chapters import LEAST_ALT

from .private import private_parts

# kinds of link that a page loads
REQUESTING_LINKS = {"stylesheet", "icon", "manifest"}
REQUESTING_LINKS |= {"preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch"}
CSS_REQUEST = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")
JS_REQUEST = re.compile(
    r"""(?:\b(?:fetch|import|importScripts|Worker|WebSocket)\(\s*|\bfrom\s*|\.src\s*=\s*)"""
    r"""["'`]((?:https?:|wss?:)?//[^"'`\s]+)"""
)


def check_notebooks(stage: Path, folders: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence for each error output, unexecuted cell and private part of an output."""
    folders = tuple(folders)
    for path in sorted(stage.rglob("*.ipynb")):
        name = path.relative_to(stage).with_suffix("").as_posix()
        notebook = nbformat.read(path, as_version=4)
        code = (c for c in notebook.cells if c.cell_type == "code" and c.source.strip())
        for number, cell in enumerate(code, start=1):
            if cell.execution_count is None:
                yield f"{name}: code cell {number} was not executed."
            if any(output.output_type == "error" for output in cell.outputs):
                yield f"{name}: code cell {number} ended in an error."
            private = private_parts(str(cell.outputs), folders)
            yield from (f"{name}: an output of code cell {number} {part}." for part in private)
        private = private_parts(str(notebook.metadata), folders)
        yield from (f"{name}: the metadata of the notebook {part}." for part in private)


def check_figures(entries: Mapping[str, Entry], folders: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence for each private part of a figure or its data."""
    folders = tuple(folders)
    for chapter, entry in entries.items():
        for name, content in entry.figures.items():
            private = private_parts(content.decode(errors="replace"), folders)
            yield from (f"{chapter}: the figure {name} {part}." for part in private)


def check_site(site: Path, *, whole: bool = True) -> list[str]:
    """Return a sentence for each fault of the built pages, style sheets and scripts.

    A site of one part alone is not whole: what it links to or shows may be in another part.
    """
    site = site.resolve()
    faults: list[str] = []
    for name in page_names(site):
        page = parsed(site / name)
        found = [*_external_requests(page), *_alt_faults(page)]
        if whole:
            found += _unresolved(site / name, page, site)
        faults += (f"{name}: {fault}" for fault in found)
    for kind, pattern in (("css", CSS_REQUEST), ("js", JS_REQUEST)):
        for path in sorted(site.rglob(f"*.{kind}")):
            name = path.relative_to(site).as_posix()
            urls = pattern.findall(path.read_text(encoding="utf-8", errors="replace"))
            faults += (f"{name}: it would request {url}." for url in urls)
    return faults


def page_names(site: Path) -> list[str]:
    """Return the pages of a site, without templates and examples that packages bring along."""
    names = (path.relative_to(site) for path in sorted(site.rglob("*.html")))
    return [name.as_posix() for name in names if "_static" not in name.parts]


def _external_requests(page: HtmlElement) -> Iterator[str]:
    """Yield what a page would fetch from another server; links to follow by hand are fine."""
    for element, _, address, _ in page.iterlinks():
        kinds = element.get("rel", "").split() if element.tag == "link" else REQUESTING_LINKS
        if _is_external(address) and element.tag != "a" and REQUESTING_LINKS.intersection(kinds):
            yield f"it would request {address}."
    for script in page.iter("script"):
        yield from (f"it would request {url}." for url in JS_REQUEST.findall(script.text_content()))


def _alt_faults(page: HtmlElement) -> Iterator[str]:
    """Yield the figures whose alt text is missing or trivial; the theme has images of its own."""
    for image in page.xpath("//article//img"):
        alt = " ".join(image.get("alt", "").split())
        if len(alt) < LEAST_ALT or alt.endswith((".svg", ".png")):
            source = image.get("src", "")[:60]
            yield f"the image {source} has no alt text that states its finding, only {alt!r}."


def _unresolved(path: Path, page: HtmlElement, site: Path) -> Iterator[str]:
    """Yield the images and links of a page that lead out of the site, or to nothing in it."""
    for source in page.xpath("//img/@src | //source/@srcset"):
        if source.startswith("data:") or _is_external(source):
            continue
        target = _target(path, urlsplit(source).path, site)
        if target is None:
            yield f"the image {source} is not in the folder of the site."
        elif not target.is_file():
            yield f"the image {source} is missing."
    for href in page.xpath("//a/@href"):
        yield from _link_faults(path, href, site)


def _link_faults(path: Path, href: str, site: Path) -> Iterator[str]:
    """Yield a link that leaves the site's folder, or whose page or anchor does not exist."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        return
    target = _target(path, parts.path, site) if parts.path else path
    if target is None:
        yield f"the link {href} leads out of the folder of the site."
        return
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        yield f"the link {href} leads nowhere."
    elif target.suffix == ".html" and unquote(parts.fragment) not in _anchors(parsed(target)):
        yield f"the link {href} leads to an anchor that does not exist."


def _is_external(url: str) -> bool:
    return url.startswith(("http:", "https:", "//"))


def _target(path: Path, url: str, site: Path) -> Path | None:
    """Return the file an address stands for, or None where that is outside the site's folder.

    An address that begins with a slash starts at the server, of which the site is one folder.
    """
    url = unquote(url)
    target = (path.parent / url).resolve()
    return None if url.startswith("/") or not target.is_relative_to(site) else target


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
