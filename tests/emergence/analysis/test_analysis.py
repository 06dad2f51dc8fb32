"""What is measured of trained models is what the formulas say, and what is predicted agrees."""

import numpy as np
import pytest
import torch

from chapters.paper.induction_heads.products import described, products_of
from emergence import analysis, models, tasks
from emergence.analysis import attentions, circuit
from emergence.models import AttentionOnlyTransformer
from emergence.running import devices
from emergence.subspace import INDUCTION_HEAD, NAMES
from oracles import elementwise as oracle


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_the_three_matrices_describe_the_model(mask):
    stream = devices.generator(3, torch.device("cpu"))
    model = AttentionOnlyTransformer(40, 9, 11, embedding_scale=1.0, generator=stream).double()
    batch = tasks.token_pairs(6, 3, 9, 11, generator=stream)
    exact = model(batch.tokens, batch.positions, mask=mask)[:, -1].detach()
    *_, known = described(products_of(model), batch, mask)
    assert (known - exact).abs().max() <= 1e-12 * exact.abs().max()


def test_head_lead_is_least_of_three_over_greatest_of_others():
    values = torch.full((2, 19), 0.5)
    values[:, [NAMES.index(name) for name in INDUCTION_HEAD]] = torch.tensor([2.0, -1.5, 3.0])
    assert analysis.head_lead(values).tolist() == [3, 3]


def test_exponent_of_a_power_law_and_its_interval():
    x = 2.0 ** np.arange(8)
    exact = analysis.exponent(x, 3 * x**-1.5)
    assert exact.slope == pytest.approx(-1.5)
    assert exact.high - exact.low < 1e-9
    noise = np.exp(0.1 * np.random.default_rng(1).standard_normal((400, 8)))
    fits = [analysis.exponent(x, x**2 * row) for row in noise]
    assert 0.92 <= np.mean([fit.low <= 2 <= fit.high for fit in fits]) <= 0.98
    with pytest.raises(ValueError, match="three points"):
        analysis.exponent(x[:2], x[:2])


def test_times_are_in_order_where_they_rise_and_are_finite():
    times = np.array([[10.0, 20, 30], [10, 20, 10], [1, 1, 2], [0, 5, 6], [1, 2, np.inf]])
    assert analysis.in_order(times).tolist() == [1, 0, 0, 1, 0]


def test_settled_is_the_last_crossing():
    steps = np.array([0, 5, 10, 15, 20])
    curves = np.array([[0.9, 0.1, 0.6, 0.7, 0.8], [0.0, 0.9, 0.9, 0.9, 0.1], [1.0] * 5])
    assert analysis.settled(steps, curves, 0.5).tolist() == [10, np.inf, 0]


SETTINGS = [(0.0, 0.0, 0.0), (0.5, 1.0, 1.0), (6.0, 8.0, 1.0), (-1.0, 3.0, -0.5)]


@pytest.mark.parametrize("parameters", SETTINGS)
@pytest.mark.parametrize(("n_pairs", "query"), [(2, 0), (4, 3), (5, 2)])
def test_the_loss_is_the_enumerated_one(parameters, n_pairs, query):
    result = circuit(*parameters, n_pairs, query)
    expected = oracle.enumerated_loss(*parameters, n_pairs, query)
    assert result.loss == pytest.approx(expected, rel=1e-12)
    target = np.eye(2 * n_pairs)[2 * query + 1]
    assert ((result.output - target) ** 2).sum() == pytest.approx(result.loss, rel=1e-12)


def test_the_query_is_in_the_context():
    with pytest.raises(ValueError, match="the pair asked for must be in"):
        circuit(1.0, 1.0, 1.0, 4, 4)


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_attentions_are_those_of_the_network_under_its_mask(mask, random_weights, close):
    stream = torch.Generator().manual_seed(0)
    weights = random_weights(stream, 4)
    x = torch.randn(3, 5, 8, generator=stream, dtype=torch.float64)
    first, second = attentions(weights, x, mask=mask)
    assert bool((first.diagonal(dim1=1, dim2=2) > 0).all()) == (mask == "causal")
    h1 = torch.cat([x, first @ x], dim=-1)
    answer = torch.cat([h1, second @ h1], dim=-1)[:, -1] @ weights.w3
    close(models.disentangled_output(weights, x, mask=mask), answer)


STEPS = np.arange(0, 20, 2)


def ramp(slope, seeds=2):
    """Coordinates that grow with the steps, the first as fast again, and a loss that falls."""
    rising = slope * STEPS[:, None] * np.r_[2.0, np.ones(18)]
    loss = np.maximum(1 - slope * STEPS, 0.0)
    return np.stack([rising] * seeds), np.stack([loss] * seeds)


def test_what_is_predicted_agrees():
    pseudo, loss = ramp(0.1)
    result = analysis.agreement(STEPS, (pseudo, loss), (pseudo[0], loss[0]), 1)
    assert [part.tolist() for part in result] == [[1, 1], [0] * 19, [0, 0], [1, 1]]


def test_differences_are_measured_until_alpha_is_predicted_to_emerge():
    (pseudo, loss), (law, law_loss) = ramp(0.05), ramp(0.1)
    wrong = pseudo.copy()
    wrong[0, STEPS > 4, 3] = 100.0  # alpha_3 is predicted to be 2/5 at step 4
    result = analysis.agreement(STEPS, (wrong, loss), (law[0], law_loss[0]), 1)
    assert result.half_loss.tolist() == [10 / 6] * 2
    assert result.nineteen == pytest.approx([0.5] + [0.25] * 14 + [0.5] * 4)  # half as fast
    assert result.end == pytest.approx([loss[0, -2:].mean()] * 2)
    assert result.head == pytest.approx([0.5, 0.5])
    wrong[1, STEPS == 4, 3] = 0.4 + 0.8
    again = analysis.agreement(STEPS, (wrong, loss), (law[0], law_loss[0]), 1)
    assert again.nineteen[3] == pytest.approx(0.3 / 0.8)  # of the mean over seeds
    sooner = analysis.agreement(STEPS, (wrong, loss), (law[0], law_loss[0]), 2)
    assert sooner.nineteen[3] == pytest.approx(0.25)  # step 4 is late for two dimensions


def test_outputs_are_measured_by_outputs_and_scores_by_scores():
    pseudo, loss = ramp(0.1)
    law = pseudo[0].copy()
    law[:, -1] /= 10  # a small output is apart by its own size
    result = analysis.agreement(STEPS, (pseudo, loss), (law, loss[0]), 1)
    assert result.nineteen[-1] == pytest.approx(0.9)
    assert result.nineteen[:-1].max() == 0
