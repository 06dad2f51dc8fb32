"""Tables of what is left of a derivation's steps are folded; one that does not vanish is open."""

import pytest
from docutils import nodes
from docutils.utils import new_document

from bookbuild.sphinx_extensions.zeros import HEAD, fold, folded_table, sentence


def document(*rows):
    """A document with one table."""
    group = nodes.tgroup("", cols=2)
    head, body = nodes.thead(), nodes.tbody()
    for place, texts in [(head, rows[0]), *((body, row) for row in rows[1:])]:
        entries = (nodes.entry("", nodes.paragraph(text=text)) for text in texts)
        place += nodes.row("", *entries)
    group += [head, body]
    page = new_document("page")
    page += nodes.table("", group)
    return page


def test_a_table_of_zeros_is_folded():
    page = document(HEAD, ("one", "0"), ("two", "0"))
    fold(None, page, "page")
    (found,) = page.findall(folded_table)
    assert (found["sentence"], found["open"]) == ("2 steps, all vanish", False)
    assert len(list(found.findall(nodes.table))) == 1


def test_a_table_with_a_rest_stands_open():
    page = document(HEAD, ("one", "0"), ("two", "0.0"))
    fold(None, page, "page")
    (found,) = page.findall(folded_table)
    assert (found["sentence"], found["open"]) == ("1 of 2 steps does not vanish", True)


def test_other_tables_stand():
    page = document(("step", "loss"), ("one", "0"))
    fold(None, page, "page")
    assert not list(page.findall(folded_table))


@pytest.mark.parametrize(
    ("left", "said"),
    [(["0"], "1 step, which vanishes"), (["x", "y", "0"], "2 of 3 steps do not vanish")],
)
def test_the_sentence_counts(left, said):
    assert sentence(left) == said
