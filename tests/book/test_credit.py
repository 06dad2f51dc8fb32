"""All authors of the paper are named wherever it is credited."""

import pytest
from pybtex.database import parse_file

from tools.this_book import ROOT

AUTHORS = [
    "Tiberiu Musat", "Tiago Pimentel", "Lorenzo Noci",
    "Alessandro Stolfo", "Mrinmaya Sachan", "Thomas Hofmann",
]  # fmt: skip


@pytest.mark.parametrize("page", ["README.md", "book/index.md"])
def test_a_page_names_all_authors_and_the_version(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert all(author in text for author in AUTHORS)
    assert "anonymous submission of September 2025" in text


def test_no_reference_leaves_authors_out() -> None:
    entries = parse_file(ROOT / "book" / "references.bib").entries
    people = entries["paper"].persons["author"]
    assert [f"{person.first_names[0]} {person.last_names[0]}" for person in people] == AUTHORS
    for key, entry in entries.items():
        assert not any(str(person) == "others" for person in entry.persons.get("author", [])), key
