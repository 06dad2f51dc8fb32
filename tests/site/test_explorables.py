"""The explorables: the same numbers as in Python, and answers to keyboard, mouse and reader."""

import math
import re

import numpy as np
import pytest

from browser import call, says
from emergence import theory
from emergence.analysis import circuit
from emergence.theory import laws

EMERGENCE, CIRCUIT = "[data-explorable=emergence]", "[data-explorable=circuit]"
POINTS = [(0.0, 0.0, 0.0), (0.4, -0.7, 0.9), (1.3, 2.1, 1.1), (-1.0, 3.0, 0.5), (6.0, 8.0, 1.0)]
ORDER = ("alpha", "beta", "gamma", "icl", "collapse")


def flow_times(page, n_pairs, **options):
    times = call(page, "flow", "m.emergenceTimes(...x)", [n_pairs, options])
    return [times[name] for name in ORDER]


@pytest.mark.parametrize(
    ("n_pairs", "query"),
    [(n, "last") for n in (2, 16, 1024, 10**6)] + [(n, "uniform") for n in (2, 16, 512)],
)
def test_emergence_times_are_those_of_python(modules, n_pairs, query):
    expected = theory.emergence_times(n_pairs, query=query)
    assert flow_times(modules, n_pairs, query=query) == pytest.approx(list(expected), rel=1e-6)


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (-1.5, 0.7, -0.9)])
@pytest.mark.parametrize(("n_pairs", "query"), [(2, "last"), (5000, "last"), (40, "uniform")])
def test_the_flow_from_any_start_is_that_of_python(modules, n_pairs, query, start):
    at = "{ const flow = m.gradientFlow(x.n, x); return x.parts.map((part) => part * flow.end)"
    at += ".map((t) => [t, ...m.stateAt(flow, t), flow.loss(m.stateAt(flow, t))]); }"
    parts = [0.001, 0.1, 0.5, 0.85]
    setting = {"n": n_pairs, "query": query, "start": start, "parts": parts}
    result = np.array(call(modules, "flow", f"(() => {at})()", setting))
    flow = theory.gradient_flow(
        n_pairs, result[-1, 0], query=query, start=start, times=result[:, 0]
    )
    curves = np.stack([flow.alpha, flow.beta, flow.gamma, flow.loss], axis=1)
    assert result[:, 1:] == pytest.approx(curves, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("query", "n_pairs"),
    [("last", n) for n in (2, 7, 1000)] + [("uniform", n) for n in (2, 5, 300)],
)
def test_loss_and_gradient_are_those_of_python(modules, query, n_pairs):
    each = f"x[0].map((y) => m.loss{query.title()}(y, x[1]))"
    result = call(modules, "reduced", each, [POINTS, n_pairs])
    landscape = theory.landscape_of(n_pairs, query)
    expected = [(landscape.loss(*y), *landscape.gradient(*y)) for y in POINTS]
    assert np.array(result) == pytest.approx(np.array(expected), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("n_pairs", [2, 7, 1000])
def test_the_first_integral_is_that_of_python(modules, n_pairs):
    setting = {"points": POINTS, "n": n_pairs}
    expression = "x.points.map((y) => m.firstIntegral(y[0], y[1], x.n))"
    result = call(modules, "reduced", expression, setting)
    expected = [theory.first_integral(*y[:2], n_pairs) for y in POINTS]
    assert result == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_leading_orders_are_the_limits(modules):
    n_pairs = 10**6
    leading = call(modules, "flow", "m.leadingOrder(x)", n_pairs)
    beta = math.sqrt(2 * math.pi) * math.erf(0.5 / math.sqrt(2))
    alpha = math.sqrt(2 * math.pi) * math.erf(1 / math.sqrt(2))
    assert leading["gamma"] == pytest.approx(math.log(2) * n_pairs, rel=1e-12)
    assert leading["beta"] == pytest.approx(beta * n_pairs**2, rel=1e-12)
    assert leading["alpha"] == pytest.approx(alpha * n_pairs**2, rel=1e-12)
    assert leading["collapse"] == pytest.approx(math.sqrt(2 * math.pi) * n_pairs**2, rel=1e-12)
    assert flow_times(modules, n_pairs) == pytest.approx([leading[k] for k in ORDER], rel=1e-4)
    other = {"start": [0.5, -1.0, 0.2], "thresholds": [1.2, 0.4, 0.8]}
    leading = call(modules, "flow", "m.leadingOrder(x[0], x[1])", [n_pairs, other])
    expected = [leading[k] for k in ORDER]
    assert flow_times(modules, n_pairs, **other) == pytest.approx(expected, rel=1e-4)
    leading = call(modules, "flow", "m.leadingOrder(512, {query: 'uniform'})", None)
    for name in ("alpha", "beta"):
        expected = laws.uniform_law(name).leading * 512**2 / math.log(512)
        assert leading[name] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("n_pairs", "query"), [(2, 0), (4, 1), (8, 7)])
def test_attention_and_answer_are_those_of_the_network(modules, n_pairs, query):
    for parameters in POINTS:
        expected = circuit(*parameters, n_pairs, query)
        setting = dict(zip(("alpha", "beta", "gamma"), parameters, strict=True))
        result = call(modules, "network", "m.circuit(...x)", [setting, n_pairs, query])
        for name in ("layer1", "layer2", "output", "loss"):
            value = np.array(result[name])
            assert value == pytest.approx(getattr(expected, name), rel=1e-6, abs=1e-12)


def test_emergence_answers_to_the_keyboard(explore):
    mount = explore.locator(EMERGENCE)
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
    mount = explore.locator(EMERGENCE)
    mount.get_by_label("Look at time").fill("0")
    mount.get_by_text("Show this network in the circuit").click()
    sentence = explore.locator(f"{CIRCUIT} [role=status]")
    says(sentence, "every position alike")


def test_the_circuit_answers_to_keyboard_and_mouse(explore):
    sentence = explore.locator(f"{CIRCUIT} [role=status]")
    weight = circuit(6.0, 8.0, 1.0, 4, 1).layer2[-1, 3]
    assert sentence.text_content().startswith(f"The query B finds Q with weight {weight:.2f}.")
    explore.get_by_label("Query", exact=True).select_option("T")
    says(sentence, "T finds M")
    explore.get_by_role("button", name="Before training").click()
    says(sentence, "every position alike")
    slider = explore.locator(f"{CIRCUIT} input[type=range]").first
    slider.focus()
    explore.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "10.00"
    context = explore.get_by_label("Context, item and label in turn")
    context.fill("ab cd ef")
    says(sentence, "The query e")
    context.fill("ab ca")
    assert context.get_attribute("aria-invalid") == "true"
    assert "a comes twice" in explore.locator(f"{CIRCUIT} [role=alert]").text_content()
    explore.locator(f"{CIRCUIT} summary").click()
    assert explore.locator(f"{CIRCUIT} tbody tr").count() == 6


ORDERS = {"emergence": "γβα", "nineteen": ["γ₃", "α₃", "β₂"]}


@pytest.mark.parametrize("name", ORDERS)
def test_less_motion_where_it_is_asked_for(calm, name):
    mount = calm("book/explore.html", name).locator(f"[data-explorable={name}]")
    for symbol in ORDERS[name]:  # the first press goes to the first of them
        mount.get_by_text("Next event").click()
        value = re.search(rf"{symbol} = ([\d.]+)", mount.locator(".ex-reading").text_content())
        assert float(value[1]) == pytest.approx(0.5, abs=0.01)
