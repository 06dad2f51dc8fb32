"""The explorable of the nineteen curves: Python's flow, and answers to its readers."""

import math

import numpy as np
import pytest

from bookbuild.site.scripts import TABLE
from browser import call, number, says, wait_for_explorables
from emergence import theory
from emergence.subspace import INDUCTION_HEAD, NAMES

MOUNT = "[data-explorable=nineteen]"
EVENTS = ("alpha", "beta", "gamma", "collapse")
OTHERS = [name for name in NAMES if name not in INDUCTION_HEAD]
FROZEN = {
    "all free": [],
    "the paper's three": OTHERS,
    "a head and its twin": ["gamma_3", "beta_9"],
    "no shortcut": ["gamma_2", "gamma_4"],
}


def rates_without(frozen):
    return [0.0 if name in frozen else 1.0 for name in NAMES]


def flow_times(modules, n_pairs, query, frozen):
    setting = [n_pairs, {"query": query, "frozen": frozen}]
    times = call(modules, "full-flow", "m.fullFlow(...x).times", setting)
    return [times[event] for event in EVENTS]


@pytest.fixture
def mount(explore):
    """The explorable on its page, ready."""
    wait_for_explorables(explore, "nineteen")
    return explore.locator(MOUNT)


def test_names_are_those_of_python(modules):
    assert call(modules, "full", "m.NAMES") == list(NAMES)


@pytest.mark.parametrize("query", ["last", "uniform"])
@pytest.mark.parametrize("n_pairs", [2, 7, 64])
def test_loss_and_gradient_are_those_of_python(modules, n_pairs, query):
    points = np.random.default_rng(n_pairs).normal(size=(5, 19)) * [[0.1], [0.5], [1], [1.5], [2]]
    expression = "x[0].map((y) => m.landscape(m.chancesOf(x[1], x[2]))(y))"
    result = call(modules, "full", expression, [points.tolist(), query, n_pairs])
    for point, at in zip(points, result, strict=True):
        full = theory.landscape_of(n_pairs, query, model="full")
        assert at["loss"] == pytest.approx(full.loss(*point), rel=1e-12)
        expected = np.array(full.gradient(*point))
        size = np.abs(expected).max()
        assert np.array(at["gradient"]) == pytest.approx(expected, rel=1e-12, abs=1e-12 * size)


@pytest.mark.parametrize("frozen", FROZEN.values(), ids=FROZEN)
@pytest.mark.parametrize(("n_pairs", "query"), [(2, "uniform"), (9, "last")])
def test_the_flow_is_that_of_python(modules, n_pairs, query, frozen):
    at = (
        f"{{ const {{ stateAt }} = {TABLE}['explorables/flow.js']; const flow = m.fullFlow(x.n, x);"
    )
    at += " const states = x.parts.map((part) => [part, stateAt(flow, part * flow.end)]);"
    at += (
        " return [flow.names, states.map(([part, y]) => [part * flow.end, flow.loss(y), ...y])]; }"
    )
    parts = [0.001, 0.1, 0.5, 0.85]
    setting = {"n": n_pairs, "query": query, "frozen": frozen, "parts": parts}
    names, rows = call(modules, "full-flow", f"(() => {at})()", setting)
    result = np.array(rows)
    landscape = theory.landscape_of(n_pairs, query, model="full")
    times = np.array([0.0, *result[:, 0]])
    flow = theory.flow_in(landscape, times[-1], rates=rates_without(frozen), times=times)
    assert result[:, 1] == pytest.approx(flow.loss[1:], rel=1e-6)
    states = np.zeros((len(parts), 19))
    states[:, [NAMES.index(name) for name in names]] = result[:, 2:]
    assert states == pytest.approx(flow.points[1:], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("frozen", FROZEN.values(), ids=FROZEN)
@pytest.mark.parametrize(("n_pairs", "query"), [(2, "last"), (5, "uniform")])
def test_times_are_those_of_python(modules, n_pairs, query, frozen):
    landscape = theory.landscape_of(n_pairs, query, model="full")
    rates, end = rates_without(frozen), 10.0 * n_pairs**2
    expected = theory.times_in(landscape, rates=rates, end=end)
    result = flow_times(modules, n_pairs, query, frozen)
    assert result == pytest.approx([getattr(expected, event) for event in EVENTS], rel=1e-6)


def test_what_the_page_says_of_sixteen_pairs(modules):
    free = flow_times(modules, 16, "last", [])
    three = flow_times(modules, 16, "last", OTHERS)
    five = flow_times(modules, 16, "last", [n for n in OTHERS if n not in ("gamma_2", "gamma_4")])
    assert five[0] < five[1]
    assert np.all(np.array(flow_times(modules, 16, "last", ["gamma_4"])) > three)
    without = flow_times(modules, 16, "last", ["gamma_2", "gamma_4"])
    assert without == pytest.approx(three, rel=0.03)
    held = flow_times(modules, 16, "last", ["beta_2"])
    assert held[0] < math.inf
    assert held[3] / free[3] == pytest.approx(2.5, abs=0.05)
    assert flow_times(modules, 16, "last", ["beta_2", "gamma_4"])[0] == math.inf
    any_pair, alone = (flow_times(modules, 16, "uniform", frozen)[2] for frozen in ([], OTHERS))
    assert any_pair / alone == pytest.approx(4, abs=0.05)


def test_it_answers_to_the_keyboard(mount, explore):
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
