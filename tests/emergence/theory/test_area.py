"""The area law against flows, its bounds against sampling, its landscape against another."""

import math

import numpy as np
import pytest

from emergence import theory
from emergence.theory import area, contexts, cross_entropy, laws, limits

POINT = 0.4, 0.9, 0.7
LAST, UNIFORM = np.eye(64)[-1], np.full(64, 1 / 64)


@pytest.mark.parametrize(
    "order", [np.arange(6), contexts.cyclic(3, 2), contexts.blocks(3, 2), np.array([0, 2, 1, 0, 0])]
)
def test_any_chances_are_a_mean_over_queries(order):
    """`contexts` asks for one pair at a time, with another formula for what contents get."""
    chances = np.arange(1.0, order.max() + 2) / np.arange(1.0, order.max() + 2).sum()
    whole = area.asked(order, chances)
    each = [contexts.landscape(order, q) for q in range(len(chances))]
    loss = sum(c * landscape.loss(*POINT) for c, landscape in zip(chances, each, strict=True))
    slope = sum(
        c * np.array(landscape.gradient(*POINT)) for c, landscape in zip(chances, each, strict=True)
    )
    assert whole.loss(*POINT) == pytest.approx(loss, rel=1e-12)
    assert whole.gradient(*POINT) == pytest.approx(slope, rel=1e-11)


def test_chances_are_checked():
    with pytest.raises(ValueError, match="sum of 1"):
        area.asked(np.arange(3), np.array([0.5, 0.6, 0.0]))
    with pytest.raises(ValueError, match="pair 2 is not"):
        area.asked(np.array([0, 1, 1]), np.array([0.5, 0.0, 0.5]))


def test_scores_climb_twice_the_attention_to_the_answer():
    """At gamma = 1 the loss is 1 + S - 2R; S and R come apart at gamma and -gamma."""
    landscape = area.asked(np.arange(8), np.full(8, 1 / 8))

    def attention(alpha, beta):
        return (landscape.loss(alpha, beta, -1.0) - landscape.loss(alpha, beta, 1.0)) / 4

    alpha, beta, h = 0.3, 0.8, 1e-5
    slopes = [
        (attention(alpha + h, beta) - attention(alpha - h, beta)) / (2 * h),
        (attention(alpha, beta + h) - attention(alpha, beta - h)) / (2 * h),
    ]
    assert area.climb(landscape, alpha, beta) == pytest.approx(2 * np.array(slopes), rel=1e-6)


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


def test_a_law_that_forgets_the_share_in_later_rows_fails():
    """Planted: uniform queries without the mean share, the 1/2 of the sum over w."""
    n = 64
    w = 1 / (2 * np.arange(n) + 1)
    forgot = n / (w.mean())  # speed of beta at zero
    area_law = 1 / area.climb(theory.landscape_of(n, "uniform"), 0.0, 0.0)[1]
    assert area_law == pytest.approx(n**2 / (w.sum() - 0.5), rel=0.05)
    assert abs(forgot / area_law - 1) > 0.15


def test_the_clock_is_the_formula():
    for n, rate, swept in ((8, 1.0, 30.0), (64, 1 / 32, 5.0)):
        time = area.clock(theory.landscape_of(n), rate, swept)
        assert time - n / rate * -math.expm1(-rate * time / n) == pytest.approx(swept, rel=1e-6)
    assert math.isinf(area.clock(theory.landscape_of(8), 1.0, math.inf))
    with pytest.raises(ValueError, match="not negative"):
        area.clock(theory.landscape_of(8), 1.0, -1.0)


def test_earlier_laws_are_cases():
    n = 256
    last = area.area_times(theory.landscape_of(n))
    assert last.alpha == pytest.approx(limits.expansion(n).alpha, rel=2e-3)
    wide = area.area_times(theory.landscape_of(n), rates=theory.gaussian_rates(32.0))
    assert wide.alpha == pytest.approx(
        theory.crossover_time(float(n), 32.0, limits.gauss(1.0)), rel=2e-3
    )
    words = area.area_times(cross_entropy.landscape(n, 2 * n))
    assert words.alpha == pytest.approx(4 * (2 * limits.gauss(1.0)) ** 0.5 * n**1.5, rel=0.01)
    turn = area.area_times(contexts.bursty(n // 4, 4))
    assert turn.beta == pytest.approx(laws.bursty_time("beta", n // 4, 4), rel=0.02)


def test_the_first_pair_alone_leaves_alpha():
    """Its label sees its item and nothing else, whatever alpha is."""
    chances = np.eye(16)[0]
    by_alpha, by_beta = area.climb(area.asked(np.arange(16), chances), 0.0, 1.0)
    assert 0 < by_alpha < 0.02 * by_beta  # later labels lose a little


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="three parameters"):
        area.area_times(theory.landscape_of(4, model="full"))
    with pytest.raises(ValueError, match="positive"):
        area.area_times(theory.landscape_of(4), rates=theory.Rates(beta=0.0))


def test_nineteen_share_the_area_of_uniform_queries_and_not_of_the_last():
    ratios = {}
    for query in ("uniform", "last"):
        law = area.area_times(theory.landscape_of(16, query))
        full = area.swept(theory.landscape_of(16, query, model="full"), 4000.0, relative=1e-7)
        ratios[query] = full.alpha_area / law.alpha_area
        assert full.alpha > 1.2 * law.alpha or query == "last"
    assert ratios["uniform"] == pytest.approx(1, abs=0.05)
    assert ratios["last"] < 0.8
