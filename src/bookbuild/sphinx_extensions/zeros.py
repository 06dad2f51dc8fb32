"""A Sphinx extension that folds tables of zeros: what is left of each step of a derivation.

Where nothing is left anywhere, one sentence says so and opens the table; else the table stands
open under the sentence that counts what does not vanish.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

HEAD = ["step", "what is left"]


class folded_table(nodes.General, nodes.Element):
    """A table under a sentence that opens it."""


def fold(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put every table of what is left into a fold."""
    for table in list(doctree.findall(nodes.table)):
        rows = [[cell.astext().strip() for cell in row] for row in table.findall(nodes.row)]
        if rows and rows[0] == HEAD:
            left = [value for _, value in rows[1:]]
            fold = folded_table("", sentence=sentence(left), open=any(v != "0" for v in left))
            table.replace_self(fold)
            fold += table


def sentence(left: list[str]) -> str:
    """Say how many steps there are, and how many of them leave something other than 0."""
    wrong = sum(value != "0" for value in left)
    steps = f"{len(left)} step{'s' if len(left) != 1 else ''}"
    if wrong:
        return f"{wrong} of {steps} do{'es' if wrong == 1 else ''} not vanish"
    return f"{steps}, all vanish" if len(left) != 1 else "1 step, which vanishes"


def visit(self: HTML5Translator, node: folded_table) -> None:
    """Open the fold."""
    is_open = " open" if node["open"] else ""
    self.body.append(f'<details class="zeros"{is_open}><summary>{node["sentence"]}</summary>\n')


def depart(self: HTML5Translator, node: folded_table) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the fold."""
    app.add_node(folded_table, html=(visit, depart))
    app.connect("doctree-resolved", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
