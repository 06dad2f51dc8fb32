"""A Sphinx extension for the reference: signatures as written, and links to it from every page.

Code such as `tasks.sample` or `science.tasks.sample` leads to its entry, if the book's package is
`science`.
"""

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

from bookbuild.source.book import read_book

SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
LIST = re.compile(r"<(/?)d(l|d)>")


def write_signature(
    app: Sphinx, what: str, name: str, entry: Any, options: Any, arguments: str, returns: str
) -> tuple[str, str | None] | None:
    """Return arguments and result as the source has them, names of types and shapes included."""
    if what not in ("function", "method", "class"):
        return None
    definition = ast.parse(textwrap.dedent(inspect.getsource(entry))).body[0]
    if isinstance(definition, ast.ClassDef):
        return f"({ast.unparse(_fields(definition))})", None
    assert isinstance(definition, ast.FunctionDef)
    if what == "method":  # its own object or class is not handed to it
        del (definition.args.posonlyargs or definition.args.args)[0]
    result = definition.returns
    if isinstance(result, ast.Constant) and isinstance(result.value, str):
        return f"({ast.unparse(definition.args)})", result.value
    return f"({ast.unparse(definition.args)})", None if result is None else ast.unparse(result)


def _fields(definition: ast.ClassDef) -> ast.arguments:
    """Return what a class is called with: the arguments of __init__, or its fields."""
    for part in definition.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            del part.args.args[0]
            return part.args
    fields = [part for part in definition.body if isinstance(part, ast.AnnAssign)]
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(ast.unparse(field.target), field.annotation) for field in fields],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[field.value for field in fields if field.value is not None],
    )


def prepare(app: Sphinx, doctree: nodes.document) -> None:
    """Find the types of a signature in whichever module; keep fields out of the page's contents."""
    for signature in doctree.findall(addnodes.desc_signature):
        for reference in signature.findall(addnodes.pending_xref):
            reference["refspecific"] = True
    for entry in doctree.findall(addnodes.desc):
        if entry["objtype"] == "attribute":
            entry["no-contents-entry"] = True


def link_entries(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link code that is the name of an entry, outside of links and headings, to the entry."""
    package = read_book(Path(app.srcdir)).package
    entries = app.env.domaindata["py"]["objects"] if package else {}
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removeprefix(f"{package}.")
        entry = entries.get(f"{package}.{name}") if "." in name else None
        if entry is None or _within(literal, (nodes.reference, nodes.title)):
            continue
        link = make_refnode(app.builder, page, entry.docname, entry.node_id, literal.deepcopy())
        literal.replace_self(link)


def _within(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    """Return whether a node is part of one of these kinds."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def mend_lists(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Make the parameters of a signature a plain list: Sphinx writes definitions without terms."""
    names = {"l": "ul", "d": "li"}

    def mend(match: re.Match[str]) -> str:
        return LIST.sub(lambda tag: f"<{tag[1]}{names[tag[2]]}>", match[0])

    context["body"] = SIGNATURE.sub(mend, context.get("body", ""))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all."""
    app.connect("autodoc-process-signature", write_signature)
    app.connect("doctree-read", prepare, priority=400)  # before Sphinx collects the contents
    app.connect("doctree-resolved", link_entries)
    app.connect("html-page-context", mend_lists)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
