"""Laws, expansions, cross-entropy and the area law, against integrated flows and the network."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import erfcx

from emergence import models, tasks, theory
from emergence.analysis import head_weights
from emergence.proofs.intervals import in_decimals
from emergence.theory import Rates, area, contexts, cross_entropy, laws, limits

NAMES = "alpha", "beta", "gamma"


# Uniform queries


def test_uniform_sums_are_the_sums():
    """The Hurwitz zeta functions against adding up 200,000 pairs."""
    half, beta, n = 0.7, 0.9, 200_000
    w = half / (np.arange(n) + half)
    logs = half * math.log(n)
    first, second = laws.uniform_excess(half, beta)
    assert first == pytest.approx(np.sum(w * np.exp(beta * w)) - logs - 0.5, abs=1e-5)
    assert second == pytest.approx(np.sum(w * (1 - w) * np.exp(beta * w)) - logs, abs=1e-5)


# Contexts


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("order", "repeated"), [("cyclic", np.tile), ("blocks", np.repeat)])
@pytest.mark.parametrize("name", NAMES)
def test_times_with_copies_approach_their_law(order, repeated, name):
    copies = 5
    far, near = (
        getattr(theory.times_in(contexts.landscape(repeated(np.arange(k), copies), k - 1)), name)
        / laws.bursty_time(name, k, copies, order=order)
        - 1
        for k in (24, 96)
    )
    assert abs(near) < 0.012
    assert abs(near) < abs(far) / 3.5 or abs(near) < 1e-4


def test_gamma_has_no_uniform_law():
    with pytest.raises(ValueError, match="gamma emerges"):
        laws.uniform_law("gamma")


@pytest.mark.parametrize("name", NAMES)
def test_one_copy_is_no_burst(name):
    once = laws.bursty_time(name, 50, 1)
    assert once == pytest.approx(getattr(limits.leading(50), name), rel=1e-9)
    assert laws.repetition(1) == (1, 0)
    assert laws.repetition(1, "blocks") == (1, 0)


def test_windows_take_the_place_of_the_context():
    for windows in ((64, 1024), (1023, 64), (256, 256)):
        times = theory.times_in(contexts.landscape(np.arange(512), 511, windows))
        for name in NAMES:
            law = laws.windowed_time(name, *windows)
            assert getattr(times, name) == pytest.approx(law, rel=3 / min(windows))
    whole = theory.times_in(contexts.landscape(np.arange(9), 8, (100, 100)))
    assert whole == pytest.approx(theory.emergence_times(9), rel=1e-9)


# the relative error that is left, by name: N to this power
ORDER = {"alpha": 2, "beta": 2, "gamma": 4}


@pytest.mark.parametrize("name", ORDER)
def test_expansions_leave_the_stated_order(name):
    def left(n_pairs):
        exact = getattr(theory.emergence_times(n_pairs), name)
        return abs(getattr(limits.expansion(n_pairs), name) / exact - 1)

    assert math.log2(left(32) / left(64)) == pytest.approx(ORDER[name], abs=0.1)


def test_collapse_lies_within_the_stated_order():
    n_pairs = 4096
    exact = theory.emergence_times(n_pairs).collapse
    assert abs(limits.expansion(n_pairs).collapse - exact) < 0.07 * n_pairs  # the next order
    assert abs(limits.leading(n_pairs).collapse - exact) > 5 * n_pairs


def last_phase_at(b):
    """How long the last phase lasts beside -b^2 + 2b, at a finite b = `late` and for N to infinity.

    With d = e^alpha/2N: beta^2/2 = log(2N d) + d, x = beta d/(1 + d), and by step 5 the slow phase
    has taken 2 beta - beta^2 less the tail of the Gaussian. d is what varies.
    """
    size, x_start = b * b / 2 + math.log(b), 1e-3

    def beta(log_d):
        return math.sqrt(2 * (size + log_d + math.exp(log_d)))

    def x(log_d):
        return beta(log_d) / (1 + math.exp(-log_d))

    def slope(log_d, state):
        wait = (1 + math.exp(log_d)) * math.exp(-x(log_d)) / (state[0] * x(log_d))
        return [(math.exp(x(log_d)) - state[0]) * wait, wait]

    start = brentq(lambda log_d: x(log_d) - x_start, math.log(x_start / b) - 1, 0)
    d = math.exp(start)
    tail = math.sqrt(math.pi / 2) * erfcx(beta(start) / math.sqrt(2)) / (d * math.exp(d))
    time = 2 * beta(start) - beta(start) ** 2 - tail + 3 * x_start
    end = brentq(lambda log_d: x(log_d) - 0.9 * b, start, 6)
    run = solve_ivp(
        slope, (start, end), (1 + x_start, time), method="LSODA", rtol=1e-11, atol=1e-12
    )
    return run.y[1, -1] - (2 * b - b * b)


@pytest.mark.parametrize("late", [20, 40, 80])
def test_the_last_phase_ends_as_its_constants_say(late):
    phase = limits.last_phase()
    left = late**2 * (last_phase_at(late) - phase.constant - phase.first / late)
    assert left == pytest.approx(phase.second, abs=1.5 / late)


def test_printed_bounds_round_outward():
    low, high = 693147.1805599252, 693147.1805599257
    assert in_decimals((low, high), 10**6) == "0.69314 to 0.69315"
    assert in_decimals((low, high), 1, digits=1) == "693147.1 to 693147.2"
    assert in_decimals((0.5, 0.5), 1, digits=1) == "0.5 to 0.5"


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


POINTS = [(0.0, 0.0, 0.0), (0.3, 0.7, 0.9), (2.5, 1.5, 1.3), (-0.5, 0.4, -0.2)]
LANDSCAPES = {
    "labels": cross_entropy.landscape(5, 9),
    "words": cross_entropy.landscape(5, 12, "uniform", say_items=True),
}


def every_query(n_pairs, dim):
    """One orthonormal sequence for each pair that may be asked for."""
    generator = torch.Generator().manual_seed(3)
    batch = tasks.orthonormal_pairs(n_pairs, n_pairs, dim, generator=generator)
    items, labels = batch.inputs[:, 0:-1:2, :dim], batch.inputs[:, 1:-1:2, :dim]
    queries = torch.arange(n_pairs)
    batch.inputs[queries, -1, :dim] = items[queries, queries]
    return batch.inputs, items, labels, queries


@pytest.mark.parametrize("state", POINTS)
@pytest.mark.parametrize(("name", "vocabulary"), [("labels", 9), ("words", 12)])
def test_cross_entropy_reads_the_networks_output_along_the_words(state, name, vocabulary):
    inputs, items, labels, queries = every_query(5, 12)
    weights = head_weights(torch.tensor(state, dtype=torch.float64), 12)
    output = models.disentangled_output(weights, inputs)
    words = labels if name == "labels" else torch.cat([labels, items], dim=1)
    logits = torch.einsum("bd,bnd->bn", output, words)
    absent = logits.new_zeros(5, vocabulary - logits.shape[1])
    losses = torch.nn.functional.cross_entropy(
        torch.cat([logits, absent], dim=1), queries, reduction="none"
    )
    expected = losses[-1] if name == "labels" else losses.mean()
    assert LANDSCAPES[name].loss(*state) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("state", POINTS)
@pytest.mark.parametrize("name", LANDSCAPES)
def test_derivatives_are_those_of_the_loss(state, name):
    landscape, step = LANDSCAPES[name], 1e-6

    def loss(shift):
        return landscape.loss(*(np.array(state) + shift))

    slopes = [(loss(d) - loss(-d)) / (2 * step) for d in step * np.eye(3)]
    assert landscape.gradient(*state) == pytest.approx(slopes, abs=1e-8)


def test_a_saturated_alpha_does_not_overflow():
    for landscape in LANDSCAPES.values():
        saturated, large = (landscape.loss(alpha, 1.0, 1.0) for alpha in (1e4, 40.0))
        assert saturated == pytest.approx(large, abs=1e-12)


def test_a_rate_of_zero_holds():
    fixed = {"rates": Rates(beta=0.0), "start": (0.0, 1.0, 0.0)}
    path = theory.descent_in(theory.landscape_of(4), 50, **fixed)
    assert np.all(path.beta == 1)
    assert path.alpha[-1] > 0
    assert path.gamma[-1] > 0
    held = theory.times_in(theory.landscape_of(64), end=6e4, **fixed)
    assert held.beta == 0
    assert held.icl == held.alpha == pytest.approx(2 * (1 - np.exp(-0.5)) * 64**2, rel=0.03)
    assert held.collapse == np.inf


def test_predicted_steps_are_the_first():
    points = np.array([[0, 0.5, 1, 1], [0, 0, 0, 0.6], [0, 0.1, 0.2, 0.3]])
    losses = np.array([1.0, 0.9, 0.5, 0.2])
    run = theory.Trajectory(np.arange(4.0), *points, losses, points.T)
    assert list(theory.first_steps(run)) == [1, 3, np.inf, 2]


def test_three_halves_law():
    """T_alpha = 2 sqrt(I(1)) N^(3/2), from its own integral."""
    area = np.sqrt(np.pi / 2) * 0.6826894921370859
    assert limits.gauss(1.0) == pytest.approx(area, rel=1e-10)
    fast = theory.times_in(theory.landscape_of(512), end=1e5, rates=theory.gaussian_rates(1e5))
    assert fast.alpha == pytest.approx(2 * area**0.5 * 512**1.5, rel=3e-3)
    assert fast.beta < fast.alpha < fast.gamma


@pytest.mark.parametrize("ratio", [1e-6, 0.01, 0.99, 1.01, 100.0])
def test_crossover_solves_its_equation(ratio):
    n_pairs, dim = 50.0, 10.0
    u = theory.crossover_time(n_pairs, dim, ratio * dim**2 / (2 * n_pairs)) / (n_pairs * dim)
    assert u + np.expm1(-u) == pytest.approx(ratio, rel=1e-8)


def test_nothing_moves_when_the_context_holds_every_word():
    at_zero = cross_entropy.landscape(4, 4).gradient(0.0, 0.0, 0.0)
    assert at_zero == pytest.approx((0, 0, 0), abs=1e-15)
    with pytest.raises(ValueError, match="5 pairs need 10 words, got 9"):
        cross_entropy.landscape(5, 9, say_items=True)
