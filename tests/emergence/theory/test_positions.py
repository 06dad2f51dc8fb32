"""A loss at many positions: against single prefixes, an independent integration, and its laws."""

import os

import numpy as np
import pytest
import torch

from emergence import theory
from emergence.theory import positions
from emergence.theory.positions._weighting import prefixes
from oracles import every_position

RNG = np.random.default_rng(0)
WEEKLY = pytest.mark.skipif("EVERY_CHAPTER" not in os.environ, reason="it takes minutes")
RULES = [(model, query) for model in ("reduced", "full") for query in ("last", "uniform")]


def latest(found):
    """Just after all has happened, by the library: what it has too early, the other has not."""
    return 1.02 * max(found)


def points(model, count=3):
    return RNG.normal(size=(count, 3 if model == "reduced" else 19))


@pytest.mark.parametrize(("model", "query"), RULES)
@pytest.mark.parametrize("n_pairs", [1, 2, 7])
def test_a_mixture_is_the_mean_of_its_prefixes(model, query, n_pairs):
    weights = RNG.dirichlet(np.ones(n_pairs))
    mixed = theory.landscape_of(n_pairs, query, model=model, supervision=weights)
    alone = [theory.landscape_of(n, query, model=model) for n in range(1, n_pairs + 1)]
    for point in points(model):
        losses = [each.loss(*point) for each in alone]
        slopes = [each.gradient(*point) for each in alone]
        assert mixed.loss(*point) == pytest.approx(weights @ losses, rel=1e-12)
        assert np.allclose(mixed.gradient(*point), weights @ slopes, rtol=1e-11, atol=1e-14)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("n_pairs", "query"), [(4, "last"), (4096, "last"), (4, "uniform"), (24, "uniform")]
)
def test_three_parameters_emerge_when_another_integration_says(n_pairs, query):
    result = theory.emergence_times(n_pairs, query=query, supervision="every")
    expected = every_position.times(every_position.three(n_pairs, query), 3, latest(result))
    assert [*result[:3], result.collapse] == pytest.approx(expected, rel=1e-6)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("n_pairs", "query"), [(3, "last"), (3, "uniform")])
def test_nineteen_emerge_when_the_network_does(n_pairs, query):
    result = theory.emergence_times(n_pairs, query=query, model="full", supervision="every")
    expected = every_position.times(every_position.nineteen(n_pairs, query), 19, latest(result))
    assert [*result[:3], result.collapse] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("model", "query"), RULES)
@pytest.mark.parametrize("supervision", ["last", "every"])
@pytest.mark.parametrize("n_pairs", [1, 2, 7])
def test_a_position_may_attend_to_itself(model, query, supervision, n_pairs):
    for mask in ("strict", "causal"):
        land = theory.landscape_of(n_pairs, query, model=model, supervision=supervision, mask=mask)
        other = every_position.rows(n_pairs, query, mask, supervision)
        if model == "reduced":
            other = every_position.head(other)
        for point in points(model):
            at = torch.tensor(point, requires_grad=True)
            loss = other(at)
            (slope,) = torch.autograd.grad(loss, at)
            assert land.loss(*point) == pytest.approx(loss.item(), rel=1e-12)
            assert np.allclose(land.gradient(*point), slope, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_the_rows_are_those_of_the_network(mask):
    point = torch.tensor(RNG.normal(size=19))
    network = every_position.nineteen(4, "uniform", mask)(point)
    assert every_position.rows(4, "uniform", mask)(point).item() == pytest.approx(network.item())


def skip(n_pairs, skipped):
    weights = (np.arange(n_pairs) >= skipped) / (n_pairs - skipped)
    return weights.tolist()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("n_pairs", "skipped"), [(4, 1), (16, 2), (16, 15), (256, 1)])
def test_three_parameters_emerge_under_the_causal_mask_too(n_pairs, skipped):
    """Without the prefix of one pair, without two, and with one query."""
    weights = skip(n_pairs, skipped)
    result = theory.emergence_times(n_pairs, supervision=weights, mask="causal")
    expected = every_position.times(every_position.three_causal(weights), 3, latest(result))
    assert [*result[:3], result.collapse] == pytest.approx(expected, rel=1e-6)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("n_pairs", "query"), [(4, "last"), (256, "last"), (8, "uniform")])
def test_with_the_first_prefix_they_never_do(n_pairs, query):
    result = theory.emergence_times(n_pairs, query=query, supervision="every", mask="causal")
    loss = every_position.three_causal(skip(n_pairs, 0))
    if query == "uniform":
        loss = every_position.head(every_position.rows(n_pairs, query, "causal"))
    expected = every_position.times(loss, 3, 40.0 * n_pairs)
    assert [*result[:3], result.collapse] == pytest.approx(expected, rel=1e-6)
    assert [result.alpha, result.beta, result.collapse] == [np.inf] * 3
    # the push of the prefix of one pair on beta, by hand: -16/81
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


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("n_pairs", "query", "supervision"),
    [
        (4, "last", "every"),
        (3, "uniform", "last"),
        (3, "uniform", "every"),
        pytest.param(64, "last", "every", marks=WEEKLY),
    ],
)
def test_nineteen_emerge_when_attention_between_rows_says(n_pairs, query, supervision):
    rule = {"query": query, "supervision": supervision}
    result = theory.emergence_times(n_pairs, model="full", mask="causal", **rule)
    other = every_position.rows(n_pairs, query, "causal", supervision)
    expected = every_position.times(other, 19, latest(result))
    assert [*result[:3], result.collapse] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("power", [0, 1])
@pytest.mark.parametrize(("model", "head"), [("reduced", (4.0, 6.0, 1.2)), ("full", None)])
def test_few_prefixes_stand_for_all(monkeypatch, model, head, power):
    """The nodes of an octave integrate what the flow meets, at small and at large scores."""
    weights = 1 / np.arange(1, 301.0) ** power
    weights /= weights.sum()
    few = positions.landscape(weights, "uniform", model=model)
    monkeypatch.setattr(positions, "compressed", prefixes)
    whole = positions.landscape(weights, "uniform", model=model)
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
