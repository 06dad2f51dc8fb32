"""Proofs and tables of zeros are folded; a table of which one row does not vanish is open."""

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx_proof.nodes import proof_node

from bookbuild.sphinx_extensions.folds import HEAD, fold_proofs, fold_zeros, folded


def test_a_proof_is_folded_without_the_word_before_it():
    first = nodes.paragraph("", "", nodes.Text("Proof. By "), nodes.math("", "x"))
    rest = nodes.paragraph("", "", nodes.Text("And so on."))
    section = nodes.admonition("", first, rest, classes=["proof", "proof"], ids=["proof"])
    document = new_document("page")
    document += [nodes.paragraph("", "", nodes.Text("A theorem.")), proof_node("", section)]
    fold_proofs(None, document, "page")
    (fold,) = document.findall(folded)
    assert [child.astext() for child in fold] == ["By x", "And so on."]
    assert not list(document.findall(proof_node))
    assert document[0].astext() == "A theorem."


@pytest.mark.parametrize(
    ("head", "left", "line"),
    [
        (HEAD, ["0", "0"], "2 steps, all vanish"),
        (HEAD, ["0"], "1 step, which vanishes"),
        (HEAD, ["0", "0.0"], "1 of 2 steps does not vanish"),
        (HEAD, ["x", "y", "0"], "2 of 3 steps do not vanish"),
        (["step", "loss"], ["0"], None),
    ],
)
def test_a_table_of_zeros_is_folded_and_open_where_something_is_left(head, left, line):
    group = nodes.tgroup("", cols=2)
    for texts in (head, *(["one", value] for value in left)):
        group += nodes.row("", *(nodes.entry("", nodes.paragraph(text=x)) for x in texts))
    document = new_document("page")
    document += nodes.table("", group)
    fold_zeros(None, document, "page")
    folds = [(fold["line"], fold["open"]) for fold in document.findall(folded)]
    assert folds == ([(line, "vanish" in line and "not" in line)] if line else [])
    assert len(list(document.findall(nodes.table))) == 1
