"""The numbers of the explorables are those of Python."""

import math

import numpy as np
import pytest
import torch

from bookbuild.site.scripts import TABLE
from browser import call
from chapters.companions.clustering import energy, training
from chapters.companions.clustering.training import AdditionNetwork, forward
from emergence import theory
from emergence.analysis import circuit
from emergence.subspace import INDUCTION_HEAD, NAMES
from emergence.theory import laws

POINTS = [(0.0, 0.0, 0.0), (0.4, -0.7, 0.9), (1.3, 2.1, 1.1), (-1.0, 3.0, 0.5), (6.0, 8.0, 1.0)]
ORDER = ("alpha", "beta", "gamma", "icl", "collapse")
EVENTS = ("alpha", "beta", "gamma", "collapse")  # of the nineteen
PARTS = [0.001, 0.1, 0.5, 0.85]  # of the time of a flow
RULES = {"strict": "", "causal": ", m.lossCausal"}  # of a loss at every position
OTHERS = [name for name in NAMES if name not in INDUCTION_HEAD]
FROZEN = {
    "all free": [],
    "the paper's three": OTHERS,
    "a head and its twin": ["gamma_3", "beta_9"],
    "no shortcut": ["gamma_2", "gamma_4"],
}
SETTINGS = [(3, (0.0, 0.5, 0.0)), (8, (1.0, 0.5, 0.0)), (17, (0.35, 0.2, 0.3))]  # mix, width, core


def flow_times(page, n_pairs, **options):
    times = call(page, "flow", "m.emergenceTimes(...x)", [n_pairs, options])
    return [times[name] for name in ORDER]


@pytest.mark.parametrize(
    ("n_pairs", "query"),
    [(n, "last") for n in (2, 16, 1024, 10**6)] + [(n, "uniform") for n in (2, 16, 512)],
)
def test_emergence_times(modules, n_pairs, query):
    expected = theory.emergence_times(n_pairs, query=query)
    assert flow_times(modules, n_pairs, query=query) == pytest.approx(list(expected), rel=1e-6)


@pytest.mark.parametrize("mask", RULES)
@pytest.mark.parametrize("n_pairs", [2, 3, 16, 256])
def test_times_of_a_loss_at_every_position(modules, n_pairs, mask):
    times = call(modules, "every", f"m.everyTimes(x{RULES[mask]})", n_pairs)
    expected = theory.emergence_times(n_pairs, supervision="every", mask=mask)
    assert [times[name] for name in ORDER] == pytest.approx(list(expected), rel=1e-6)


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (-1.5, 0.7, -0.9)])
@pytest.mark.parametrize(("n_pairs", "query"), [(2, "last"), (5000, "last"), (40, "uniform")])
def test_the_flow_from_any_start(modules, n_pairs, query, start):
    at = "{ const flow = m.gradientFlow(x.n, x); return x.parts.map((part) => part * flow.end)"
    at += ".map((t) => [t, ...m.stateAt(flow, t), flow.loss(m.stateAt(flow, t))]); }"
    setting = {"n": n_pairs, "query": query, "start": start, "parts": PARTS}
    result = np.array(call(modules, "flow", f"(() => {at})()", setting))
    flow = theory.gradient_flow(
        n_pairs, result[-1, 0], query=query, start=start, times=result[:, 0]
    )
    curves = np.stack([flow.alpha, flow.beta, flow.gamma, flow.loss], axis=1)
    assert result[:, 1:] == pytest.approx(curves, rel=1e-6, abs=1e-9)


LOSSES = [
    ("reduced", f"m.loss{query.title()}(y, x[1])", n, {"query": query})
    for query, sizes in (("last", (2, 7, 1000)), ("uniform", (2, 5, 300)))
    for n in sizes
]
LOSSES += [("every", f"m.lossEvery(y, x[1]{more})", 40, {"supervision": "every", "mask": mask})
           for mask, more in RULES.items()]  # fmt: skip


@pytest.mark.parametrize(("module", "code", "n_pairs", "rules"), LOSSES)
def test_loss_and_gradient(modules, module, code, n_pairs, rules):
    result = call(modules, module, f"x[0].map((y) => {code})", [POINTS, n_pairs])
    landscape = theory.landscape_of(n_pairs, **rules)
    expected = [(landscape.loss(*y), *landscape.gradient(*y)) for y in POINTS]
    assert np.array(result) == pytest.approx(np.array(expected), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("n_pairs", [2, 7, 1000])
def test_the_first_integral(modules, n_pairs):
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


def rates_without(frozen):
    return [0.0 if name in frozen else 1.0 for name in NAMES]


def full_times(modules, n_pairs, query, frozen):
    setting = [n_pairs, {"query": query, "frozen": frozen}]
    times = call(modules, "full-flow", "m.fullFlow(...x).times", setting)
    return [times[event] for event in EVENTS]


def test_names_are_those_of_python(modules):
    assert call(modules, "full", "m.NAMES") == list(NAMES)


@pytest.mark.parametrize("query", ["last", "uniform"])
@pytest.mark.parametrize("n_pairs", [2, 7, 64])
def test_loss_and_gradient_of_nineteen(modules, n_pairs, query):
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
def test_the_flow_of_nineteen(modules, n_pairs, query, frozen):
    at = (
        f"{{ const {{ stateAt }} = {TABLE}['explorables/flow.js']; const flow = m.fullFlow(x.n, x);"
    )
    at += " const states = x.parts.map((part) => [part, stateAt(flow, part * flow.end)]);"
    at += (
        " return [flow.names, states.map(([part, y]) => [part * flow.end, flow.loss(y), ...y])]; }"
    )
    setting = {"n": n_pairs, "query": query, "frozen": frozen, "parts": PARTS}
    names, rows = call(modules, "full-flow", f"(() => {at})()", setting)
    result = np.array(rows)
    landscape = theory.landscape_of(n_pairs, query, model="full")
    times = np.array([0.0, *result[:, 0]])
    flow = theory.flow_in(landscape, times[-1], rates=rates_without(frozen), times=times)
    assert result[:, 1] == pytest.approx(flow.loss[1:], rel=1e-6)
    states = np.zeros((len(PARTS), 19))
    states[:, [NAMES.index(name) for name in names]] = result[:, 2:]
    assert states == pytest.approx(flow.points[1:], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("frozen", FROZEN.values(), ids=FROZEN)
@pytest.mark.parametrize(("n_pairs", "query"), [(2, "last"), (5, "uniform")])
def test_times_of_nineteen(modules, n_pairs, query, frozen):
    landscape = theory.landscape_of(n_pairs, query, model="full")
    rates, end = rates_without(frozen), 10.0 * n_pairs**2
    expected = theory.times_in(landscape, rates=rates, end=end)
    result = full_times(modules, n_pairs, query, frozen)
    assert result == pytest.approx([getattr(expected, event) for event in EVENTS], rel=1e-6)


def test_what_the_page_says_of_sixteen_pairs(modules):
    free = full_times(modules, 16, "last", [])
    three = full_times(modules, 16, "last", OTHERS)
    five = full_times(modules, 16, "last", [n for n in OTHERS if n not in ("gamma_2", "gamma_4")])
    assert five[0] < five[1]
    assert np.all(np.array(full_times(modules, 16, "last", ["gamma_4"])) > three)
    without = full_times(modules, 16, "last", ["gamma_2", "gamma_4"])
    assert without == pytest.approx(three, rel=0.03)
    held = full_times(modules, 16, "last", ["beta_2"])
    assert held[0] < math.inf
    assert held[3] / free[3] == pytest.approx(2.5, abs=0.05)
    assert full_times(modules, 16, "last", ["beta_2", "gamma_4"])[0] == math.inf
    any_pair, alone = (full_times(modules, 16, "uniform", frozen)[2] for frozen in ([], OTHERS))
    assert any_pair / alone == pytest.approx(4, abs=0.05)


def places(n, seed=0):
    stream = torch.Generator().manual_seed(seed)
    return 2 + 3 * torch.randn(n, 2, generator=stream, dtype=torch.float64)


@pytest.mark.parametrize(("n", "setting"), SETTINGS)
def test_energy_and_forces(modules, n, setting):
    embeddings = places(n)
    named = dict(zip(("mix", "width", "core"), setting, strict=True))
    result = call(modules, "particles", "m.forces(...x)", [embeddings.tolist(), named])
    assert result["energy"] == pytest.approx(
        float(energy.energy_of(embeddings, *setting)), rel=1e-6
    )
    expected = energy.forces(embeddings, *setting).numpy()
    size = np.abs(expected).max()
    assert np.array(result["forces"]) == pytest.approx(expected, rel=1e-6, abs=1e-6 * size)


def test_a_run_of_particles(modules):
    embeddings = places(7, seed=3)
    code = "(() => { const run = m.simulation(x[0]);"
    code += " for (let i = 0; i < 40; i++) run.step(x[1]); return run; })()"
    setting = [embeddings.tolist(), {"mix": 0.6, "width": 0.5, "core": 0.3, "rate": 0.02}]
    result = call(modules, "particles", code, setting)
    adam = torch.optim.Adam([embeddings], lr=0.02)
    for _ in range(40):
        embeddings.grad = -energy.forces(embeddings, 0.6, 0.5, 0.3)
        adam.step()
    assert np.array(result["points"]) == pytest.approx(embeddings.numpy(), rel=1e-6, abs=1e-6)
    assert result["steps"] == 40


@pytest.mark.parametrize("n", [6, 17])
def test_scores(modules, n):
    residue = torch.arange(n)
    lattice = torch.stack((residue % 4, residue // 4), dim=-1).double()
    for embeddings in (places(n), training.circle(n, 1), lattice):
        result = call(modules, "particles", "m.scores(x)", embeddings.tolist())
        expected = training.score(embeddings)
        assert result["circle"] == pytest.approx(float(expected.circle), rel=1e-6)
        assert result["grid"] == pytest.approx(float(expected.grid), rel=1e-6)
        assert result["isCircle"] == bool(expected.circles)
        assert result["isGrid"] == bool(expected.grids)


def test_what_the_chapter_proposes_to_try_happens_at_the_first_start(modules):
    code = "x.map((setting) => { const run = m.simulation(m.start(17, m.SEED));"
    code += " for (let i = 0; i < 1500; i++) run.step(setting); return m.scores(run.points); })"
    base = {"mix": 1.0, "width": 0.5, "core": 0.3, "rate": 0.02}
    tried = [base, base | {"mix": 0.0}, base | {"core": 0.0}]
    circle, grid, jam = call(modules, "particles", code, tried)
    assert circle["isCircle"]
    assert grid["isGrid"]
    assert not jam["isCircle"]


def test_the_network_of_the_page_is_that_of_python(modules):
    """Loss, gradient and forty epochs of AdamW, from the page's own weights."""
    code = "(() => { const w = m.startWeights(5, 3, 12), t = m.split(15, 0.2, 3);"
    code += " const copy = JSON.parse(JSON.stringify(w)), g = m.gradient(w, t);"
    code += " const run = m.training(w, t); for (let i = 0; i < 40; i++) run.step(x);"
    code += " return [copy, t, g.loss, g.gradient, run.weights]; })()"
    names = ["embeddings", "first", "firstBias", "second", "secondBias"]
    start, trained, loss, slopes, end = call(modules, "adder", code, {"rate": 0.01, "decay": 1.0})
    shapes = [(1, 5, 2), (1, 2, 12), (1, 1, 12), (1, 12, 5), (1, 1, 5)]
    network = AdditionNetwork(*(
        torch.tensor(start[name], dtype=torch.float64).reshape(shape).requires_grad_()
        for name, shape in zip(names, shapes, strict=True)
    ))  # fmt: skip
    counted = torch.tensor([trained], dtype=torch.float64)
    assert int(counted.sum()) == 12
    counted = counted / counted.sum()
    optimiser = torch.optim.AdamW(network, lr=0.01, weight_decay=1.0)
    for epoch in range(40):
        optimiser.zero_grad()
        result = forward(training.places(network.embeddings), network[1:])
        mean = (result.losses() * counted).sum()
        mean.backward()
        if epoch == 0:
            assert loss == pytest.approx(float(mean.detach()), rel=1e-9)
            for name, part in zip(names, network, strict=True):
                result = np.array(slopes[name]).ravel()
                assert result == pytest.approx(part.grad.numpy().ravel(), rel=1e-7, abs=1e-12)
        optimiser.step()
    for name, part in zip(names, network, strict=True):
        result = np.array(end[name]).ravel()
        assert result == pytest.approx(part.detach().numpy().ravel(), rel=1e-6, abs=1e-9)
