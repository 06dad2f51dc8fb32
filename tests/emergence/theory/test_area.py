"""The area law against flows, its bounds against sampling, its landscape against another."""

import math

import numpy as np
import pytest

from emergence import theory
from emergence.theory import area, contexts

POINT = 0.4, 0.9, 0.7


@pytest.mark.parametrize(
    "order",
    [np.arange(6), np.tile(np.arange(3), 2), np.repeat(np.arange(3), 2), np.array([0, 2, 1, 0, 0])],
)
def test_any_chances_are_a_mean_over_queries(order):
    """`contexts` asks for one pair at a time, with another formula for what contents get."""
    order = np.array(order)
    chances = np.arange(1.0, order.max() + 2) / np.arange(1.0, order.max() + 2).sum()
    whole = area.expected_loss(order, chances)
    each = [contexts.landscape(order, q) for q in range(len(chances))]
    loss = sum(c * landscape.loss(*POINT) for c, landscape in zip(chances, each, strict=True))
    slope = sum(
        c * np.array(landscape.gradient(*POINT)) for c, landscape in zip(chances, each, strict=True)
    )
    assert whole.loss(*POINT) == pytest.approx(loss, rel=1e-12)
    assert whole.gradient(*POINT) == pytest.approx(slope, rel=1e-11)


def test_chances_are_checked():
    with pytest.raises(ValueError, match="sum of 1"):
        area.expected_loss(np.arange(3), np.array([0.5, 0.6, 0.0]))
    with pytest.raises(ValueError, match="pair 2 is not"):
        area.expected_loss(np.array([0, 1, 1]), np.array([0.5, 0.0, 0.5]))


def test_scores_climb_twice_the_attention_to_the_answer():
    """At gamma = 1 the loss is 1 + S - 2R; S and R come apart at gamma and -gamma."""
    landscape = area.expected_loss(np.arange(8), np.full(8, 1 / 8))

    def attention(alpha, beta):
        return (landscape.loss(alpha, beta, -1.0) - landscape.loss(alpha, beta, 1.0)) / 4

    alpha, beta, h = 0.3, 0.8, 1e-5
    slopes = [
        (attention(alpha + h, beta) - attention(alpha - h, beta)) / (2 * h),
        (attention(alpha, beta + h) - attention(alpha, beta - h)) / (2 * h),
    ]
    assert area.climb(landscape, alpha, beta) == pytest.approx(2 * np.array(slopes), rel=1e-6)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("query", ["last", "uniform"])
@pytest.mark.parametrize("rates", [theory.Rates(), theory.gaussian_rates(16.0)])
def test_the_area_is_that_of_the_flow_at_any_rate_of_gamma(query, rates):
    landscape = theory.landscape_of(64, query)
    law = area.area_times(landscape, rates=rates)
    flow = area.swept(landscape, 10 * law.alpha, rates=rates)
    assert flow.alpha_area == pytest.approx(law.alpha_area, rel=5e-3)
    assert flow.beta_area == pytest.approx(law.beta_area, rel=5e-3)
    times = theory.times_in(landscape, rates=rates, end=10 * law.alpha)
    assert (flow.alpha, flow.beta) == pytest.approx((times.alpha, times.beta), rel=1e-6)


def test_the_clock_is_the_formula():
    for n, rate, swept in ((8, 1.0, 30.0), (64, 1 / 32, 5.0)):
        time = area.clock(theory.landscape_of(n), rate, swept)
        assert time - n / rate * -math.expm1(-rate * time / n) == pytest.approx(swept, rel=1e-6)
    assert math.isinf(area.clock(theory.landscape_of(8), 1.0, math.inf))
    with pytest.raises(ValueError, match="not negative"):
        area.clock(theory.landscape_of(8), 1.0, -1.0)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="three parameters"):
        area.area_times(theory.landscape_of(4, model="full"))
    with pytest.raises(ValueError, match="positive"):
        area.area_times(theory.landscape_of(4), rates=theory.Rates(beta=0.0))
