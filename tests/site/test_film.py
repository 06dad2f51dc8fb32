"""The film of a head and figures in sequence: matrices, attention and loss move together."""

import pytest

from browser import says

FILM, SEQUENCE = "[data-explorable=film]", "[data-explorable=sequence]"
APPENDIX = "book/paper/C_weights_during_training.html"


@pytest.fixture
def film(page):
    return page("book/explore.html", "film").locator(FILM)


def test_it_scrubs_everything_together_by_keyboard(film):
    step, summary, canvas = (
        film.get_by_role("slider", name="Training step"),
        film.locator(".ex-summary"),
        film.locator("canvas"),
    )
    assert canvas.count() == 3
    trained = canvas.evaluate_all("(all) => all.map((canvas) => canvas.toDataURL())")
    step.focus()
    film.page.keyboard.press("Home")
    says(summary, "Step 0,")
    film.page.evaluate("() => new Promise(requestAnimationFrame)")
    begun = canvas.evaluate_all("(all) => all.map((canvas) => canvas.toDataURL())")
    assert all(one != other for one, other in zip(begun, trained, strict=True))
    film.page.keyboard.press("ArrowRight")
    says(summary, "Step 6,")
    assert step.get_attribute("aria-valuetext").startswith("Step 6, loss ")


def test_figures_in_sequence_are_gone_through_and_reached_by_their_links(page):
    opened = page(f"{APPENDIX}#figure-8")
    opened.wait_for_selector(f"{SEQUENCE} input[type=range]")
    first = opened.locator(SEQUENCE).first
    assert first.locator("#figure-8").is_visible()
    assert not first.locator("#figure-6").is_visible()
    first.get_by_role("slider", name="Training step").focus()
    opened.keyboard.press("Home")
    assert first.locator("#figure-6").is_visible()
    assert not first.locator("#figure-8").is_visible()
    says(first.locator("output"), first.get_attribute("data-moments").split()[0])
