"""Signatures read as the source does, and code that names an entry leads to it."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from bookbuild.sphinx_extensions.reference import link_entries, mend_lists, write_signature
from emergence import models, subspace, theory
from tools.this_book import ROOT


@pytest.mark.parametrize(
    ("what", "entry", "expected"),
    [
        ("class", theory.Rates, ("(alpha: float=1.0, beta: float=1.0, gamma: float=1.0)", None)),
        ("class", models.AttentionOnlyTransformer, (
            "(dim: int, vocabulary: int, block_size: int, *, "
            "embedding_scale: float, generator: torch.Generator, "
            "maps: Maps='default', scaled: bool=True)", None,
        )),
        ("method", subspace.PseudoParameters.unstack, (
            "(values: Float[Tensor, '*runs 19'])", "PseudoParameters",
        )),
        ("function", theory.first_integral, (
            "(alpha: Values, beta: Values, n_pairs: Values)", "Values",
        )),
        ("data", subspace.NAMES, None),
    ],
)  # fmt: skip
def test_signature_is_that_of_the_source(what, entry, expected):
    assert write_signature(None, what, "", entry, None, "", "") == expected


@pytest.fixture
def app():
    """What the hook calls of Sphinx, with two entries at one place."""
    entry = SimpleNamespace(docname="book/reference", node_id="emergence.theory.signal")
    objects = {"emergence.theory.signal": entry, "emergence.theory": entry}
    return SimpleNamespace(
        env=SimpleNamespace(domaindata={"py": {"objects": objects}}),
        srcdir=ROOT,
        builder=SimpleNamespace(get_relative_uri=lambda page, target: "reference.html"),
    )


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("theory.signal", True),
        ("emergence.theory.signal", True),
        ("theory", False),
        ("theory.other", False),
    ],
)
def test_code_that_names_an_entry_leads_to_it(app, text, linked):
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.literal("", text))
    link_entries(app, document, "book/glossary")
    found = [link["refuri"] for link in document.findall(nodes.reference)]
    assert found == ["reference.html#emergence.theory.signal"] * linked
    assert document.astext() == text


def test_links_and_titles_stay_as_they_are(app):
    document = new_document("page")
    document += nodes.title("", "", nodes.literal("", "theory.signal"))
    strong = nodes.strong("", "", nodes.literal("", "theory.signal"))
    document += nodes.paragraph("", "", nodes.reference("", "", strong, refuri="elsewhere"))
    link_entries(app, document, "book/glossary")
    assert [link["refuri"] for link in document.findall(nodes.reference)] == ["elsewhere"]


def test_parameters_of_a_signature_are_a_plain_list():
    context = {"body": '<dl><dt class="sig py"><dl><dd>n</dd></dl></dt><dd>text</dd></dl>'}
    mend_lists(None, "", "", context, None)
    assert context["body"] == '<dl><dt class="sig py"><ul><li>n</li></ul></dt><dd>text</dd></dl>'
