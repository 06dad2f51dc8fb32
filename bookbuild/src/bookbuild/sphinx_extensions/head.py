"""A Sphinx extension for the head of each page: description, citation and JSON-LD."""

import json
import re
import textwrap
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from bookbuild.site.pieces import CARD
from bookbuild.source.citation import agents, article, licence, names, read_citation

FINDING = "What we find."
LONGEST = 280  # characters of a description
HOME = "book/index"


def add_metadata(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the tags of a page; one without text, such as the search, or an address has none."""
    if doctree is None or not app.config.html_baseurl:
        return
    cited = read_citation(Path(app.srcdir))
    book, title = cited["title"], _plain(context["title"])
    name = book if page == HOME else title
    url = f"{app.config.html_baseurl}{page}.html"
    said = description(doctree)
    tags = [
        ("name", "description", said),
        ("name", "citation_title", name),
        *(("name", "citation_author", name) for name in names(cited)),
        ("name", "citation_publication_date", str(cited["date-released"]).replace("-", "/")),
        ("name", "citation_public_url", url),
        ("property", "og:type", "website" if page == HOME else "article"),
        ("property", "og:site_name", book),
        ("property", "og:title", name),
        ("property", "og:description", said),
        ("property", "og:url", url),
        ("property", "og:image", f"{app.config.html_baseurl}_static/{CARD}"),
        ("property", "og:image:alt", f"{book}, with its verdicts in numbers"),
        ("name", "twitter:card", "summary_large_image"),
    ]
    if page != HOME:
        tags.insert(1, ("name", "citation_inbook_title", book))
    lines = [
        f'<meta {kind}="{key}" content="{escape(text)}" />' for kind, key, text in tags if text
    ]
    linked = _linked(page, name, url, said, cited, app.config.html_baseurl)
    data = json.dumps(linked).replace("</", r"<\/")  # which would end the script
    lines.append(f'<script type="application/ld+json">{data}</script>')
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


def description(doctree: nodes.document) -> str:
    """Return what a page finds, or else its first paragraph, in whole sentences where they fit."""
    texts = [
        _plain(node.astext())
        for node in doctree.findall(nodes.paragraph)
        if isinstance(node.parent, nodes.section)
    ]
    findings = [text.removeprefix(FINDING).strip() for text in texts if text.startswith(FINDING)]
    text = next(iter(findings or texts), "")
    sentences = text[:LONGEST].rpartition(". ")[0]
    is_cut = len(text) > LONGEST and sentences
    return f"{sentences}." if is_cut else textwrap.shorten(text, LONGEST, placeholder=" …")


def _linked(
    page: str, name: str, url: str, said: str, cited: dict[str, Any], base: str
) -> dict[str, Any]:
    """Return a page as schema.org describes it."""
    authors = agents(cited["authors"])
    book = {
        "@type": "Book",
        "@id": base,
        "name": cited["title"],
        "author": authors,
        "version": cited["version"],
        "license": licence(cited),
        "datePublished": str(cited["date-released"]),
        "isBasedOn": article(cited),
    }
    common = {"@context": "https://schema.org", "name": name, "url": url, "description": said}
    if page == HOME:
        return {**book, **common}
    return {**common, "@type": "Chapter", "author": authors, "isPartOf": book}


def _plain(text: str) -> str:
    """Return a text without markup, on one line."""
    return " ".join(re.sub(r"<[^>]+>", "", text).split())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("html-page-context", add_metadata)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
