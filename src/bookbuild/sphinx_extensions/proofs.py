"""A Sphinx extension that folds proofs: the theorem stands, its proof opens on a click."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinx_proof.nodes import proof_node

LABEL = "Proof"


class folded_proof(nodes.General, nodes.Element):
    """A proof under a line that opens it."""


def fold(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put every proof into a fold, without the word that sphinx-proof sets before it."""
    for node in list(doctree.findall(proof_node)):
        paragraph = next(iter(node.findall(nodes.paragraph)))
        first = paragraph[0]
        paragraph[0] = nodes.Text(first.astext().removeprefix(f"{LABEL}. "))
        node.replace_self(folded_proof("", *node[0].children))


def visit(self: HTML5Translator, node: folded_proof) -> None:
    """Open the fold."""
    self.body.append(f'<details class="proof-fold"><summary>{LABEL}</summary>\n')


def depart(self: HTML5Translator, node: folded_proof) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the fold."""
    app.add_node(folded_proof, html=(visit, depart))
    app.connect("doctree-resolved", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
