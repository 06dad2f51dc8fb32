"""Proofs and tables of zeros are folded; a table of which one row does not vanish is open."""

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx_proof.nodes import proof_node

from bookbuild.sphinx_extensions.folds import (
    HEAD,
    depart,
    fold_proofs,
    fold_zeros,
    folded,
    sentence,
    visit,
)


def opening(fold):
    """The tags that a fold begins and ends with."""
    translator = type("Translator", (), {"body": []})()
    visit(translator, fold)
    depart(translator, fold)
    return "".join(translator.body).split("\n")[:2]


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
    head = '<details class="proof-fold"><summary>Proof</summary>'
    assert opening(fold) == [head, "</details>"]


def page_with_table(*rows):
    """A page with one table."""
    group = nodes.tgroup("", cols=2)
    head, body = nodes.thead(), nodes.tbody()
    for place, texts in [(head, rows[0]), *((body, row) for row in rows[1:])]:
        entries = (nodes.entry("", nodes.paragraph(text=text)) for text in texts)
        place += nodes.row("", *entries)
    group += [head, body]
    document = new_document("page")
    document += nodes.table("", group)
    return document


@pytest.mark.parametrize(
    ("last", "head"),
    [
        ("0", '<details class="zeros"><summary>2 steps, all vanish</summary>'),
        ("0.0", '<details class="zeros" open><summary>1 of 2 steps does not vanish</summary>'),
    ],
)
def test_a_table_of_zeros_is_folded_and_open_where_something_is_left(last, head):
    document = page_with_table(HEAD, ("one", "0"), ("two", last))
    fold_zeros(None, document, "page")
    (fold,) = document.findall(folded)
    assert len(list(fold.findall(nodes.table))) == 1
    assert opening(fold) == [head, "</details>"]


def test_other_tables_stand():
    document = page_with_table(("step", "loss"), ("one", "0"))
    fold_zeros(None, document, "page")
    assert not list(document.findall(folded))


@pytest.mark.parametrize(
    ("left", "said"),
    [(["0"], "1 step, which vanishes"), (["x", "y", "0"], "2 of 3 steps do not vanish")],
)
def test_the_sentence_counts(left, said):
    assert sentence(left) == said
