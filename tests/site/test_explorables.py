"""The explorables answer to keyboard, mouse and reader."""

import re

import pytest

from browser import number, says, wait_for_explorables
from emergence import theory
from emergence.analysis import circuit


def mounted(page, name):
    return page.locator(f"[data-explorable={name}]")


def test_emergence_answers_to_the_keyboard(explore):
    mount = mounted(explore, "emergence")
    summary = mount.locator("[role=status]")
    size = mount.get_by_label("Pairs in the context, N")
    size.focus()
    explore.keyboard.press("End")
    says(summary, "1,000,000")
    assert "10¹²" in summary.text_content()
    mount.get_by_label("the last pair").focus()
    explore.keyboard.press("ArrowRight")
    says(summary, "N = 512")
    limit = mount.locator(".ex-limit")
    assert "512 and not 1,000,000" in limit.text_content()
    explore.keyboard.press("ArrowLeft")
    says(summary, "N = 1,000,000")
    assert limit.text_content() == ""
    explore.keyboard.press("ArrowRight")
    says(summary, "N = 512")
    exact = mount.get_by_label("N, exactly")
    exact.fill("10")
    exact.press("Enter")
    says(summary, "N = 10,")
    time = mount.get_by_label("Look at time")
    before = mount.locator(".ex-reading").text_content()
    time.focus()
    explore.keyboard.press("Home")
    after = mount.locator(".ex-reading").text_content()
    assert before != after
    assert "α = 0.000" in after
    assert time.get_attribute("aria-valuetext").startswith("0, alpha 0.00, beta 0.00, gamma 0.00")


def test_the_flow_hands_its_network_to_the_circuit(explore):
    mount = mounted(explore, "emergence")
    mount.get_by_label("Look at time").fill("0")
    mount.get_by_text("Show this network in the circuit").click()
    sentence = mounted(explore, "circuit").locator("[role=status]")
    says(sentence, "every position alike")


def test_the_circuit_answers_to_keyboard_and_mouse(explore):
    sentence = mounted(explore, "circuit").locator("[role=status]")
    weight = circuit(6.0, 8.0, 1.0, 4, 1).layer2[-1, 3]
    assert sentence.text_content().startswith(f"The query B finds Q with weight {weight:.2f}.")
    explore.get_by_label("Query", exact=True).select_option("T")
    says(sentence, "T finds M")
    explore.get_by_role("button", name="Before training").click()
    says(sentence, "every position alike")
    slider = mounted(explore, "circuit").locator("input[type=range]").first
    slider.focus()
    explore.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "10.00"
    context = explore.get_by_label("Context, item and label in turn")
    context.fill("ab cd ef")
    says(sentence, "The query e")
    context.fill("ab ca")
    assert context.get_attribute("aria-invalid") == "true"
    assert "a comes twice" in mounted(explore, "circuit").locator("[role=alert]").text_content()
    mounted(explore, "circuit").locator("summary").click()
    assert mounted(explore, "circuit").locator("tbody tr").count() == 6


ORDERS = {"emergence": "γβα", "nineteen": ["γ₃", "α₃", "β₂"]}


@pytest.mark.parametrize("name", ORDERS)
def test_less_motion_where_it_is_asked_for(calm, name):
    mount = mounted(calm("book/explore.html", name), name)
    for symbol in ORDERS[name]:  # the first press goes to the first of them
        mount.get_by_text("Next event").click()
        value = re.search(rf"{symbol} = ([\d.]+)", mount.locator(".ex-reading").text_content())
        assert float(value[1]) == pytest.approx(0.5, abs=0.01)


def test_the_nineteen_answer_to_the_keyboard(explore):
    wait_for_explorables(explore, "nineteen")
    mount = mounted(explore, "nineteen")
    summary, picture = mount.locator("[role=status]"), mount.locator(".ex-curves")
    says(summary, "With N = 16, γ₃ emerges at 14.54, α₃ at 175.3, β₂ at 200.9.")
    says(summary, "Theorem 2 has the order γ₃, β₂, α₃. The loss falls to ½ at 321.5.")
    mount.get_by_label("Pairs in the context, N").focus()
    explore.keyboard.press("Home")
    says(summary, "With N = 2, ")
    assert "the order of Theorem 2." in summary.text_content()
    says(picture, "β₈ = β₁₁")
    mount.get_by_label("the last pair").focus()
    explore.keyboard.press("ArrowRight")
    says(summary, "γ₃ emerges at 2.072")
    mount.get_by_label("γ₃").focus()
    explore.keyboard.press("Space")
    says(summary, "γ₃ is frozen")
    assert mount.locator("tr[data-event=gamma] td").first.text_content() == "frozen"
    number(mount.locator("[data-curve=γ₃]"), 0)
    mount.get_by_role("button", name="All free").focus()
    explore.keyboard.press("Enter")
    says(summary, "γ₃ emerges at 2.072")
    time = mount.get_by_label("Look at time")
    time.focus()
    explore.keyboard.press("Home")
    says(mount.locator(".ex-reading"), "γ₃ = 0.000")
    assert "γ₃ = 0.000" in time.get_attribute("aria-valuetext")


def test_positions_answer_to_the_keyboard(page):
    mount = mounted(page("book/beyond/14_every_position.html", "positions"), "positions")
    summary = mount.locator("[role=status]")
    says(summary, "N = 64")
    expected = theory.emergence_times(64, supervision="every").alpha
    assert f"{expected:,.1f}" in mount.locator("tr[data-event=alpha]").text_content()
    size = mount.get_by_label("Pairs in the context, N")
    size.focus()
    mount.page.keyboard.press("Home")
    says(summary, "N = 2")


def test_a_network_trains_on_the_page(page):
    page = page("book/companions/03_clustering.html", "clustering")
    mount = mounted(page, "clustering")
    status = mount.locator("[role=status]")
    page.get_by_label("What moves").select_option("network")
    says(status, "After 0 epochs of a network with 17 embeddings")
    page.get_by_text("One step", exact=True).click()
    says(status, "After 1 epochs")
    assert "held-out accuracy" in mount.locator(".ex-reading").text_content()
    assert page.get_by_label("Weight decay").is_visible()
    assert not page.get_by_label("Core without direction").is_visible()
    page.get_by_label("Pairs held out for validation").fill("0")
    says(status, "After 0 epochs")


def test_the_film_scrubs_everything_together_by_keyboard(page):
    film = mounted(page("book/explore.html", "film"), "film")
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
    opened = page("book/paper/C_weights_during_training.html#figure-8")
    opened.wait_for_selector("[data-explorable=sequence] input[type=range]")
    first = mounted(opened, "sequence").first
    assert first.locator("#figure-8").is_visible()
    assert not first.locator("#figure-6").is_visible()
    first.get_by_role("slider", name="Training step").focus()
    opened.keyboard.press("Home")
    assert first.locator("#figure-6").is_visible()
    assert not first.locator("#figure-8").is_visible()
    says(first.locator("output"), first.get_attribute("data-moments").split()[0])
