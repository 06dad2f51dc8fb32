"""Validated steps of the full model's flow for one N: balls, the loss in them, and the times."""

import functools
import itertools
import math

import numpy as np
import pytest
from flint import arb

from emergence import theory
from emergence.proofs.tubes import _balls as balls
from emergence.proofs.tubes import _steps as steps
from emergence.proofs.tubes import time_bounds
from emergence.proofs.tubes._balls import Ball, Series
from emergence.proofs.tubes._steps import CoordinateFlow

QUERIES = ["last", "uniform"]
LIFT = steps.embedding()
EVERY = np.ones(12)


def encloses(ball, values):
    return bool(np.all(ball.low <= values) and np.all(values <= ball.high))


def random_ball(rng, shape, *, rad=1e-3):
    return Ball(rng.normal(size=shape), rad * rng.random(shape))


def inside(rng, ball):
    """A point of a ball, often at its edge."""
    return ball.mid + ball.rad * np.clip(2 * rng.normal(size=ball.mid.shape), -1, 1)


def test_operations_enclose_every_point():
    rng = np.random.default_rng(0)
    for _ in range(100):
        first, two = random_ball(rng, (3, 40)), random_ball(rng, (3, 40))
        two = two.plus(Ball.of(np.where(two.mid > 0, 0.1, -0.1)))
        a, b = inside(rng, first), inside(rng, two)
        for result, value in (
            (first.plus(two), a + b), (first.times(two), a * b), (two.inverse(), 1 / b),
            (first.exp(), np.exp(a)), (first.before(), np.cumsum(a, axis=-1) - a),
            (first.after(), np.cumsum(a[:, ::-1], axis=-1)[:, ::-1] - a),
            (first.total(), a.sum(axis=-1, keepdims=True)),
        ):  # fmt: skip
            slack = Ball(
                result.mid, result.rad + 1e-13 * (1 + np.abs(result.mid))
            )  # of NumPy's own
            assert encloses(slack, value)
            assert np.all(result.rad < 1.1 * 40 * (first.rad.max() + two.rad.max() * 200) + 1e-2)


def test_rounding_is_enclosed():
    """Points have a radius of rounding only, and Arb's results lie inside."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=400) * 10.0 ** rng.integers(-12, 2, size=400)
    b = rng.normal(size=400)
    first, two = Ball.of(a), Ball.of(b)
    exact = list(zip(map(arb, a.tolist()), map(arb, b.tolist()), strict=True))
    for result, values in (
        (first.plus(two), [x + y for x, y in exact]), (first.times(two), [x * y for x, y in exact]),
        (two.inverse(), [1 / y for _, y in exact]), (first.exp(), [x.exp() for x, _ in exact]),
        (two.before(), list(itertools.accumulate((y for _, y in exact[:-1]), initial=arb(0)))),
        (two.total(), [sum((y for _, y in exact), arb(0))]),
    ):  # fmt: skip
        for low, high, value in zip(result.low.tolist(), result.high.tolist(), values, strict=True):
            assert arb(low) <= value <= arb(high)


def test_exponentials_are_within_a_third_of_what_is_taken():
    """The operations that are NumPy's: 48 roundings are taken, and 64 allowed for."""
    rng = np.random.default_rng(2)
    middles, radii = rng.uniform(-40, 40, size=20_000), 10.0 ** rng.uniform(-16, 2, size=20_000)
    for numpys, arbs, points in (
        (np.exp, arb.exp, middles),
        (np.expm1, arb.expm1, radii),
    ):
        worst = max(
            abs(float((arb(result) / arbs(arb(x)) - 1).mid()))
            for x, result in zip(points.tolist(), numpys(points).tolist(), strict=True)
        )
        assert worst < 16 * balls.U


def test_what_has_no_value_is_refused():
    value = Ball(np.array([0.1]), np.array([0.2]))
    with pytest.raises(ArithmeticError):
        value.inverse()
    with pytest.raises(ArithmeticError):
        value.plus(Ball.of(400.0)).exp()


@pytest.mark.parametrize("name", ["exp", "inverse"])
def test_series_multiply_out(name):
    """exp(a) exp(-a) and a/a are one."""
    rng = np.random.default_rng(3)
    a = Series(*random_ball(rng, (5, 1, 7), rad=0.0).plus(Ball.of(np.eye(5)[:1].T[:, :, None] * 4)))
    product = a.exp().times(a.negative().exp()) if name == "exp" else a.inverse().times(a)
    wanted = np.zeros((5, 1, 7))
    wanted[0] = 1
    assert encloses(product, wanted)
    assert product.rad.max() < 1e-9


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("n_pairs", [1, 2, 5, 40])
def test_loss_gradient_and_curvature(n_pairs, query):
    rng, flow = np.random.default_rng(n_pairs), CoordinateFlow(n_pairs, query, EVERY)
    whole = theory.landscape_of(n_pairs, query, model="full")

    def gradient(point):
        full = np.array(whole.gradient(*(LIFT @ point)))
        assert np.allclose(LIFT @ (LIFT.T @ full), full, atol=1e-13)  # the twelve are all
        return LIFT.T @ full

    for _ in range(5):
        z, away = rng.normal(size=12), rng.normal(size=12)
        assert flow.loss(Ball.of(z[None])).mid[0] == pytest.approx(
            whole.loss(*(LIFT @ z)), rel=1e-12
        )
        along = flow.slopes(Ball.of(np.stack([z, away])))
        numeric = (gradient(z + 1e-5 * away) - gradient(z - 1e-5 * away)) / 2e-5
        assert along.mid[0] == pytest.approx(gradient(z), abs=1e-12)
        assert along.mid[1] == pytest.approx(numeric, abs=1e-6)
        curved = flow.curvature(Ball.of(z))
        assert curved.mid @ away == pytest.approx(numeric, abs=1e-6)
        assert max(along.rad.max(), curved.rad.max()) < 1e-9


def test_a_wide_ball_encloses_loss_and_curvature():
    rng, flow = np.random.default_rng(4), CoordinateFlow(8, "uniform", EVERY)
    box = Ball(0.5 * rng.normal(size=12), np.full(12, 0.02))
    held, curved = flow.loss(box.part(None)), flow.curvature(box)
    for _ in range(20):
        z = inside(rng, box)
        assert encloses(held, theory.landscape_of(8, "uniform", model="full").loss(*(LIFT @ z)))
        assert encloses(curved, flow.curvature(Ball.of(z)).mid)


def test_the_opening_is_the_least_eigenvalue():
    rng = np.random.default_rng(5)
    for width in (0.0, 1e-4):
        middle = rng.normal(size=(12, 12))
        middle = middle + middle.T
        ball = Ball(middle, np.full((12, 12), width))
        least = -np.linalg.eigvalsh(middle)[0]
        assert least < steps.opening(ball) < 1.05 * least
        assert steps.opening(ball) >= least + width * (12 if width else 0) / 2
    assert steps.opening(Ball.of(np.diag(np.arange(1.0, 13.0)))) < 0.01
    with pytest.raises(ArithmeticError):
        steps.opening(Ball(np.eye(12), np.full((12, 12), 1e9)))


def missed(piece, n_pairs, query):
    """The time integral of the defect's norm, by quadrature in floating point."""
    s, weights = np.polynomial.legendre.leggauss(20)
    k = np.arange(len(piece.powers))
    result = []
    for at in s:
        z = at**k @ piece.powers
        speed = (k * at ** np.maximum(k - 1, 0)) @ piece.powers / piece.half
        gradient = theory.landscape_of(n_pairs, query, model="full").gradient(*(LIFT @ z))
        result.append(np.linalg.norm(speed + LIFT.T @ gradient))
    return piece.half * float(weights @ result)


@pytest.mark.parametrize("query", QUERIES)
def test_the_defect_is_enclosed_and_not_much_more(query, monkeypatch):
    flow = CoordinateFlow(8, query, EVERY)
    piece = steps.Guide(steps.speed_of(flow), np.zeros(12), 1e-10).piece(4.0, 0.5)
    true = missed(piece, 8, query)
    assert true < steps.defect_of(piece, flow) < 10 * true + 1e-8
    rough = piece._replace(powers=piece.powers * 1.01)
    true = missed(rough, 8, query)
    assert true < steps.defect_of(rough, flow) < 1.01 * true

    honest = CoordinateFlow.slopes
    monkeypatch.setattr(CoordinateFlow, "slopes", lambda *args: honest(*args).times(Ball.of(0.98)))
    assert not true < steps.defect_of(rough, flow) < 1.01 * true  # a planted factor


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("query", "model", "until"),
    [("uniform", "full", "alpha"), ("last", "full", "loss"), ("last", "reduced", "alpha")],
)
def test_bounds_hold_the_integrated_times(query, model, until):
    integrated = theory.emergence_times(2, query=query, model=model)
    result = time_bounds(2, query=query, model=model, until=until, tolerance=1e-10)
    assert getattr(result, until).high < math.inf
    for name, (low, high) in result._asdict().items():
        time = integrated.collapse if name == "loss" else getattr(integrated, name)
        assert low < time < high < 1.001 * low or low == high == math.inf
    assert result.gamma.before(result.beta)
    assert not result.beta.before(result.gamma)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("model", "moves"), [("full", EVERY), ("reduced", np.eye(12)[[1, 3, 10]].sum(0))]
)
def test_the_solution_is_as_near_as_is_said(model, moves):
    followed = list(
        itertools.takewhile(
            lambda step: step.piece.start < 10,
            steps.validated_steps(CoordinateFlow(6, "last", moves), tolerance=1e-6, farthest=0.1),
        )
    )
    ends = np.array([0.0, *(step.piece.start + 2 * step.piece.half for step in followed)])
    exact = theory.gradient_flow(6, ends[-1], model=model, times=ends)
    for step, point in zip(followed, exact.points[1:], strict=True):
        z = point @ LIFT if model == "full" else np.insert(point, [0, 1, *[2] * 6, 3], 0)
        there = step.piece.where(Ball.of(1.0)).mid
        assert np.linalg.norm(z - there) < step.apart.max() < 1e-3
        assert encloses(step.where(Ball.of(1.0)), z)


def test_a_path_that_is_not_the_flow_is_noticed(monkeypatch):
    """With speeds that are a little too large the distance is larger, and it is still right."""
    honest = steps.speed_of(CoordinateFlow(4, "uniform", EVERY))
    for factor in (1.0, 1.01):
        wrong = functools.partial(lambda f, z: f * honest(z), factor)
        monkeypatch.setattr(steps, "speed_of", lambda _, speed=wrong: speed)
        several = steps.validated_steps(
            CoordinateFlow(4, "uniform", EVERY), tolerance=1e-3, farthest=0.1
        )
        step = list(itertools.islice(several, 6))[-1]
        clock = np.array([0.0, step.piece.start + 2 * step.piece.half])
        exact = theory.gradient_flow(4, clock[1], query="uniform", model="full", times=clock)
        z = step.piece.where(Ball.of(1.0)).mid
        assert np.linalg.norm(exact.points[1] @ LIFT - z) < step.apart.max()
        assert (step.apart.max() > 1e-4) == (factor > 1)


@pytest.mark.usefixtures("unchecked")
def test_errors_grow_by_what_the_chapter_says():
    """At 16 pairs by e^4.7 until the loss collapses: the integral of the least eigenvalue."""
    flow, end = CoordinateFlow(16, "last", EVERY), theory.emergence_times(16, model="full").collapse
    clock = (1 - np.linspace(1, 0, 80) ** 2) * end
    path_ = theory.gradient_flow(16, end, model="full", times=clock)
    opening = [
        -np.linalg.eigvalsh(flow.curvature(Ball.of(point @ LIFT)).mid)[0] for point in path_.points
    ]
    assert np.trapezoid(np.maximum(opening, 0), clock) == pytest.approx(4.7, abs=0.03)


@pytest.mark.usefixtures("unchecked")
def test_what_is_apart_moves_apart_no_faster_than_is_said():
    """Two solutions that begin apart in the direction in which the loss is curved downward most."""
    flow, landscape = CoordinateFlow(8, "last", EVERY), theory.landscape_of(8, model="full")
    piece = steps.Guide(steps.speed_of(flow), np.zeros(12), 1e-10).piece(50.0, 1.0)
    start, defect = piece.where(Ball.of(-1.0)).mid, steps.defect_of(piece, flow)
    directions = np.linalg.eigh(flow.curvature(Ball.of(start)).mid)[1]
    ends = [
        theory.flow_in(landscape, 2 * piece.half, start=tuple(LIFT @ z)).points[-1]
        for z in (start, start + 1e-6 * directions[:, 0])
    ]
    apart = np.linalg.norm(ends[1] - ends[0])
    assert 1.01 * (1e-6 + defect) < apart < steps._apart(piece, 1e-6, defect, flow)
