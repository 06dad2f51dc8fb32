"""Markers, scores, energy and forces, against loops, autograd and SymPy."""

import cmath
import itertools
import math

import pytest
import torch

from chapters.companions.clustering import PRESET, Simulation, energy, markers, scores, symbolic
from emergence.presets import choose
from interruption import assert_resumes

SIZES = (2, 5, 8, 17)
GIVEN = {"mix": 0.5, "width": 0.5, "core": 0.3, "device": torch.device("cpu")}
SETTINGS = [(0.0, 0.5, 0.0), (1.0, 0.5, 0.0), (1.0, 0.5, 0.3), (0.3, 0.2, 0.5)]  # mix, width, core


def some(n, *runs, seed=0):
    stream = torch.Generator().manual_seed(seed)
    return torch.randn(*runs, n, 2, generator=stream, dtype=torch.float64)


def plain_energy(points, mix, width, core):
    """U by its definition, in loops over pairs of pairs of complex numbers."""
    n = len(points)
    centre = sum(points) / n
    rms = math.sqrt(sum(abs(z - centre) ** 2 for z in points) / n)
    pairs = list(itertools.combinations_with_replacement(range(n), 2))
    marks = [((points[a] + points[b] - 2 * centre) / rms, (a + b) % n) for a, b in pairs]
    values = {True: [], False: []}
    for (s, i), (t, j) in itertools.combinations(marks, 2):
        near = math.exp(-(abs(s - t) ** 2) / (2 * width**2))
        turned = math.cos(2 * (cmath.phase(s) - cmath.phase(t)))
        turned *= math.prod(abs(z) ** 2 / (abs(z) ** 2 + core**2) for z in (s, t))
        values[i == j].append((1 - mix) * near + mix * turned)
    return sum(values[False]) / len(values[False]) - sum(values[True]) / len(values[True])


@pytest.mark.parametrize("n", SIZES)
def test_markers_are_the_unordered_pairs(n):
    pairs = markers.all_markers(n)
    found = list(zip(*(part.tolist() for part in pairs), strict=True))
    assert found == [(a, b, (a + b) % n) for a in range(n) for b in range(a, n)]
    assert n != 17 or len(found) == 153  # as the source says
    embeddings = some(n, 3)
    expected = torch.stack([embeddings[:, a] + embeddings[:, b] for a, b, _ in found], dim=1)
    assert torch.equal(markers.places(embeddings), expected)
    same = sum(i[2] == j[2] for i, j in itertools.permutations(found, 2))
    other = sum(i[2] != j[2] for i, j in itertools.permutations(found, 2))
    assert (int(markers.same_sum(n).sum()), int(markers.other_sum(n).sum())) == (same, other)


def test_fewer_than_two_residues_are_an_error():
    with pytest.raises(ValueError, match="two residues"):
        markers.all_markers(1)


def test_normalised_embeddings(close):
    embeddings = 3 + 5 * some(7, 4)
    normal = markers.normalise(embeddings)
    close(normal.mean(dim=1), torch.zeros(4, 2), 1e-12)
    close(normal.square().sum(dim=-1).mean(dim=-1), torch.ones(4))
    close(normal * markers.scale(embeddings) + embeddings.mean(1, keepdim=True), embeddings)


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("setting", SETTINGS)
def test_energy_is_its_definition(n, setting):
    embeddings = some(n)
    points = [complex(x, y) for x, y in embeddings.tolist()]
    assert float(energy.energy_of(embeddings, *setting)) == pytest.approx(
        plain_energy(points, *setting), rel=1e-12
    )


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("setting", SETTINGS)
def test_forces_are_the_gradient(n, setting, close):
    embeddings = (2 + 3 * some(n, 3)).requires_grad_()
    (gradient,) = torch.autograd.grad(energy.energy_of(embeddings, *setting).sum(), embeddings)
    close(energy.forces(embeddings.detach(), *setting), -gradient, 1e-9)


def test_forces_neither_move_nor_grow_the_whole(close):
    embeddings = some(9, 5)
    force = energy.forces(embeddings, 0.4, 0.5, 0.2)
    zero = torch.zeros(5)
    close(force.sum(dim=1), torch.zeros(5, 2), 1e-9)
    close((force * markers.normalise(embeddings)).sum(dim=(1, 2)), zero, 1e-9)
    turn = torch.stack((-embeddings[..., 1], embeddings[..., 0]), dim=-1)
    close((force * turn).sum(dim=(1, 2)), zero, 1e-9)


def test_a_marker_at_the_centre_has_no_angle_and_no_infinity():
    embeddings = torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    assert torch.isfinite(energy.forces(embeddings, 1.0, 0.5)).all()


def test_symbolic_steps_leave_nothing():
    for residuals in (symbolic.pair_residuals(), symbolic.structure_residuals()):
        assert set(residuals.values()) == {0}


def test_harmonics_of_the_kernel_by_quadrature():
    angle = torch.linspace(0, torch.pi, 20001, dtype=torch.float64)
    kernel = (angle.sin() + (torch.pi - angle) * angle.cos()) / (2 * torch.pi)
    for order in (2, 3, 4):
        numeric = float(torch.trapezoid(kernel * torch.cos(order * angle), angle)) * 2 / torch.pi
        assert numeric == pytest.approx(float(symbolic.harmonic(order)), abs=1e-8)
    assert set(symbolic.harmonic_residuals().values()) == {0}


@pytest.mark.parametrize("n", [7, 8, 17])
def test_a_circle_is_a_circle_and_no_grid(n):
    for frequency in range(1, (n + 1) // 2):
        if math.gcd(frequency, n) > 1:
            continue
        found = scores.score(scores.circle(n, frequency))
        assert float(found.circle) == pytest.approx(1.0)
        assert not bool(found.grids)


def test_markers_of_a_circle_are_collinear(close):
    marks = markers.places(scores.circle(17, 5))
    total = markers.all_markers(17).total
    for sum_ in range(17):
        x, y = marks[total == sum_].T
        assert float(torch.linalg.matrix_rank(torch.stack((x, y)), tol=1e-9)) == 1
    weights = energy.pair_weights(17, torch.float64, torch.device("cpu"))
    # the least energy there is, so no force
    close(energy.alignment(marks, weights, 0.0), torch.zeros(153, 2), 1e-9)


def test_a_lattice_is_a_grid_and_no_circle():
    residue = torch.arange(16)
    found = scores.score(torch.stack((residue % 4, residue // 4), dim=-1).double())
    assert (bool(found.grids), bool(found.circles)) == (True, False)


def test_flatness_of_a_circle_an_ellipse_and_a_line(close):
    ring = scores.circle(9)
    squeezed = torch.stack((ring, ring * torch.tensor([1.0, 0.5]), ring * torch.tensor([1.0, 0.0])))
    turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)
    close(scores.flatness(3 + squeezed @ turn), torch.tensor([1.0, 0.25, 0.0]).double())


def test_grid_score_counts_pairs():
    embeddings = some(6)
    marks = markers.places(markers.normalise(embeddings)).tolist()
    totals = markers.all_markers(6).total.tolist()
    pairs = list(itertools.combinations(range(len(totals)), 2))
    near = {k: math.dist(marks[k[0]], marks[k[1]]) < scores.RADIUS for k in pairs}
    for value, same in ((scores.score(embeddings).grid, True),
                        (scores.score(embeddings).base, False)):  # fmt: skip
        kind = [near[i, j] for i, j in pairs if (totals[i] == totals[j]) == same]
        assert float(value) == pytest.approx(sum(kind) / len(kind))


def test_the_interval_of_a_share_is_wilsons():
    low, high = scores.share(torch.arange(50) < 10)
    root = 1.959964 * math.sqrt(0.2 * 0.8 / 50 + 1.959964**2 / (4 * 50**2))
    middle, factor = 0.2 + 1.959964**2 / 100, 1 + 1.959964**2 / 50
    assert (low, high) == pytest.approx(((middle - root) / factor, (middle + root) / factor))


@pytest.mark.parametrize("n", [9, 10])
def test_the_spectrum_holds_all_variance(n, close):
    embeddings = some(n, 2)
    centred = embeddings - embeddings.mean(dim=1, keepdim=True)
    total = centred.square().sum(dim=-1).mean(dim=-1)
    close(scores.spectrum(embeddings).sum(dim=-1), total)


@pytest.mark.parametrize("setting", [(0.0, 0.5, 0.0), (1.0, 0.5, 0.3)])
def test_particles_descend_and_repeat(setting):
    given = GIVEN | dict(zip(("mix", "width", "core"), setting, strict=True))
    settings = Simulation(residues=7, steps=80)
    ends = energy.simulate(settings, (0, 1), **given)
    assert ends.shape == (2, 7, 2)
    assert torch.allclose(ends[1:], energy.simulate(settings, (1,), **given), atol=1e-3)
    before = energy.start(7, (0, 1))
    assert (energy.energy_of(ends, *setting) < energy.energy_of(before, *setting)).all()


@pytest.mark.parametrize("kill_after", [1, 9])
def test_a_killed_simulation_ends_in_the_same_bits(kill_after):
    settings = Simulation(residues=7, steps=12)
    assert_resumes(lambda: [energy.simulate(settings, (0, 1), **GIVEN)], kill_after)


def test_particles_that_diverge_are_an_error():
    with pytest.raises(ArithmeticError, match="not finite"):
        energy.simulate(Simulation(5, steps=3, learning_rate=math.inf), (0,), **GIVEN)


def test_presets_are_named():
    assert choose(PRESET, "paper").settings.training.residues == 17
    assert choose(PRESET, "smoke").settings.arm(0.3, hidden_bias=False).weight_decay == 0.3
    assert max(choose(PRESET, "smoke").settings.arm(0.0).snapshots) < 60
