"""The preprint joins the pages that it names, with the works that they cite and no others."""

from pathlib import Path

import pytest

from tools.preprint import PAGES, REFERENCES, joined

WORK = '<div class="citation" id="id{0}">Work {0}</div>'
TEXTS = (
    '<h1>New</h1><p><a href="../bibliography.html#id2">[B]</a></p><div class="cite admonition">',
    "<h1>Brief</h1><p>A law, and $x$.</p>",
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    works = "".join(map(WORK.format, (1, 2)))
    for page, text in zip((*PAGES, REFERENCES), (*TEXTS, works), strict=True):
        path = tmp_path / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<html><head></head><body><nav>Menu</nav><article>{text}</article></body>")
    return tmp_path


def test_articles_follow_each_other_below_a_title(site: Path) -> None:
    text = joined(site, "A title", "Somebody, version 1")
    parts = ("A title", "Somebody, version 1", "New", "Brief", "A law", "References", "Work 2")
    places = [text.index(part, text.index("<article")) for part in parts]
    assert places == sorted(places)
    assert "Work 1" not in text
    assert "cite admonition" not in text
