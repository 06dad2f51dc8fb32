"""Every page of the built site, in both colour schemes, wide and narrow."""

from urllib.parse import quote

import nbformat
import pytest
from nbclient import NotebookClient

from browser import opened, watched
from tools.this_book import ROOT, chapters
from visits import Visit, examine, probe

MEGABYTE = 1_000_000
MOST_SHIFT = 0.1  # the bound below which Core Web Vitals call a page steady
EXPLORABLES = {
    "book/explore.html": ["film", "emergence", "nineteen", "circuit"],
    "book/index.html": ["training"],
    "book/story.html": ["circuit", "training", "positions"],
    "book/paper/05_emergence.html": ["training"],
    "book/paper/01_introduction.html": ["circuit"],
    "book/beyond/09_full_flow.html": ["nineteen"],
    "book/companions/03_clustering.html": ["clustering"],
}


def faults(visits, look):
    """What is wrong, by page; `look` returns something empty where all is well."""
    return {name: result for name, visit in visits.items() if (result := look(visit))}


def test_every_page_was_opened(visits):
    assert len(visits) >= 20
    assert "book/explore.html" in visits
    assert sum(visit.seen["formulas"] for visit in visits.values()) > 100


def test_no_role_stays_in_what_readers_see_or_download(site):
    notebooks = [*(site / "_sources" / "book").rglob("*.ipynb")]
    assert len(notebooks) == len(chapters())
    texts = {path.name: path.read_text(encoding="utf-8") for path in notebooks}
    assert [name for name, text in texts.items() if "{eval}" in text or "{glue" in text] == []


@pytest.mark.slow("it executes two chapters")
@pytest.mark.parametrize("page", ["paper/07_discussion", "beyond/12_machine_checked"])
def test_a_download_runs_by_itself(site, page):
    """In Jupyter as a reader has it, with the packages of the book and nothing of the builder."""
    book = nbformat.read(site / "_sources" / "book" / f"{page}.ipynb", as_version=4)
    where = {"metadata": {"path": str(ROOT)}}
    NotebookClient(book, timeout=600, kernel_name="python3", resources=where).execute()
    shown = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert sum("text/html" in output.get("data", {}) for output in shown) > 1


FAULTS = {
    "an error in its console": lambda visit: visit.errors,
    "a request to another server": lambda visit: visit.external,
    "an odd look": lambda visit: visit.odd,
    "a formula in a sentence with a scrollbar": lambda visit: visit.seen["barred"],
    "more width than the window": lambda visit: {k: n for k, n in visit.overflow.items() if n > 0},
    "an image that is not loaded": lambda visit: visit.seen["broken"],
    "an explorable that does not start": lambda visit: visit.started["waiting"],
    "an id of an explorable that comes twice": lambda visit: visit.started["repeated"],
    "viewports instead of one": lambda visit: visit.seen["viewports"] - 1,
    "titles instead of one": lambda visit: visit.seen["titles"] - 1,
    "code that does not fit into the window": lambda visit: visit.cut,
    "what moves while it loads": lambda visit: max(0, visit.seen["shift"] - MOST_SHIFT),
    "no files, or large ones": lambda visit: not 0 < visit.transferred <= 5 * MEGABYTE,
}


@pytest.mark.parametrize("look", FAULTS.values(), ids=FAULTS)
def test_no_page_has(visits, look):
    assert faults(visits, look) == {}


@pytest.mark.parametrize(("name", "explorables"), EXPLORABLES.items())
def test_without_scripts_a_figure_stands_in_its_place(address, browser, name, explorables):
    with opened(browser, java_script_enabled=False) as page:
        page.goto(f"{address}{name}")
        for explorable in explorables:
            mount = page.locator(f"[data-explorable={explorable}]")
            image = mount.locator("figure img")
            assert image.is_visible()
            assert len(image.get_attribute("alt")) > 40
            assert mount.locator("figcaption").is_visible()
            assert mount.locator("input").count() == 0


@pytest.mark.parametrize("address", ["http"], indirect=True)
def test_pages_follow_the_colour_scheme_of_the_system(visits):
    assert {tuple(visit.themes) for visit in visits.values()} == {("light", "dark")}


@pytest.mark.parametrize("address", ["http"], indirect=True)
def test_no_serious_violation_of_accessibility(visits):
    examined = [visit for visit in visits.values() if visit.rules]
    assert len(examined) >= 7
    assert min(visit.rules for visit in examined) > 20
    assert faults(visits, lambda visit: visit.violations) == {}


def test_pale_words_of_code_are_found(browser):
    with opened(browser) as page:
        page.set_content('<pre><span style="color: #ddd">pale</span></pre>')
        examine(page, found := Visit(), "light")
    assert any("color-contrast" in violation for violation in found.violations)


def test_no_page_is_large_and_every_one_has_a_policy(visits, site):
    pages = {name: (site / name).read_bytes() for name in visits}
    assert [name for name, page in pages.items() if len(page) > MEGABYTE] == []
    assert [name for name, page in pages.items() if b"Content-Security-Policy" not in page] == []


ASKED = {"first integral": "explore", "γ₄": "beyond/09_full_flow", "N²": "beyond/08_cost",
         "what does layer 1 do": "story"}  # fmt: skip


@pytest.mark.parametrize(("asked", "found"), ASKED.items())
def test_search_finds_words_and_symbols(address, browser, asked, found):
    with watched(browser) as page:
        page.goto(f"{address}search.html?q={quote(asked)}")
        # results are listed one after another
        page.wait_for_selector(f"#search-results a[href^='book/{found}.html']", state="attached")


@pytest.mark.parametrize("address", ["file"], indirect=True)
def test_a_drawing_that_is_opened_by_itself_runs_and_asks_for_nothing(address, site, browser):
    asked, drawings = [], sorted(site.rglob("*.svg"))
    with opened(browser) as page:
        page.on("request", lambda request: asked.append(request.url))
        for path in drawings:
            page.goto(f"{address}{path.relative_to(site).as_posix()}")
            assert (
                page.evaluate("document.querySelectorAll('script, a, foreignObject').length") == 0
            )
    assert len(drawings) > 200
    assert len([url for url in asked if not url.startswith("data:")]) == len(drawings)


def test_a_script_that_was_not_built_into_a_page_does_not_run(address, browser):
    with opened(browser) as page:
        page.goto(f"{address}book/index.html")
        ran = page.evaluate("""() => {
            const script = document.createElement("script");
            script.textContent = "window.foreign = true";
            document.head.append(script);
            return Boolean(window.foreign);
        }""")
    assert not ran


ROW = "<details><summary style='display: flex; {}'>{}</summary></details>"
PLANTED = {
    "a word over many lines": "<p style='width: 0; overflow-wrap: anywhere'>reproduced</p>",
    "past the right edge": "<p style='width: 1400px'>far</p>",
    "a closed row that is tall": ROW.format("height: 120px", "<b>a claim</b>"),
    "past its row": ROW.format("width: 50px", "<b style='min-width: 90px'>a claim</b>"),
    "over another": ROW.format("", "<b>a claim</b><i style='margin-left: -20px'>its verdict</i>"),
    "a raw role": "<p>It is {eval}`worst` at most.</p>",
    "a raw formula": "<p class='math'>\\(N^2\\)</p>",
    "not a number": "<p>The error is nan%.</p>",
    "an e-notation": "<p>They differ by 7e-16.</p>",
}


@pytest.mark.parametrize(("what", "planted"), PLANTED.items(), ids=PLANTED)
def test_an_odd_look_is_found(browser, what, planted):
    with opened(browser) as page:
        page.set_content(f"<article><p>Nothing is odd here.</p>{planted}</article>")
        assert [odd.split(": ")[:2] for odd in probe(page)] == [["1280 px", what]]
