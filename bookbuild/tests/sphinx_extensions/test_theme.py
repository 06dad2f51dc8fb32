"""What pages tell machines in their heads."""

import pytest
from bs4 import BeautifulSoup
from docutils import nodes, utils

from bookbuild.sphinx_extensions.theme import LONGEST, description


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["First one.", "What we find. It  holds."], "It holds."),
        (["First one.", "Second."], "First one."),
        ([], ""),
        (
            ["It holds at every size. " * 30],
            "It holds at every size. " * 10 + "It holds at every size.",
        ),
        (["word " * 100], "word " * 55 + "…"),
    ],
)
def test_a_description_is_what_a_page_finds_or_its_first_paragraph(
    texts: list[str], said: str
) -> None:
    document, section = utils.new_document("page"), nodes.section()
    section += [nodes.paragraph(text, text) for text in texts]
    document += section
    assert description(document) == said
    assert len(said) <= LONGEST


def test_every_page_has_its_metadata(built_once) -> None:
    site = built_once[0].settings().site
    pages = sorted((site / "book").rglob("*.html"))
    assert len(pages) == 4
    for path in pages:
        head = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").head
        said = {tag.get("name"): tag["content"] for tag in head.find_all("meta", content=True)}
        assert all(said[tag] for tag in ("description", "citation_title", "citation_author")), path
        (canonical,) = head.find_all("link", rel="canonical")
        address = f"/toy/{path.relative_to(site).as_posix()}"
        assert canonical["href"] == said["citation_public_url"]
        assert canonical["href"].endswith(address)
