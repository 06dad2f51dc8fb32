"""What is measured of trained models is what the formulas say."""

import numpy as np
import pytest
import torch

from chapters.paper.induction_heads.products import logits, products_of
from emergence import analysis, tasks
from emergence.models import AttentionOnlyTransformer
from emergence.running import devices
from emergence.subspace import INDUCTION_HEAD, NAMES


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_the_three_matrices_describe_the_model(mask):
    stream = devices.generator(3, torch.device("cpu"))
    model = AttentionOnlyTransformer(40, 9, 11, embedding_scale=1.0, generator=stream).double()
    batch = tasks.token_pairs(6, 3, 9, 11, generator=stream)
    exact = model(batch.tokens, batch.positions, mask=mask)[:, -1].detach()
    described = logits(products_of(model), batch, mask)
    assert (described - exact).abs().max() <= 1e-12 * exact.abs().max()


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
