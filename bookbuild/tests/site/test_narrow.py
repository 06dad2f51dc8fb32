"""The drawings that pages offer to phones."""

import pytest

from bookbuild.results.executed import Entry
from bookbuild.site.narrow import WINDOW, add_narrow

WIDE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="300pt" height="150pt" viewBox="0 0 300 150">'
    "\n<g/>\n</svg>\n"
)
PHONE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="150pt" height="300pt" viewBox="0 0 150 300"/>\n'
)
ENTRY = Entry(
    {"figures/a.svg": WIDE.encode(), "figures/a_narrow.svg": PHONE.encode()}, {"chapter": "part/c"}
)


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "figures" / "part" / "c"
    folder.mkdir(parents=True)
    (folder / "a_narrow.svg").write_text(PHONE, encoding="utf-8")
    (tmp_path / "_images").mkdir()
    # Sphinx has the drawing without its last end of line
    (tmp_path / "_images" / "1f.svg").write_text(WIDE.rstrip(), encoding="utf-8")
    (tmp_path / "_images" / "other.svg").write_text("<svg/>", encoding="utf-8")
    (tmp_path / "book").mkdir()
    return tmp_path


def offered(site, image):
    page = site / "book" / "page.html"
    page.write_text(f"<p>{image}</p>", encoding="utf-8")
    add_narrow(site, {"part/c": ENTRY})
    return page.read_text(encoding="utf-8")


def test_a_page_offers_the_narrow_drawing_and_says_how_large_both_are(site):
    assert offered(site, '<img alt="It falls." src="../_images/1f.svg" />') == (
        f'<p><picture><source media="{WINDOW}" srcset="../figures/part/c/a_narrow.svg" '
        'width="200" height="400"><img width="400" height="200" alt="It falls." '
        'src="../_images/1f.svg" /></picture></p>'
    )


@pytest.mark.parametrize(
    "image",
    [
        '<img src="../_images/other.svg">', '<img src="../_images/lost.svg">', '<img src="1f.png">',
        '<img src="https://example.org/1f.svg">',
    ],
)  # fmt: skip
def test_other_images_stay_as_they_are(site, image):
    assert offered(site, image) == f"<p>{image}</p>"
