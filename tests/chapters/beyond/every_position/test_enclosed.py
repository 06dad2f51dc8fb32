"""Bounds for every N from some N0 on: each holds in sampled states, and nearly fails in some."""

import functools
import math

import numpy as np
import pytest
from flint import arb, ctx

from chapters.beyond.every_position import enclosed
from emergence import theory

LEAST = 64


@pytest.fixture(autouse=True)
def precision():
    ctx.prec = enclosed.PRECISION


def prefixes(alpha, beta, n_pairs):
    """n, g, a and o of every prefix, from their definitions on the page."""
    n = np.arange(1, n_pairs + 1.0)
    g = math.exp(alpha) / (math.exp(alpha) + 2 * n - 2)
    a = np.exp(beta * g) / (np.exp(beta * g) + 2 * n - 1)
    return n, g, a, (1 - a) / (2 * n - 1)


def speeds(alpha, beta, gamma, n_pairs):
    """The speeds of beta and of alpha on the clock t/N."""
    _, g, a, o = prefixes(alpha, beta, n_pairs)
    push = 2 * gamma * a * (1 - a) * (1 - gamma * (a - o)) * g
    return math.fsum(push), beta * math.fsum(push * (1 - g))


def excesses(alpha, beta, n_pairs):
    """How far the sums of a and of a^2 + (2n - 1) o^2 are above H_N/2."""
    n, _, a, o = prefixes(alpha, beta, n_pairs)
    return math.fsum(a - 1 / (2 * n)), math.fsum(a**2 + (2 * n - 1) * o**2 - 1 / (2 * n))


def samples(count, seed=0):
    stream = np.random.default_rng(seed)
    yield from zip(
        stream.uniform(0, 0.6, count), stream.uniform(0.05, 1.2, count),
        stream.uniform(0.2, 1.4, count), strict=True,
    )  # fmt: skip


def test_the_speeds_are_those_of_the_loss():
    landscape = theory.landscape_of(20, supervision="every")
    for alpha, beta, gamma in samples(5):
        slope = landscape.gradient(alpha, beta, gamma)
        assert speeds(alpha, beta, gamma, 20) == pytest.approx([-20 * slope[1], -20 * slope[0]])


def test_pushes_in_a_point():
    """What prefixes up to N0 push is exact, and a longer context adds nearly the whole tail."""
    for alpha, beta, larger in samples(12):
        gamma = larger / 1.6  # where gamma (1 - gamma d) still rises for every prefix
        ball = arb(gamma)
        found = enclosed._push(LEAST, arb(alpha), arb(beta), ball, ball)
        tail = gamma * float(enclosed._tail(LEAST, arb(alpha), arb(beta)))
        for n_pairs in (LEAST, 2 * LEAST, 300 * LEAST):
            by_beta, by_alpha = speeds(alpha, beta, gamma, n_pairs)
            assert float(found.least) * gamma <= by_beta * (1 + 1e-12)
            assert by_beta <= float(found.most)
            assert (found.slope + arb(0, 1e-12)).contains(by_alpha / by_beta)
            if n_pairs == LEAST:
                assert float(found.least) * gamma == pytest.approx(by_beta, rel=1e-12)
        assert float(found.most) - by_beta < 0.2 * tail
        assert found.slope.rad() < 0.02


def test_pushes_in_a_cell():
    """Over balls of alpha, beta and gamma, sampled at points and at their corners."""
    stream, wide = np.random.default_rng(1), 0.02
    nearest = np.full(4, np.inf)
    for alpha, beta, gamma in samples(8, seed=2):
        edges = [(value, value + wide) for value in (alpha, beta)] + [(gamma, 1.1 * gamma)]
        balls = [arb(low).union(arb(high)) for low, high in edges]
        found = enclosed._push(LEAST, *balls, arb(edges[2][1]))
        ends = [float(end) for end in (found.slope.lower(), found.slope.upper())]
        for _ in range(40):
            point = [low + (high - low) * stream.choice([0, 1, stream.random()])
                     for low, high in edges]  # fmt: skip
            by_beta, by_alpha = speeds(*point, 20 * LEAST)
            gaps = np.array([
                by_beta / point[2] / float(found.least) - 1, float(found.most) / by_beta - 1,
                by_alpha / by_beta / ends[0] - 1, ends[1] * by_beta / by_alpha - 1,
            ])  # fmt: skip
            assert (gaps >= -1e-12).all()
            nearest = np.minimum(nearest, gaps)
    assert (nearest < [0.05, 0.05, 0.2, 0.2]).all(), nearest


def test_the_factor_of_gamma_is_at_most_what_is_taken():
    for top, ahead in ((0.8, 0.1), (1.2, 0.3), (1.2, 0.45), (1.5, 0.6)):
        gamma = np.linspace(0, top, 4001)
        largest = float((gamma * (1 - gamma * ahead)).max())
        assert largest <= float(enclosed._most(arb(top), arb(ahead))) < largest + 1e-6


@pytest.mark.parametrize(("alpha", "beta"), [(0.1, 0.4), (0.5, 1.0), (0.6, 0.9)])
def test_the_limits_of_gamma(alpha, beta):
    """rho and varsigma over all prefixes: more than any finite number has, and not much more."""
    limits = enclosed._limits(LEAST, arb(alpha), arb(beta), many=False)
    harmonic = math.fsum(1 / n for n in range(1, LEAST + 1))
    answers = (limits.top - 1) * harmonic / 2
    squares = (limits.rate - harmonic) / 2
    few, many = (excesses(alpha, beta, n) for n in (LEAST, 1000 * LEAST))
    for bound, less, true in zip((answers, squares), few, many, strict=True):
        assert true < float(bound.lower())
        assert float(bound.upper()) - true < 2.5 * (true - less)  # of the tail
    assert (limits.lag * limits.rate + arb(0, 1e-12)).contains(harmonic)


@functools.cache
def followed(n_pairs):
    landscape = theory.landscape_of(n_pairs, supervision="every")
    return theory.flow_in(landscape, 2.2 * n_pairs, times=np.linspace(0, 2.2 * n_pairs, 60))


@pytest.mark.parametrize("n_pairs", [LEAST, 2 * LEAST])
def test_gamma_is_between_its_bounds(n_pairs):
    """With the corner at the present alpha and beta, along flows of N0 pairs and of more."""
    path, below, above = followed(n_pairs), [], []
    for t, alpha, beta, gamma in zip(path.t, path.alpha, path.beta, path.gamma, strict=True):
        limits = enclosed._limits(LEAST, arb(alpha), arb(beta), many=False)
        floor, top = float(enclosed._floor(limits, arb(t / n_pairs))), float(limits.top)
        assert floor - 1e-9 <= gamma <= top + 1e-9
        below.append(gamma - floor)
        above.append(top - gamma)
    assert max(below) < 0.3
    assert min(above[10:]) < 0.1


def test_times_of_finite_contexts():
    """The interval of T/N contains the times of N0 pairs, of more and of all, with little room."""
    found = enclosed.enclose_every(256, cells=60)
    limit = enclosed.enclose_every(256, cells=60, many=True)
    for name in ("alpha", "beta"):
        low, high = getattr(found, name)
        times = [
            getattr(theory.emergence_times(n, supervision="every"), name) / n for n in (256, 512)
        ]
        times += getattr(limit, name)
        assert low < min(times)
        assert max(times) < high
        assert min(times) < 1.25 * low
        assert high < 1.25 * max(times)


@pytest.mark.parametrize(("least", "top"), [(-1, 1), (1, 3)])
def test_no_bounds_where_beta_may_fall(monkeypatch, least, top):
    push = enclosed._Push(arb(least), arb(1), arb(0))
    limits = enclosed._Limits(arb(top), arb(1), arb(9))
    monkeypatch.setattr(enclosed, "_push", lambda *_: push)
    monkeypatch.setattr(enclosed, "_limits", lambda *_: limits)
    with pytest.raises(ArithmeticError, match="beta fall"):
        enclosed.enclose_every(LEAST, cells=60)
