"""The film of a head and figures in sequence: matrices, attention and loss move together."""

import pytest

from browser import PATIENCE, says

FILM, SEQUENCE = "[data-explorable=film]", "[data-explorable=sequence]"
APPENDIX = "book/paper/C_weights_during_training.html"
FRAMES_A_SECOND = 30
SLOWER = 4  # times as slow as this processor, as browsers throttle one in their own tools
MOVES = 100
COMPUTED = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")  # each in seconds
SCRUB = """async (slider, moves) => {
    for (let i = 0; i < moves; i++) {
        slider.value = i % 60;
        slider.dispatchEvent(new Event("input"));
        await new Promise(requestAnimationFrame);
    }
}"""


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
    says(summary, "Step 2,")
    assert step.get_attribute("aria-valuetext").startswith("Step 2, loss ")


def test_it_plays_from_zero_and_stops_at_the_end(film):
    summary = film.locator(".ex-summary")
    end = summary.text_content()
    film.get_by_role("button", name="Play").click()
    says(film.locator("button"), "Pause")
    film.get_by_role("button", name="Play").wait_for(timeout=PATIENCE)
    assert summary.text_content() == end
    assert film.locator("tbody tr").count() == 3


def test_thirty_frames_a_second_on_a_slow_processor(film):
    """What scripts, styles and layout compute for a move; painting is the browser's own."""
    session = film.page.context.new_cdp_session(film.page)
    session.send("Performance.setTimeDomain", {"timeDomain": "threadTicks"})
    session.send("Performance.enable")

    def computed():
        metrics = session.send("Performance.getMetrics")["metrics"]
        return sum(metric["value"] for metric in metrics if metric["name"] in COMPUTED)

    before = computed()
    film.get_by_role("slider", name="Training step").evaluate(SCRUB, MOVES)
    assert 0 < (computed() - before) / MOVES * SLOWER < 1 / FRAMES_A_SECOND


def test_the_film_is_small(site):
    text = (site / "book" / "explore.html").read_text(encoding="utf-8")
    start = text.index("data-film=")
    assert 100_000 < text.index("</div>", start) - start < 600_000


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
    says(first.locator("output"), "100")
