"""A Sphinx extension that marks the symbols of the glossary, so that a preview can explain them.

A formula that is one symbol gets the class of its row, in the folders that share the glossary.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from bookbuild.source.book import read_book
from bookbuild.source.chapters import BOOK

GLOSSARY = "book/glossary"
ROW = re.compile(r"^\| (\$.*?) \| ", re.MULTILINE)
FORMULA = re.compile(r"\$([^$]+)\$")
SEPARATORS = re.compile(r",(?:\\[ ,])?|=|\\in\b|\\dots")


def symbols_in(text: str) -> dict[str, str]:
    """Return the class of each symbol of a glossary in Markdown, by its TeX without spaces."""
    found: dict[str, str] = {}
    for number, cell in enumerate(ROW.findall(text), start=1):
        for formula in FORMULA.findall(cell):
            for symbol in SEPARATORS.split(formula):
                found.setdefault(_plain(symbol), f"symbol-{number}")
    found.pop("", None)
    return found


def mark(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Give every formula that is a symbol of the glossary its class."""
    is_glossary = page == GLOSSARY
    glossary = Path(app.srcdir, f"{GLOSSARY}.md")
    folders = read_book(Path(app.srcdir)).symbols
    elsewhere = folders and not page.startswith(tuple(f"{BOOK}/{name}/" for name in folders))
    if (elsewhere and not is_glossary) or not glossary.is_file():
        return
    known = symbols_in(glossary.read_text(encoding="utf-8"))
    for node in doctree.findall(nodes.math):
        # the glossary's own cells may hold several symbols of one row
        parts = SEPARATORS.split(node.astext()) if is_glossary else [node.astext()]
        names = [known[part] for part in map(_plain, parts) if part in known]
        if names:
            node["classes"] += ["symbol", names[0]]


def _plain(symbol: str) -> str:
    return "".join(symbol.split())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the marks."""
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
