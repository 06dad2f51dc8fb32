"""The 19-dimensional subspace: its coordinates and its projection."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from emergence.subspace import NAMES, PseudoParameters, embed, project
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


def test_names_are_in_the_order_of_the_values():
    assert len(NAMES) == len(set(NAMES)) == 19
    for name, only in zip(NAMES, torch.eye(19, dtype=torch.float64), strict=True):
        letter, index = name.split("_")
        values = {"alpha": np.zeros(3), "beta": np.zeros(12), "gamma": np.zeros(4)}
        values[letter][int(index) - 1] = 1.0
        weights = embed(PseudoParameters.unstack(only), 4)
        expected = oracle.structured_weights(**values, dim=4)
        assert all((w.numpy() == two).all() for w, two in zip(weights, expected, strict=True)), name


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
