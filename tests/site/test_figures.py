"""Texts of figures on every page, wide and on a phone: large enough, and clear of one another."""

import pytest
from matplotlib import pyplot as plt

from bookbuild.reporting.notebook import FOR_PHONES
from bookbuild.site.build import served
from browser import NARROW, WIDE, opened
from figure_texts import drawings

SIZES = {"wide": (WIDE, 11.0), "narrow": (NARROW, 9.0)}  # the window, the smallest text in pixels


@pytest.fixture(scope="module")
def seen(site, browser):
    """The drawings on every page, by the window and the page."""
    names = [
        path.relative_to(site).as_posix()
        for path in sorted((site / "book").rglob("*.html"))
        if '.svg"' in path.read_text(encoding="utf-8")
    ]
    result = {size: {} for size in SIZES}
    with served(site) as url, opened(browser) as page:
        for name in names:
            page.goto(url + name)
            for size, (window, _) in SIZES.items():
                page.set_viewport_size(window)
                result[size][name] = drawings(page)
    return result


FAULTS = {  # of a drawing at a size; something empty where all is well
    "the drawing that is made for the other size": lambda drawing, size: (
        drawing.source.endswith(f"{FOR_PHONES}.svg") != (size == "narrow")
    ),
    "a small text": lambda drawing, size: drawing.smallest < SIZES[size][1] and drawing.smallest,
    "a label that overlaps another": lambda drawing, size: drawing.overlaps,
    "a label that runs out of its figure": lambda drawing, size: drawing.cut,
}


@pytest.mark.parametrize("look", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("size", SIZES)
def test_no_figure_has(seen, size, look):
    assert sum(len(drawn) for drawn in seen[size].values()) > 100
    assert all(drawing.lines for drawn in seen[size].values() for drawing in drawn)
    wrong = {
        f"{name}#{drawing.name}": look(drawing, size)
        for name, drawn in seen[size].items()
        for drawing in drawn
    }
    assert {place: fault for place, fault in wrong.items() if fault} == {}


@pytest.fixture
def planted(tmp_path, browser):
    """What is measured of a drawing of 400 pixels whose texts a test writes."""

    def measure(*texts):
        figure = plt.figure(figsize=(4, 2))
        for x, y, words, kinds in texts:
            figure.text(x, y, words, gid=f"text_{words.split()[0]}", **kinds)
        figure.savefig(tmp_path / "drawn.svg", dpi=96)
        plt.close(figure)
        page_file = tmp_path / "page.html"
        page_file.write_text('<article><img width="384" src="drawn.svg"></article>')
        with served(tmp_path) as url, opened(browser) as page:
            page.goto(f"{url}page.html")
            (drawing,) = drawings(page)
        return drawing

    return measure


def test_faults_are_found(planted):
    small = planted((0.2, 0.5, "$x_2$", {"fontsize": 6}), (0.5, 0.5, "large", {"fontsize": 12}))
    assert small.smallest == pytest.approx(8, abs=0.01)
    both = planted((0.2, 0.5, "one", {}), (0.22, 0.5, "two", {}), (0.98, 0.5, "outside", {}))
    assert both.overlaps == [("text_two", "text_one")]
    assert both.cut == ["text_outside"]
    slanted = {"rotation": 45, "fontsize": 12}  # these overlap only where they meet
    apart = planted((0.1, 0.1, "a long label", slanted), (0.3, 0.1, "a long label", slanted))
    assert (apart.overlaps, apart.cut) == ([], [])
