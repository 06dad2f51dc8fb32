"""Every page of the built site, in both colour schemes, wide and narrow."""

from urllib.parse import unquote, urldefrag

import pytest

from browser import opened

MEGABYTE = 1_000_000
MOST_SHIFT = 0.1  # the bound below which Core Web Vitals call a page steady
EXPLORABLES = [
    ("book/explore.html", "emergence"),
    ("book/explore.html", "nineteen"),
    ("book/explore.html", "circuit"),
    ("book/companions/03_clustering.html", "clustering"),
]


def faults(visits, look):
    """What is wrong, by page; `look` returns something empty where all is well."""
    return {name: found for name, visit in visits.items() if (found := look(visit))}


def test_every_page_was_opened(visits, site):
    assert len(visits) >= 20
    assert "book/explore.html" in visits


def test_no_page_has_an_error_in_its_console(visits):
    assert faults(visits, lambda visit: visit.errors) == {}


def test_no_page_asks_another_server(visits):
    assert faults(visits, lambda visit: visit.external) == {}


def test_every_formula_is_set(visits):
    def unset(visit):
        seen = visit.seen
        return seen["faulty"] or seen["formulas"] - min(seen["rendered"], seen["formulas"])

    assert faults(visits, unset) == {}
    assert sum(visit.seen["rendered"] for visit in visits.values()) > 100


def test_no_page_is_wider_than_the_window(visits):
    def too_wide(visit):
        return {setting: pixels for setting, pixels in visit.overflow.items() if pixels > 0}

    assert faults(visits, too_wide) == {}


def test_every_image_is_loaded(visits):
    assert faults(visits, lambda visit: visit.seen["broken"]) == {}


@pytest.mark.parametrize(("name", "explorable"), EXPLORABLES)
def test_without_scripts_a_figure_stands_in_its_place(address, browser, name, explorable):
    with opened(browser, java_script_enabled=False) as page:
        page.goto(f"{address}{name}")
        mount = page.locator(f"[data-explorable={explorable}]")
        image = mount.locator("figure img")
        assert image.is_visible()
        assert len(image.get_attribute("alt")) > 40
        assert mount.locator("figcaption").is_visible()
        assert mount.locator("input").count() == 0


@pytest.mark.parametrize("address", ["http"], indirect=True)
def test_pages_follow_the_colour_scheme_of_the_system(visits):
    assert {tuple(visit.themes) for visit in visits.values()} == {("light", "dark")}


def test_every_link_within_the_site_leads_somewhere(visits, site, address):
    def lost(visit):
        wrong = []
        for link in set(visit.seen["links"]):
            url, fragment = urldefrag(link)
            if not url.startswith(address):
                continue
            name = unquote(url.removeprefix(address)).partition("?")[0]
            if name in visits:
                if fragment and unquote(fragment) not in {*visits[name].seen["ids"], "top"}:
                    wrong.append(link)
            elif not (site / name).exists():
                wrong.append(link)
        return wrong

    assert faults(visits, lost) == {}


@pytest.mark.parametrize("address", ["http"], indirect=True)
def test_no_serious_violation_of_accessibility(visits):
    assert min(visit.rules for visit in visits.values()) > 20
    assert faults(visits, lambda visit: visit.violations) == {}


def test_no_page_transfers_more_than_five_megabytes(visits):
    sizes = {name: visit.transferred for name, visit in visits.items()}
    assert min(sizes.values()) > 0
    assert {name: size for name, size in sizes.items() if size > 5 * MEGABYTE} == {}


def test_the_landing_page_is_light(visits):
    # typefaces of its own are a fifth of a megabyte, and nothing is compressed here
    assert visits["book/index.html"].transferred < 1.2 * MEGABYTE


@pytest.mark.parametrize("address", ["http"], indirect=True)
def test_little_keeps_the_landing_page_from_being_drawn(visits):
    """Style sheets and scripts that a browser waits for; it lists none of a page in a folder."""
    sizes = visits["book/index.html"].seen["blocking"]
    assert 0 < len(sizes) <= 24
    assert 0 < sum(sizes) < 0.7 * MEGABYTE


def test_search_finds_the_first_integral_and_quotes_it(address, browser):
    with opened(browser) as page:
        page.goto(f"{address}search.html?q=first+integral")
        # results are listed one after another
        result = "#search-results li:has(a[href^='book/explore.html'])"
        page.wait_for_selector(f"{result} a", state="attached")
        page.wait_for_selector(f"{result} p.context:has-text('first integral')", state="attached")


def test_a_page_has_one_viewport_and_one_title(visits):
    def counts(visit):
        pair = (visit.seen["viewports"], visit.seen["titles"])
        return pair != (1, 1) and pair

    assert faults(visits, counts) == {}


def test_nothing_moves_while_a_page_loads(visits):
    shifts = {name: round(visit.seen["shift"], 3) for name, visit in visits.items()}
    assert {name: shift for name, shift in shifts.items() if shift > MOST_SHIFT} == {}


def test_code_fits_into_the_window(visits):
    assert faults(visits, lambda visit: visit.cut) == {}


def test_every_page_has_a_policy(visits, site):
    pages = {name: (site / name).read_text(encoding="utf-8") for name in visits}
    assert [name for name, page in pages.items() if "Content-Security-Policy" not in page] == []


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
