"""The 19-dimensional subspace: its coordinates, its projection, and Theorem 1 itself."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from emergence import models, tasks
from emergence.models import Weights
from emergence.subspace import INDUCTION_HEAD, NAMES, PseudoParameters, embed, project
from oracles import elementwise as oracle

seeds = st.integers(0, 2**31)
halves = st.integers(1, 4)
run_shapes = st.sampled_from([(), (2,), (2, 3)])


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def random_pseudo(generator, runs=()):
    values = torch.randn(*runs, 19, generator=generator, dtype=torch.float64)
    return PseudoParameters.unstack(0.4 * values)


def squared_norm(weights):
    return sum(weight.square().sum(dim=(-2, -1)) for weight in weights)


@given(half=halves, seed=seeds)
def test_embed_is_equations_6_to_8(half, seed):
    pseudo = random_pseudo(stream(seed))
    expected = oracle.structured_weights(*(part.tolist() for part in pseudo), 2 * half)
    for weight, structured in zip(embed(pseudo, 2 * half), expected, strict=True):
        assert (weight.numpy() == structured).all()


@pytest.mark.parametrize("name", NAMES)
def test_names_are_in_the_order_of_the_values(name):
    letter, index = name.split("_")
    values = {"alpha": np.zeros(3), "beta": np.zeros(12), "gamma": np.zeros(4)}
    values[letter][int(index) - 1] = 1.0
    only = torch.eye(19, dtype=torch.float64)[NAMES.index(name)]
    weights = embed(PseudoParameters.unstack(only), 4)
    for weight, expected in zip(weights, oracle.structured_weights(**values, dim=4), strict=True):
        assert (weight.numpy() == expected).all()


def test_there_are_19_names():
    assert len(NAMES) == len(set(NAMES)) == 19
    assert set(INDUCTION_HEAD) == {"alpha_3", "beta_2", "gamma_3"}


@given(seed=seeds, runs=run_shapes)
def test_unstack_inverts_stacked(seed, runs):
    pseudo = random_pseudo(stream(seed), runs)
    assert [part.shape[-1] for part in pseudo] == [3, 12, 4]
    again = PseudoParameters.unstack(pseudo.stacked())
    assert all(torch.equal(one, two) for one, two in zip(pseudo, again, strict=True))


@given(half=halves, seed=seeds, runs=run_shapes)
def test_project_inverts_embed(close, half, seed, runs):
    pseudo = random_pseudo(stream(seed), runs)
    again, outside = project(embed(pseudo, 2 * half))
    close(again.stacked(), pseudo.stacked())
    assert outside.shape == runs
    assert outside.max() < 1e-14


@given(half=halves, seed=seeds, runs=run_shapes)
def test_projection_is_orthogonal(close, random_weights, half, seed, runs):
    """Pythagoras: |W|^2 = |PW|^2 + |W - PW|^2 for any W, so nothing in the subspace is nearer."""
    weights = random_weights(stream(seed), 2 * half, runs)
    pseudo, outside = project(weights)
    close(squared_norm(embed(pseudo, 2 * half)) + outside**2, squared_norm(weights))
    assert outside.min() > 0.1


@pytest.mark.parametrize("dim", [0, 3, -2])
def test_odd_or_empty_dimension_raises(dim):
    with pytest.raises(ValueError, match="even"):
        embed(random_pseudo(stream()), dim)


# Theorem 1, without sampling error: the data distribution is a finite group's orbit.


def signed_permutations(size):
    signs = torch.cartesian_prod(*[torch.tensor([1.0, -1.0], dtype=torch.float64)] * size)
    eye = torch.eye(size, dtype=torch.float64)
    shuffled = torch.stack([eye[list(order)] for order in itertools.permutations(range(size))])
    diagonal = torch.diag_embed(signs.reshape(-1, size))
    return (diagonal[:, None] @ shuffled).flatten(0, 1)


def orbit(dim, n_pairs, q, seed):
    """One sequence turned by every (E, F), E and F's block signed permutations of size D, D/2.

    These groups are small, but leave nothing fixed that all orthogonal ones do not leave fixed.
    """
    rng = np.random.default_rng(seed)
    a, b, p = rng.standard_normal((3, n_pairs, dim))
    x, y = map(torch.from_numpy, oracle.inputs_of(a, b, p, q))
    e, block = signed_permutations(dim), signed_permutations(dim // 2)
    swap = torch.from_numpy(oracle.swap_matrix(dim))
    f = torch.cat(
        [torch.kron(torch.eye(2, dtype=torch.float64), rotation)[None] for rotation in block]
    )
    f = torch.cat([f, f @ swap])
    e, f = e.repeat_interleave(len(f), dim=0), f.repeat(len(e), 1, 1)
    return torch.cat([x[:, :dim] @ e, x[:, dim:] @ f], dim=-1), y @ e


def mean_gradient(weights, inputs, target):
    weights = Weights(*(weight.detach().requires_grad_() for weight in weights))
    error = models.disentangled_output(weights, inputs) - target
    return Weights(*torch.autograd.grad(error.square().sum(dim=-1).mean(), weights))


def moved(pseudo):
    return {name for name, value in zip(NAMES, pseudo.stacked(), strict=True) if abs(value) > 1e-6}


# They multiply the positional half of the query's own row, which is zero (Eq. 4).
IDLE = {"beta_3", "beta_4", "beta_5", "beta_6"}


@pytest.mark.parametrize(("dim", "orbit_size"), [(2, 8 * 4), (4, 384 * 16)])
@pytest.mark.parametrize("q", [0, 1])
def test_expected_gradient_stays_in_the_subspace(dim, orbit_size, q):
    """Theorem 1: from any structured weights; without the average the gradient is far outside."""
    weights = embed(random_pseudo(stream(2)), dim)
    inputs, target = orbit(dim, 2, q, seed=4)
    assert len(inputs) == orbit_size
    inside, outside = project(mean_gradient(weights, inputs, target))
    assert outside < 1e-13
    assert moved(inside) == set(NAMES) - IDLE
    assert project(mean_gradient(weights, inputs[:1], target[:1]))[1] > 0.1


def test_training_from_zero_stays_in_the_subspace():
    """Theorem 1 by induction: 100 steps on an isotropic distribution, out of two sequences."""
    orbits = orbit(2, 2, 0, seed=4), orbit(2, 2, 1, seed=5)
    inputs, target = (torch.cat(parts) for parts in zip(*orbits, strict=True))
    weights = embed(PseudoParameters.unstack(torch.zeros(19, dtype=torch.float64)), 2)
    for _ in range(100):
        step = mean_gradient(weights, inputs, target)
        weights = Weights(*(w - 0.2 * g for w, g in zip(weights, step, strict=True)))
    inside, outside = project(weights)
    assert outside < 1e-11
    assert squared_norm(weights) > 0.5
    assert moved(inside) == set(NAMES) - IDLE


def test_samples_leave_the_subspace_as_one_over_root_batch():
    """The average over a Gaussian batch of B sequences is O(1/sqrt(B)) outside."""
    weights, norms = embed(random_pseudo(stream(2)), 4), []
    for size in (256, 256 * 64):
        batch = tasks.gaussian_pairs(size, 2, 4, generator=stream(1))
        norms.append(project(mean_gradient(weights, batch.inputs, batch.target))[1])
    assert 8 / 2 < norms[0] / norms[1] < 8 * 2
