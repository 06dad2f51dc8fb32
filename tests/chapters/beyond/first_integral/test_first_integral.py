"""The lemma behind the order of emergence, and what nineteen parameters conserve."""

import math

import numpy as np
import pytest
import sympy as sp
import torch
from sympy import QQ
from torch.autograd.functional import hessian, jacobian

from chapters.beyond import first_integral
from emergence import theory
from emergence.models import disentangled_output
from emergence.subspace import NAMES, PseudoParameters, embed
from emergence.tasks import orthonormal_pairs


@pytest.mark.parametrize("n_pairs", [2, 3, 50])
def test_the_flow_stays_where_the_lemma_says(n_pairs):
    path = theory.gradient_flow(n_pairs, 20.0 * n_pairs**2)
    signal = np.array(theory.signal(path.alpha, path.beta, n_pairs))
    h = path.gamma * (signal - 1) / (signal + 2 * n_pairs - 1)
    assert h.max() < 1
    assert h[-1] > 0.9  # the bound is sharp
    assert np.diff(path.alpha).min() > 0
    assert np.diff(path.beta).min() > 0


IDLE = ("alpha_2", "beta_3", "beta_4", "beta_5", "beta_6")  # no output knows them
TWINS = (("beta_7", "beta_9"), ("beta_8", "beta_11"))  # outputs know their sums alone


def outputs(n_pairs: int, query: str, generator: torch.Generator):
    """Ten random combinations of the outputs, which are functions of the nineteen."""
    dim = 2 * n_pairs + 2
    batch = orthonormal_pairs(1, n_pairs, dim, generator=generator)
    queried = range(n_pairs - 1, n_pairs) if query == "last" else range(n_pairs)
    inputs = batch.inputs.repeat(len(queried), 1, 1)
    inputs[:, -1, :dim] = inputs[0, [2 * pair for pair in queried], :dim]
    mixed = torch.randn(10, len(queried), dim, generator=generator, dtype=torch.float64)

    def combined(point: torch.Tensor) -> torch.Tensor:
        weights = embed(PseudoParameters.unstack(point), dim)
        return (mixed * disentangled_output(weights, inputs)).sum(dim=(1, 2))

    return combined


@pytest.mark.parametrize(("n_pairs", "query"), [(6, "last"), (4, "uniform")])
def test_only_trivial_constants_hold_for_any_loss(n_pairs: int, query: str) -> None:
    generator = torch.Generator().manual_seed(0)
    f = outputs(n_pairs, query, generator)
    point = torch.randn(19, generator=generator, dtype=torch.float64)
    gradients = jacobian(f, point)
    curvature = jacobian(lambda p: jacobian(f, p, create_graph=True), point)
    turned = torch.einsum("iab,jb->ija", curvature, gradients)
    commutators = (turned - turned.transpose(0, 1)).flatten(0, 1)
    values = torch.linalg.svdvals(torch.cat([gradients, commutators]))
    assert int((values > 1e-9 * values[0]).sum()) == 19 - len(IDLE) - len(TWINS)
    column = dict(zip(NAMES, gradients.T, strict=True))
    assert all(column[name].abs().max() < 1e-12 for name in IDLE)
    assert all(torch.allclose(column[place], column[other]) for place, other in TWINS)


def six(n_pairs: int):
    """The six outputs that the proof uses, from the network, as a function of the twelve."""
    dim = 2 * n_pairs + 2
    batch = orthonormal_pairs(1, n_pairs, dim, generator=torch.Generator().manual_seed(0))
    items, labels = batch.inputs[0, :-1:2, :dim], batch.inputs[0, 1:-1:2, :dim]
    single = {name: name for name in first_integral.COORDINATES}

    def found(point: torch.Tensor) -> torch.Tensor:
        given = dict(zip(single, point, strict=True))
        # of a sum each has a half
        given |= {name: given[name] / 2 for name in ("beta_7", "beta_8")}
        given |= {"beta_9": given["beta_7"], "beta_11": given["beta_8"]}
        every = torch.stack([given.get(name, point.new_zeros(())) for name in NAMES])
        output = disentangled_output(embed(PseudoParameters.unstack(every), dim), batch.inputs)[0]
        item, label = items @ output, labels @ output
        seen = (item[1] - label[1]) / 2 + label[0] - label[1]
        parts = (
            seen,
            label[0] - label[1] - seen / 2,
            item[0] - label[0] - seen,
            label[-1],
            item[-1],
            label[-2],
        )
        return torch.stack(parts)

    return found


def base() -> torch.Tensor:
    """The point of the proof."""
    values = [first_integral.BASE.get(name, 0) for name in first_integral.COORDINATES]
    logs = [
        math.log(x) if "alpha" in n else x
        for n, x in zip(first_integral.COORDINATES, values, strict=True)
    ]
    return torch.tensor(logs, dtype=torch.float64)


@pytest.mark.parametrize("n_pairs", [3, 6])
def test_the_derivatives_are_those_of_the_network(n_pairs: int) -> None:
    f = six(n_pairs)
    gradients, commutators = first_integral.fields(QQ(n_pairs), QQ)
    metric = torch.tensor(first_integral.METRIC, dtype=torch.float64)
    slopes = jacobian(f, base()) * metric
    turned = [hessian(lambda p, k=k: f(p)[k], base()) * metric[:, None] for k in range(6)]
    exact = torch.tensor([[float(x) for x in row] for row in gradients], dtype=torch.float64)
    assert torch.allclose(slopes, exact, atol=1e-13)
    for (i, j), row in commutators.items():
        expected = turned[j] @ slopes[i] - turned[i] @ slopes[j]
        assert expected.tolist() == pytest.approx([float(x) for x in row], abs=1e-13)


def test_the_minor_is_not_zero_for_any_number_of_pairs() -> None:
    minor = first_integral.minor()
    assert first_integral.never_zero(minor)
    gradients, commutators = first_integral.fields(QQ(7), QQ)
    rows = gradients + [commutators[places] for places in first_integral.CHOSEN]
    matrix = sp.Matrix(
        [[sp.Rational(int(x.numerator), int(x.denominator)) for x in r] for r in rows]
    )
    assert matrix.det() == minor.subs(first_integral.PAIRS, 7)
