"""What pages tell machines in their heads."""

from bs4 import BeautifulSoup


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
