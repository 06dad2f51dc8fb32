"""A Sphinx extension for the text: folds, symbols, numbers of theorems, the reference.

A theorem is always visible, and its proof opens on a click. A table of zeros lists the remainder of
each step of a derivation: where all vanish, one sentence says so and opens the table; otherwise the
table is open, below a sentence that counts those that do not. Of a section with a label such as
`(details-controls)=` the first paragraph and what to take away are visible, and the rest opens on a
click.

A formula that is one symbol of the glossary gets the class of its row, so that a preview can
explain it, in the folders that share the glossary. Code such as `tasks.sample` or
`science.tasks.sample` leads to its entry in the reference, if the book's package is `science`.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode
from sphinx.writers.html5 import HTML5Translator
from sphinx_proof.nodes import proof_node

from bookbuild.source.book import read_book
from bookbuild.source.chapters import BOOK

HEAD = ["step", "what is left"]
DETAILS = "details-"
THEOREM = "theorem"  # lemmas and the like are counted with theorems, see defaults.yml
GLOSSARY = "book/glossary"
ROW = re.compile(r"^\| (\$.*?) \| ", re.MULTILINE)
FORMULA = re.compile(r"\$([^$]+)\$")
SEPARATORS = re.compile(r",(?:\\[ ,])?|=|\\in\b|\\dots")


class folded(nodes.General, nodes.Element):
    """Something under a line that opens it; `kind` is its class on the page."""


def visit(self: HTML5Translator, node: folded) -> None:
    """Open the fold."""
    is_open = " open" if node["open"] else ""
    self.body.append(
        f'<details class="{node["kind"]}"{is_open}><summary>{node["line"]}</summary>\n'
    )


def depart(self: HTML5Translator, node: folded) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def fold(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Fold proofs, without the word that sphinx-proof sets before them, zeros and details."""
    for node in list(doctree.findall(proof_node)):
        paragraph = next(iter(node.findall(nodes.paragraph)))
        paragraph[0] = nodes.Text(paragraph[0].astext().removeprefix("Proof. "))
        node.replace_self(folded("", *node[0], kind="proof-fold", line="Proof", open=False))
    for table in list(doctree.findall(nodes.table)):
        rows = [[cell.astext().strip() for cell in row] for row in table.findall(nodes.row)]
        if rows and rows[0] == HEAD:
            wrong = sum(value != "0" for _, value in rows[1:])
            steps = f"{len(rows) - 1} steps"
            line = f"{wrong} of {steps} do not vanish" if wrong else f"{steps}, all vanish"
            node = folded("", kind="zeros", line=line, open=wrong > 0)
            table.replace_self(node)
            node += table
    for section in list(doctree.findall(nodes.section)):
        if any(name.startswith(DETAILS) for name in section["ids"]):
            first = section.first_child_matching_class(nodes.paragraph) + 1
            shown = [child for child in section[first:] if "takeaway" in child["classes"]]
            rest = [child for child in section[first:] if child not in shown]
            node = folded("", *rest, kind="details-fold", line="Details", open=False)
            section[first:] = [node, *shown]


def symbols_in(text: str) -> dict[str, str]:
    """Return the class of each symbol of a glossary in Markdown, by its TeX without spaces."""
    symbols: dict[str, str] = {}
    for number, cell in enumerate(ROW.findall(text), start=1):
        for formula in FORMULA.findall(cell):
            for symbol in SEPARATORS.split(formula):
                symbols.setdefault(_plain(symbol), f"symbol-{number}")
    symbols.pop("", None)
    return symbols


def mark_symbols(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Give every formula that is a symbol of the glossary its class."""
    glossary = Path(app.srcdir, f"{GLOSSARY}.md")
    folders = tuple(f"{BOOK}/{name}/" for name in read_book(Path(app.srcdir)).symbols)
    shares = page.startswith(folders or "") or page == GLOSSARY
    if not (shares and glossary.is_file()):
        return
    symbols = symbols_in(glossary.read_text(encoding="utf-8"))
    for node in doctree.findall(nodes.math):
        # the glossary's own cells may hold several symbols of one row
        parts = SEPARATORS.split(node.astext()) if page == GLOSSARY else [node.astext()]
        names = [symbols[part] for part in map(_plain, parts) if part in symbols]
        if names:
            node["classes"] += ["symbol", names[0]]


def settle_types(app: Sphinx, doctree: nodes.document) -> None:
    """Link types of signatures that have an entry, and no other ones; contents name no fields."""
    entries = {name.rpartition(".")[2] for name in app.env.domaindata["py"]["objects"]}
    for signature in doctree.findall(addnodes.desc_signature):
        for reference in list(signature.findall(addnodes.pending_xref)):
            name = reference["reftarget"].rpartition(".")[2]
            if name in entries:
                reference.attributes.update(reftarget=name, refspecific=True)
            else:
                reference.replace_self(reference.children)
    for entry in doctree.findall(addnodes.desc):
        if entry["objtype"] == "attribute":
            entry["no-contents-entry"] = True


def link_entries(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link code that is the name of an entry, outside of links and headings, to the entry."""
    package = read_book(Path(app.srcdir)).package
    entries = app.env.domaindata["py"]["objects"] if package else {}
    linked = {
        literal
        for kind in (nodes.reference, nodes.title)
        for outer in doctree.findall(kind)
        for literal in outer.findall(nodes.literal)
    }
    for literal in set(doctree.findall(nodes.literal)) - linked:
        name = literal.astext().removeprefix(f"{package}.")
        entry = entries.get(f"{package}.{name}") if "." in name else None
        if entry is None:
            continue
        link = make_refnode(app.builder, page, entry.docname, entry.node_id, literal.deepcopy())
        literal.replace_self(link)


def number_theorems(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Give theorems the number of their chapter and their place on its page; name no outdated page.

    Sphinx counts through the whole book, so that a new chapter would change every number after it.
    """
    book = read_book(Path(app.srcdir))
    for page, numbers in env.toc_fignumbers.items():
        if chapter := book.chapter_number(page.removeprefix(f"{BOOK}/")):
            # Sphinx expects whole numbers here, and only prints them
            labels: dict[str, Any] = numbers.get(THEOREM, {})
            labels.update({label: (*chapter, n) for n, label in enumerate(labels, start=1)})
    return []


def _plain(symbol: str) -> str:
    return "".join(symbol.split())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all."""
    app.add_node(folded, html=(visit, depart))
    app.connect("doctree-read", settle_types, priority=400)  # before Sphinx collects the contents
    for function in (fold, mark_symbols, link_entries):
        app.connect("doctree-resolved", function)
    app.connect("env-get-updated", number_theorems, priority=900)  # after Sphinx's own numbers
    return {"parallel_read_safe": True, "parallel_write_safe": True}
