"""Proofs are folded, and keep their text."""

from docutils import nodes
from docutils.utils import new_document
from sphinx_proof.nodes import proof_node

from bookbuild.sphinx_extensions import proofs


def page_with_proof(*content):
    section = nodes.admonition("", *content, classes=["proof", "proof"], ids=["proof"])
    document = new_document("page")
    document += [nodes.paragraph("", "", nodes.Text("A theorem.")), proof_node("", section)]
    return document


def test_a_proof_is_folded_without_the_word_before_it():
    first = nodes.paragraph("", "", nodes.Text("Proof. By "), nodes.math("", "x"))
    document = page_with_proof(first, nodes.paragraph("", "", nodes.Text("And so on.")))
    proofs.fold(None, document, "page")
    (fold,) = document.findall(proofs.folded_proof)
    assert [child.astext() for child in fold] == ["By x", "And so on."]
    assert not list(document.findall(proof_node))
    assert document[0].astext() == "A theorem."


def test_the_fold_opens_on_a_click():
    body = []
    translator = type("Translator", (), {"body": body})()
    proofs.visit(translator, None)
    proofs.depart(translator, None)
    assert "".join(body).split() == [
        "<details", 'class="proof-fold"><summary>Proof</summary>', "</details>",
    ]  # fmt: skip
