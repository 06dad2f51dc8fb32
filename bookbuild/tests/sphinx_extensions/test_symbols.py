"""Formulas that are one symbol of the glossary are marked, in the folders that share it."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from bookbuild.sphinx_extensions.symbols import GLOSSARY, mark, symbols_in

TABLE = r"""| symbol | meaning |
|---|---|
| $N$ | pairs |
| $\mathbf a_i, \mathbf b_i$ | item and label |
| $\alpha=\alpha_3$ | layer 1 |
| $N$ | again |
"""


def test_symbols_are_found_by_their_tex():
    found = symbols_in(TABLE)
    assert found == {
        "N": "symbol-1", r"\mathbfa_i": "symbol-2", r"\mathbfb_i": "symbol-2",
        r"\alpha": "symbol-3", r"\alpha_3": "symbol-3",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("page", "text", "classes"),
    [
        ("book/paper/04", r"\alpha", ["symbol", "symbol-3"]),
        ("book/beyond/02", r"\mathbf  b_i", ["symbol", "symbol-2"]),
        ("book/paper/04", r"\alpha = 1", []),
        ("book/companions/01", r"\alpha", []),
        (GLOSSARY, r"\alpha=\alpha_3", ["symbol", "symbol-3"]),
    ],
)
def test_only_whole_formulas_are_marked(tmp_path, page, text, classes):
    glossary = tmp_path / f"{GLOSSARY}.md"
    glossary.parent.mkdir()
    glossary.write_text(TABLE, encoding="utf-8")
    told = "bookbuild: {symbols: [paper, beyond]}\n"
    (tmp_path / "_config.yml").write_text(told, encoding="utf-8")
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.math(text, text))
    mark(SimpleNamespace(srcdir=tmp_path), document, page)
    (formula,) = document.findall(nodes.math)
    assert formula["classes"] == classes
