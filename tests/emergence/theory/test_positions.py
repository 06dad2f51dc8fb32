"""A loss at many positions: against single prefixes, an independent integration, and its laws."""

import os

import numpy as np
import pytest
import torch

from emergence import theory
from emergence.theory import positions
from emergence.theory.positions import prefixes
from oracles import every_position

WEEKLY = pytest.mark.skipif("EVERY_CHAPTER" not in os.environ, reason="it takes minutes")
RULES = [(model, query) for model in ("reduced", "full") for query in ("last", "uniform")]


def points(model, count=3):
    return np.random.default_rng(0).normal(size=(count, 3 if model == "reduced" else 19))


@pytest.mark.parametrize(("model", "query"), RULES)
@pytest.mark.parametrize("n_pairs", [1, 2, 7])
def test_a_mixture_is_the_mean_of_its_prefixes(model, query, n_pairs):
    weights = np.random.default_rng(n_pairs).dirichlet(np.ones(n_pairs))
    mixed = theory.landscape_of(n_pairs, query, model=model, supervision=weights)
    alone = [theory.landscape_of(n, query, model=model) for n in range(1, n_pairs + 1)]
    for point in points(model):
        losses = [each.loss(*point) for each in alone]
        slopes = [each.gradient(*point) for each in alone]
        assert mixed.loss(*point) == pytest.approx(weights @ losses, rel=1e-12)
        assert np.allclose(mixed.gradient(*point), weights @ slopes, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_the_rows_are_those_of_the_network(mask):
    (point,) = torch.tensor(points("full", 1))
    network = every_position.nineteen(4, "uniform", mask)(point)
    assert every_position.rows(4, "uniform", mask)(point).item() == pytest.approx(network.item())


def skip(n_pairs, skipped):
    """Equal weights of all prefixes but the first."""
    return [float(n >= skipped) / (n_pairs - skipped) for n in range(n_pairs)]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("n_pairs", "query", "model", "mask", "supervision"),
    [
        (4, "last", "reduced", "strict", "every"),
        (48, "last", "reduced", "strict", "every"),
        (4, "uniform", "reduced", "strict", "every"),
        (24, "uniform", "reduced", "strict", "every"),
        *((n, "last", "reduced", "causal", skip(n, k)) for n, k in ((4, 1), (16, 2), (16, 15))),
        (48, "last", "reduced", "causal", skip(48, 1)),
        # with the first prefix alpha and beta never emerge
        (4, "last", "reduced", "causal", "every"),
        (48, "last", "reduced", "causal", "every"),
        (8, "uniform", "reduced", "causal", "every"),
        (3, "last", "full", "strict", "last"),
        (3, "uniform", "full", "strict", "last"),
        (3, "last", "full", "strict", "every"),
        (3, "uniform", "full", "strict", "every"),
        (4, "last", "full", "causal", "every"),
        (3, "uniform", "full", "causal", "last"),
        (3, "uniform", "full", "causal", "every"),
        pytest.param(64, "last", "full", "causal", "every", marks=WEEKLY),
    ],
)
def test_times_are_those_of_another_integration(n_pairs, query, model, mask, supervision):
    """Until just after all has happened: what the library has too early, the other has not."""
    rule = {"query": query, "supervision": supervision, "mask": mask}
    result = theory.emergence_times(n_pairs, model=model, **rule)
    never = model == "reduced" and mask == "causal" and supervision == "every"
    assert ([result.alpha, result.beta, result.collapse] == [np.inf] * 3) == never
    loss, places, count = every_position.rows(n_pairs, **rule), every_position.HEAD, 19
    if model == "reduced":
        loss, places, count = every_position.head(loss), range(3), 3
    end = 40.0 * n_pairs if never else 1.02 * max(result)
    expected = every_position.times(loss, places, count, end)
    assert [*result[:3], result.collapse] == pytest.approx(expected, rel=1e-6)


def test_the_first_prefix_pushes_beta_down():
    """Of one pair, by hand: -16/81."""
    land = theory.landscape_of(1, mask="causal")
    assert land.gradient(0.0, 0.0, 1.0)[1] == pytest.approx(16 / 81)


def test_no_digits_are_lost_where_the_first_item_attends_elsewhere():
    """Its score is e^(2/e^-3), and no sum over later pairs has it."""
    point = np.zeros(19)
    point[[0, 1, 4, 17]] = -1.5, -1.5, 2.0, 1.0
    at = torch.tensor(point, requires_grad=True)
    (slope,) = torch.autograd.grad(every_position.rows(7, "uniform", "causal")(at), at)
    land = theory.landscape_of(7, "uniform", model="full", supervision="every", mask="causal")
    assert np.allclose(land.gradient(*point), slope, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("query", ["last", "uniform"])
@pytest.mark.parametrize("power", [0, 1])
@pytest.mark.parametrize(("model", "head"), [("reduced", (4.0, 6.0, 1.2)), ("full", None)])
def test_few_prefixes_stand_for_all(monkeypatch, model, head, power, query):
    """The nodes of an octave integrate what the flow meets, at small and at large scores."""
    weights = 1 / np.arange(1, 301.0) ** power
    weights /= weights.sum()
    few = positions.landscape(weights, query, model=model)
    monkeypatch.setattr(positions, "compressed", prefixes)
    whole = positions.landscape(weights, query, model=model)
    for point in [*points(model), *([head] if head else [])]:
        slope = np.array(whole.gradient(*point))
        assert np.allclose(few.gradient(*point), slope, rtol=0, atol=1e-12 * np.abs(slope).max())
        assert few.loss(*point) == pytest.approx(whole.loss(*point), rel=1e-12)


@pytest.mark.usefixtures("unchecked")
def test_weights_are_checked():
    assert positions.weighting(3, "last").tolist() == [0, 0, 1]
    for wrong in ([1.0], [0.5, 0.6, 0.1], [-0.5, 0.5, 1.0], [np.nan, 0.5, 0.5]):
        with pytest.raises(ValueError, match="weight"):
            positions.weighting(3, wrong)
    with pytest.raises(ValueError, match="supervision must be one of"):
        positions.weighting(3, "some")
    with pytest.raises(ValueError, match="at least one pair"):
        positions.weighting(0, "every")
    with pytest.raises(ValueError, match="no loss for"):
        positions.landscape(np.ones(1), "some")
    with pytest.raises(ValueError, match="no loss for"):
        theory.landscape_of(2, mask="none")
    with pytest.raises(ValueError, match="19 pseudo-parameters"):
        positions.landscape(np.ones(1), model="full").loss(0.0, 0.0)
