"""Markers, scores, energies and forces, the network and its training, by loops and autograd."""

import cmath
import itertools
import math

import pytest
import torch
from torch.nn import functional

from chapters.companions.clustering import Derived, Training, energy, training
from interruption import assert_resumes

SIZES = (2, 5, 8, 17)
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
    pairs = training.all_markers(n)
    result = list(zip(*(part.tolist() for part in pairs), strict=True))
    assert result == [(a, b, (a + b) % n) for a in range(n) for b in range(a, n)]
    assert n != 17 or len(result) == 153  # as the source says
    embeddings = some(n, 3)
    expected = torch.stack([embeddings[:, a] + embeddings[:, b] for a, b, _ in result], dim=1)
    assert torch.equal(training.places(embeddings), expected)
    same = sum(i[2] == j[2] for i, j in itertools.permutations(result, 2))
    other = sum(i[2] != j[2] for i, j in itertools.permutations(result, 2))
    assert (int(training.same_sum(n).sum()), int(training.other_sum(n).sum())) == (same, other)


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("setting", SETTINGS)
def test_energy_is_its_definition_and_forces_are_its_gradient(n, setting, close):
    embeddings = (2 + 3 * some(n, 3)).requires_grad_()
    result = energy.energy_of(embeddings, *setting)
    points = [complex(x, y) for x, y in embeddings[0].tolist()]
    assert float(result[0].detach()) == pytest.approx(plain_energy(points, *setting), rel=1e-12)
    (gradient,) = torch.autograd.grad(result.sum(), embeddings)
    close(energy.forces(embeddings.detach(), *setting), -gradient, 1e-9)


def test_a_marker_at_the_centre_has_no_angle_and_no_infinity():
    embeddings = torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    assert torch.isfinite(energy.forces(embeddings, 1.0, 0.5)).all()


@pytest.mark.parametrize(("n", "frequency"), [(7, 1), (8, 3), (17, 5)])
def test_a_circle_is_a_circle_and_no_grid(n, frequency):
    result = training.score(training.circle(n, frequency))
    assert float(result.circle) == pytest.approx(1.0)
    assert not bool(result.grids)


def test_markers_of_a_circle_are_collinear(close):
    marks = training.places(training.circle(17, 5))
    total = training.all_markers(17).total
    for sum_ in range(17):
        x, y = marks[total == sum_].T
        assert float(torch.linalg.matrix_rank(torch.stack((x, y)), tol=1e-9)) == 1
    weights = energy.pair_weights(17, torch.float64, torch.device("cpu"))
    # the least energy there is, so no force
    close(energy.alignment(marks, weights, 0.0), torch.zeros(153, 2), 1e-9)


def test_a_lattice_is_a_grid_and_no_circle():
    residue = torch.arange(16)
    result = training.score(torch.stack((residue % 4, residue // 4), dim=-1).double())
    assert (bool(result.grids), bool(result.circles)) == (True, False)


def test_flatness_of_a_circle_an_ellipse_and_a_line(close):
    ring = training.circle(9)
    squeezed = torch.stack((ring, ring * torch.tensor([1.0, 0.5]), ring * torch.tensor([1.0, 0.0])))
    turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)
    close(training.flatness(3 + squeezed @ turn), torch.tensor([1.0, 0.25, 0.0]).double())


def test_grid_score_counts_pairs():
    embeddings = some(6)
    marks = training.places(training.normalise(embeddings)).tolist()
    totals = training.all_markers(6).total.tolist()
    pairs = list(itertools.combinations(range(len(totals)), 2))
    near = {k: math.dist(marks[k[0]], marks[k[1]]) < training.RADIUS for k in pairs}
    same = [near[i, j] for i, j in pairs if totals[i] == totals[j]]
    assert float(training.score(embeddings).grid) == pytest.approx(sum(same) / len(same))


def starts(runs=2, n=5):
    stream = torch.Generator().manual_seed(0)
    embeddings = torch.randn(runs, n, 2, generator=stream, dtype=torch.float64)
    counted = torch.rand(runs, n * (n + 1) // 2, generator=stream) < 0.8
    return embeddings, counted


def over_pairs(hidden, total):
    same = (total[:, None] == total).double() - 1 / 5
    return -(same * (hidden @ hidden.T)).sum() / len(total) ** 2


def ridge_regression(hidden, total):
    targets, m = (torch.eye(5)[total] - 1 / 5).double(), len(hidden)
    kernel = hidden @ hidden.T / m + 0.02 * torch.eye(m)  # the dual form
    return 0.02 * torch.trace(targets.T @ torch.linalg.solve(kernel, targets)) / m


@pytest.mark.parametrize(("ridge", "expected"), [(None, over_pairs), (0.02, ridge_regression)])
def test_an_energy_is_a_sum_over_pairs_or_a_ridge_regression(ridge, expected):
    embeddings, counted = starts()
    weights = energy.directions(24, 0.7)
    result = energy.motion(embeddings, counted.double(), weights, ridge)[0]
    units = (training.places(training.normalise(embeddings)) @ weights[:2] + weights[2]).relu()
    for value, hidden, mask in zip(result, units, counted, strict=True):
        wanted = expected(hidden[mask], training.all_markers(5).total[mask])
        assert float(value) == pytest.approx(float(wanted))


@pytest.mark.parametrize("ridge", [None, 0.05])
@pytest.mark.parametrize("beta", [0.0, 0.8])
def test_forces_are_minus_the_gradient(beta, ridge, close):
    embeddings, counted = starts()
    weights = energy.directions(24, beta)
    free = embeddings.clone().requires_grad_()
    total = energy.motion(free, counted.double(), weights, ridge)[0].sum()
    slope = torch.autograd.grad(total, free)[0]
    close(energy.motion(embeddings, counted.double(), weights, ridge)[1], -slope, 1e-8)


def test_without_biases_the_first_force_is_that_of_the_expected_kernel():
    """Many even directions are the mean over networks, of which the theorem has a closed form."""
    embeddings, _ = starts(runs=1, n=7)
    normal = training.normalise(embeddings)
    whole = torch.ones(1, 28, dtype=torch.float64)
    force = energy.motion(normal, whole, energy.directions(4096, 0.0), None)[1]
    marks, total = training.places(normal)[0], training.all_markers(7).total
    free = marks.clone().requires_grad_()
    length = free.norm(dim=1, keepdim=True) * marks.norm(dim=1)
    angle = (free @ marks.T / length).clamp(-1 + 1e-15, 1 - 1e-15).acos()
    kernel = length * (angle.sin() + (torch.pi - angle) * angle.cos())
    weights = (total[:, None] == total).double() - 1 / 7
    (pairs,) = torch.autograd.grad((weights * kernel).sum(), free)
    matrix = training.incidence(7, torch.float64, torch.device("cpu"))
    expected = training.shape_only(matrix.T @ pairs, normal[0])
    ratio = torch.cosine_similarity(force.flatten(), expected.flatten(), dim=0)
    assert float(ratio) == pytest.approx(1, abs=1e-5)


def given(**changes):
    embeddings, counted = starts()
    return {"start": embeddings, "counted": counted, "beta": 0.5, "ridge": 0.1,
            "device": torch.device("cpu")} | changes  # fmt: skip


def test_a_killed_derived_simulation_ends_in_the_same_bits():
    short = Derived(units=24, steps=12)
    assert_resumes(lambda: [energy.simulate_derived(short, **given())], 9)


CPU = torch.device("cpu")


def small(seed=0, runs=1, n=5, hidden=12, bias=0.3):
    """Random networks in double precision, biases too."""
    stream = torch.Generator().manual_seed(seed)
    shapes = (n, 2), (2, hidden), (1, hidden), (hidden, n), (1, n)
    parts = [torch.randn(runs, *s, generator=stream, dtype=torch.float64) for s in shapes]
    return training.AdditionNetwork(
        parts[0], parts[1], bias * parts[2], parts[3] / 3, bias * parts[4]
    )


def marker_loss(weights, mark, total):
    """The loss of one marker, for the four parameters of the layers of one network."""
    first, first_bias, second, second_bias = weights
    logits = torch.relu(mark @ first + first_bias[0]) @ second + second_bias[0]
    return functional.cross_entropy(logits, total)


def losses(net):
    return training.forward(training.places(net.embeddings), net[1:]).losses()


def layers(net, run=0):
    return [part[run].clone().requires_grad_() for part in net[1:]]


def test_losses_are_those_of_one_marker_at_a_time(close):
    net = small(runs=2)
    pairs = training.all_markers(5)
    expected = [
        [
            marker_loss(layers(net, run), net.embeddings[run, a] + net.embeddings[run, b], c).item()
            for a, b, c in zip(*pairs, strict=True)
        ]
        for run in range(2)
    ]
    close(losses(net), torch.tensor(expected, dtype=torch.float64))


def test_only_trained_pairs_are_trained():
    settings = Training(residues=5, hidden=8, epochs=1)
    net, trained = training.start(settings, (4,))
    assert int((~trained).sum()) == round(0.2 * 15)
    after = training.train_clustering(settings, (4,), device=CPU)
    weights = trained / trained.sum()
    free = training.AdditionNetwork(*(part.clone().requires_grad_() for part in net))
    (losses(free) * weights).sum().backward()
    for part, old in zip(after.final, free, strict=True):
        moved = (part - old.detach() * (1 - 0.01)).abs() > 1e-9  # weight decay aside
        assert torch.equal(moved, old.grad != 0)


def test_sizes_are_of_the_shape_at_every_snapshot():
    settings = Training(residues=5, hidden=8, epochs=12, snapshots=(0, 6))
    record = training.train_clustering(settings, (0, 1, 2), device=CPU)
    result = training.force_sizes(record)
    assert list(result) == [0, 6, 12]
    end = training.AdditionNetwork(*(part.double() for part in record.final))
    free = end._replace(embeddings=end.embeddings.clone().requires_grad_())
    loss = ((losses(free) * record.trained).sum(dim=1) / record.trained.sum(dim=1)).sum()
    force = -torch.autograd.grad(loss, free.embeddings)[0]
    normal = training.normalise(end.embeddings)
    force -= force.mean(dim=1, keepdim=True)
    force -= (force * normal).sum(dim=(1, 2), keepdim=True) / 5 * normal
    rms = training.scale(end.embeddings).flatten()
    assert torch.allclose(result[12], force.flatten(1).norm(dim=1) / rms)
