"""A Sphinx extension for what stands around the text: description, scripts and buttons.

A page loads the scripts that it needs and no others. Jupyter Book adds thebe's always, twice over,
and with an address of another server; the theme adds 1.5 MB of icons that its font has too, and the
search index to every page.

The theme knows one branch and one file for all buttons: the executed notebook on main, which is
on no branch. Here Colab gets the published branch, Binder the notebook that postBuild writes, and
the edit button the Markdown source.
"""

import re
import textwrap
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from bookbuild.source.addresses import Addresses
from bookbuild.source.book import names, read_citation
from bookbuild.source.chapters import BOOK

MOUNT = re.compile(r'data-explorable="([a-z]+)"')
THEBE = re.compile(
    r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = .*?</script>',
    re.DOTALL,
)
SEARCH = "search"
SCRIPTS = {"book/verdicts": "verdicts.js", SEARCH: "search.js"}
# scripts of the theme, and viewports after the first, which Sphinx's own layout writes
SPARE = re.compile(
    r"<script[^>]*/?(?:fontawesome|searchtools|language_data|searchindex)\.js[^>]*></script>"
    r'|<meta name="viewport"[^>]*>'
)
UNUSED = re.compile("thebe|mathjax", re.IGNORECASE)
LAUNCH_LABEL, EDIT_LABEL = "launch-buttons", "source-edit-button"

FINDING = "What we find."
LONGEST = 280  # characters of a description
HOME = f"{BOOK}/index"


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
    tags = [
        ("description", description(doctree)),
        ("citation_title", name),
        *(("citation_author", who) for who in names(cited)),
        ("citation_publication_date", str(cited["date-released"]).replace("-", "/")),
        ("citation_public_url", url),
    ]
    if page != HOME:
        tags.insert(1, ("citation_inbook_title", book))
    lines = [f'<meta name="{key}" content="{escape(text)}" />' for key, text in tags if text]
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


def _plain(text: str) -> str:
    """Return a text without markup, on one line."""
    return " ".join(re.sub(r"<[^>]+>", "", text).split())


def add_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give verdicts and search their scripts, and a page with an explorable its own."""
    if page in SCRIPTS:
        app.add_js_file(SCRIPTS[page], defer="defer")
    raw = doctree.findall(nodes.raw) if doctree else ()
    names = {name: None for node in raw for name in MOUNT.findall(node.astext())}  # each once
    for name in names:
        app.add_js_file(f"explorables/{name}.js", defer="defer")
    if names:
        app.add_css_file("explorables/explorables.css")


def without_spare(head: str) -> str:
    """A part of a page's head without what comes twice, or is of no use; for `layout.html`."""
    return SPARE.sub("", head)


def drop_unused(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take out thebe, second viewports, and MathJax, which sets formulas when the site is built.

    Sources become items of the list that they stand in.
    """
    for kind in ("script_files", "css_files"):
        files = [(file, f"{file} {getattr(file, 'attributes', {})}") for file in context[kind]]
        context[kind] = [file for file, described in files if not UNUSED.search(described)]
    body = THEBE.sub("", context.get("body", ""))
    context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')
    context["metatags"] = without_spare(context.get("metatags", ""))
    context[without_spare.__name__] = without_spare


def redirect(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Replace the address of each launch and edit button; raise KeyError for an unknown launch."""
    if not app.config.html_theme_options.get("repository_url"):  # there are no buttons
        return
    addresses = Addresses.read(Path(app.srcdir))
    name = page.removeprefix(f"{BOOK}/")
    launches = {"Colab": addresses.colab, "Binder": addresses.binder}
    for button in context.get("header_buttons", []):
        if button.get("label") == LAUNCH_LABEL:  # a group, which the theme adds to executed pages
            for launch in button["buttons"]:
                launch["url"] = launches[launch["text"]](name)
        elif button.get("label") == EDIT_LABEL:
            button.update(url=addresses.edit(name), tooltip="Edit this page")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all; what takes out comes after what puts in."""
    app.connect("html-page-context", add_metadata)
    app.connect("html-page-context", add_scripts, priority=800)
    app.connect("html-page-context", drop_unused, priority=900)
    app.connect("html-page-context", redirect, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
