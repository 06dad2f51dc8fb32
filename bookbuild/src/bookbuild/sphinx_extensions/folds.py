"""A Sphinx extension that folds what few readers open: proofs, and tables of zeros.

A theorem is always visible, and its proof opens on a click. A table of zeros lists the remainder of
each step of a derivation. If all remainders vanish, one sentence says so and opens the table.
Otherwise the table is open, below a sentence that counts the remainders that do not vanish.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinx_proof.nodes import proof_node

LABEL = "Proof"
HEAD = ["step", "what is left"]


class folded(nodes.General, nodes.Element):
    """Something under a line that opens it; `kind` is its class on the page."""


def fold_proofs(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put every proof into a fold, without the word that sphinx-proof sets before it."""
    for node in list(doctree.findall(proof_node)):
        paragraph = next(iter(node.findall(nodes.paragraph)))
        paragraph[0] = nodes.Text(paragraph[0].astext().removeprefix(f"{LABEL}. "))
        fold = folded("", *node[0].children, kind="proof-fold", line=LABEL, open=False)
        node.replace_self(fold)


def fold_zeros(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put every table of what is left into a fold."""
    for table in list(doctree.findall(nodes.table)):
        rows = [[cell.astext().strip() for cell in row] for row in table.findall(nodes.row)]
        if rows and rows[0] == HEAD:
            left = [value for _, value in rows[1:]]
            is_open = any(value != "0" for value in left)
            fold = folded("", kind="zeros", line=sentence(left), open=is_open)
            table.replace_self(fold)
            fold += table


def sentence(left: list[str]) -> str:
    """Say how many steps there are, and how many of them leave something other than 0."""
    wrong = sum(value != "0" for value in left)
    steps = f"{len(left)} step{'s' if len(left) != 1 else ''}"
    if wrong:
        return f"{wrong} of {steps} do{'es' if wrong == 1 else ''} not vanish"
    return f"{steps}, all vanish" if len(left) != 1 else "1 step, which vanishes"


def visit(self: HTML5Translator, node: folded) -> None:
    """Open the fold."""
    is_open = " open" if node["open"] else ""
    line = f"<summary>{node['line']}</summary>"
    self.body.append(f'<details class="{node["kind"]}"{is_open}>{line}\n')


def depart(self: HTML5Translator, node: folded) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both folds."""
    app.add_node(folded, html=(visit, depart))
    app.connect("doctree-resolved", fold_proofs)
    app.connect("doctree-resolved", fold_zeros)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
