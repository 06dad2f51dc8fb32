"""Particles under derived forces, against autograd, sums over pairs and closed forms."""

import math

import pytest
import torch

from chapters.companions.clustering import Derived, derived, markers, pairwise
from interruption import assert_resumes

CPU = torch.device("cpu")
SETTINGS = Derived(units=24, steps=30)


def some(runs=2, n=5):
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
    embeddings, counted = some()
    weights = derived.directions(24, 0.7)
    found = derived.motion(embeddings, counted.double(), weights, ridge).energy
    units = (markers.places(markers.normalise(embeddings)) @ weights[:2] + weights[2]).relu()
    for energy, hidden, kept in zip(found, units, counted, strict=True):
        wanted = expected(hidden[kept], markers.all_markers(5).total[kept])
        assert float(energy) == pytest.approx(float(wanted))


@pytest.mark.parametrize("ridge", [None, 0.05])
@pytest.mark.parametrize("beta", [0.0, 0.8])
def test_forces_are_minus_the_gradient(beta, ridge, close):
    embeddings, counted = some()
    weights = derived.directions(24, beta)
    free = embeddings.clone().requires_grad_()
    energy = derived.motion(free, counted.double(), weights, ridge).energy.sum()
    slope = torch.autograd.grad(energy, free)[0]
    close(derived.motion(embeddings, counted.double(), weights, ridge).force, -slope, 1e-8)


def test_without_biases_the_first_force_is_that_of_the_expected_kernel():
    """Many even directions are the mean over networks: the closed form of `pairwise`."""
    embeddings, _ = some(runs=1, n=7)
    normal = markers.normalise(embeddings)
    whole = torch.ones(1, 28, dtype=torch.float64)
    force = derived.motion(normal, whole, derived.directions(4096, 0.0), None).force
    pairs = pairwise.expected_pair_forces(normal[0], 1, (1.0, 0.0)).sum(dim=1)
    matrix = markers.incidence(7, torch.float64, CPU)
    expected = markers.shape_only(matrix.T @ pairs, normal[0])
    ratio = torch.cosine_similarity(force.flatten(), expected.flatten(), dim=0)
    assert float(ratio) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("beta", [0.0, 1.3])
def test_directions_are_even(beta):
    weights = derived.directions(2000, beta)
    moments = weights @ weights.T / 2000
    expected = [1 / 2, 1 / 2, 0] if beta == 0 else [1 / 3, 1 / 3, beta**2 / 3]
    assert torch.allclose(moments, torch.diag(torch.tensor(expected).double()), atol=2e-3)


def given(**changes):
    embeddings, counted = some()
    return {"start": embeddings, "counted": counted, "seeds": (0, 1), "beta": 0.5, "ridge": 0.1,
            "device": CPU} | changes  # fmt: skip


def test_particles_descend_their_energy():
    ends = derived.simulate_derived(SETTINGS, **given())
    weights = derived.directions(24, 0.5)
    before, counted = some()
    first, last = (
        derived.motion(where, counted.double(), weights, 0.1).energy for where in (before, ends)
    )
    assert (last < first).all()
    assert torch.allclose(ends, markers.normalise(ends))


@pytest.mark.parametrize("kill_after", [1, 9])
def test_a_killed_simulation_ends_in_the_same_bits(kill_after):
    short = Derived(units=24, steps=12)
    assert_resumes(lambda: [derived.simulate_derived(short, **given())], kill_after)


def test_particles_that_diverge_are_an_error():
    wild = Derived(units=24, steps=3, learning_rate=math.inf)
    with pytest.raises(ArithmeticError, match="not finite"):
        derived.simulate_derived(wild, **given())
