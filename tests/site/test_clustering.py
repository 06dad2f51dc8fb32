"""The explorable of clustering and alignment: Python's forces, and answers to its readers."""

import numpy as np
import pytest
import torch

from browser import call, says
from chapters.companions.clustering import energy, training
from chapters.companions.clustering.training import AdditionNetwork, forward

PAGE = "book/companions/03_clustering.html"
MOUNT = "[data-explorable=clustering]"
SETTINGS = [(3, (0.0, 0.5, 0.0)), (8, (1.0, 0.5, 0.0)), (17, (0.35, 0.2, 0.3))]  # mix, width, core


def places(n, seed=0):
    stream = torch.Generator().manual_seed(seed)
    return 2 + 3 * torch.randn(n, 2, generator=stream, dtype=torch.float64)


@pytest.fixture
def page(page):
    return page(PAGE, "clustering")


def status(page):
    return page.locator(f"{MOUNT} [role=status]")


@pytest.mark.parametrize(("n", "setting"), SETTINGS)
def test_energy_and_forces_are_those_of_python(modules, n, setting):
    embeddings = places(n)
    named = dict(zip(("mix", "width", "core"), setting, strict=True))
    result = call(modules, "particles", "m.forces(...x)", [embeddings.tolist(), named])
    assert result["energy"] == pytest.approx(
        float(energy.energy_of(embeddings, *setting)), rel=1e-6
    )
    expected = energy.forces(embeddings, *setting).numpy()
    size = np.abs(expected).max()
    assert np.array(result["forces"]) == pytest.approx(expected, rel=1e-6, abs=1e-6 * size)


def test_a_run_is_that_of_python(modules):
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
def test_scores_are_those_of_python(modules, n):
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


def test_a_network_trains_on_the_page(page):
    mount = page.locator(MOUNT)
    page.get_by_label("What moves").select_option("network")
    says(status(page), "After 0 epochs of a network with 17 embeddings")
    page.get_by_text("One step", exact=True).click()
    says(status(page), "After 1 epochs")
    assert "held-out accuracy" in mount.locator(".ex-reading").text_content()
    assert page.get_by_label("Weight decay").is_visible()
    assert not page.get_by_label("Core without direction").is_visible()
    page.get_by_label("Pairs held out for validation").fill("0")
    says(status(page), "After 0 epochs")
