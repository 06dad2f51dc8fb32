"""Bounds on the full model's flow when any pair may be asked for: flows and planted errors."""

import math

import numpy as np
import pytest
from flint import arb
from scipy.integrate import cumulative_trapezoid

from asserts import refused
from chapters.beyond.full_flow import any_pair, box, laws
from chapters.beyond.full_flow.any_pair import outputs, scores
from emergence import theory

FEW = 450  # the least N that is proved
LOG = math.log(FEW)
PLACES = {"alpha_1": 0, "beta_1": 3, "beta_7": 9, "beta_8": 10, "beta_10": 12, "beta_12": 14}


@pytest.fixture(scope="module")
def followed():
    """Times and points of all nineteen at the least N that is proved, until beta_2 is one half."""
    result = theory.gradient_flow(FEW, 1.475 * FEW**2 / LOG, query="uniform", model="full")
    assert result.beta[-1] > 0.5
    before = result.beta <= 0.5
    return result.t[before], result.points[before]


@pytest.fixture(scope="module")
def held():
    """The box at that N alone, and the cells of beta_2."""
    return any_pair.close(FEW, FEW + 1, "beta")


def slow_pushes(alpha, beta, n_pairs):
    """The pushes on beta and alpha and the value, from their definitions."""
    w = math.exp(alpha) / (2 * np.arange(n_pairs) + math.exp(alpha))
    raised = np.exp(beta * w)
    push, by_alpha = 2 * (w * raised).sum() - 1, 2 * beta * (w * (1 - w) * raised).sum()
    return push, by_alpha, 2 * np.expm1(beta * w).sum() - beta


def moved(values):
    return float(np.abs(np.diff(values)).sum())


def loads(t, points):
    """What the box bounds, on an integrated flow."""
    gamma, gamma_4 = laws.quick_output(np.minimum(t / FEW, 200.0), "uniform")
    joint = points[:, 16] + points[:, 17] - 2 * gamma
    four, apart = gamma_4 - points[:, 18], points[:, 17] - points[:, 16]
    return {
        "theta": t[-1] * LOG / FEW**2,
        "span": (t[-1] - t[points[:, 4] > 0.5 - 1 / 16][0]) * LOG / FEW**2,
        "beta": points[:, 4].max(), "alpha": points[:, 2].max(), "apart": apart.max(),
        "low_beta": -points[:, 4].min(), "low_alpha": -points[:, 2].min(),
        "low_apart": -apart.min(),
        "gamma_1": FEW * np.abs(points[:, 15]).max(),
        "joint_above": FEW / LOG * joint.max(), "joint_below": -FEW / LOG * joint.min(),
        "four_above": FEW / LOG * four.max(), "four_below": -FEW / LOG * four.min(),
        **{name: FEW * moved(points[:, place]) for name, place in PLACES.items()},
    }  # fmt: skip


@pytest.mark.usefixtures("unchecked")
def test_the_box_holds_the_flow(held, followed):
    bounds, result = held[0]._asdict(), loads(*followed)
    assert set(bounds) == set(result)
    for name, bound in bounds.items():
        assert result[name] <= bound + 1e-12, name
    assert result["beta"] > 0.99 * bounds["beta"] / any_pair.GROWTH  # no bound for its own sake
    assert result["theta"] > 0.6 * bounds["theta"]
    assert result["gamma_1"] > 0.5 * bounds["gamma_1"]


@pytest.mark.usefixtures("unchecked")
def test_the_slow_flow_lacks_no_more_than_its_errors(held, followed):
    t, points = followed
    c = (1 + points[:, 17] - points[:, 16]) / 2
    pushes = np.array([slow_pushes(point[2], point[4], FEW) for point in points])
    speeds = pushes * np.stack([c, c, np.ones_like(c)], axis=1) / (2 * FEW**2)
    slowly = cumulative_trapezoid(speeds, t, axis=0, initial=0)
    whole = points[:, [4, 2, 17]] - points[:, [16]] * [0, 0, 1]
    left = np.abs(whole - slowly).max(axis=0)
    assert (left <= [float(error) for error in held[1][-1].errors]).all()
    assert (left > 1e-4).all()  # errors there are


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (0.1, 0.4), (0.5, 1.1), (-0.01, -0.02)])
def test_sums_over_all_pairs(alpha, beta):
    result, near = any_pair.bounded_sums(arb(alpha), arb(beta), box.scales(300)), arb(0, 1e-9)
    for n_pairs in (300, 2000):
        push, by_alpha, value = slow_pushes(alpha, beta, n_pairs)
        assert (result.push + near).contains(push - math.exp(alpha) * math.log(n_pairs))
        assert (result.turn + near).contains(value - beta * push)
        assert (beta * result.bend + near).contains(by_alpha - beta * push)
    assert result.push.rad() < 0.1


def one_size(n_pairs):
    s = box.scales(n_pairs)
    return s._replace(x=s.most, rare=1 / s.log, mixed=s.log * s.most)


@pytest.mark.parametrize(("n_pairs", "alpha"), [(100, 0.0), (100, 0.5), (700, 0.2)])
def test_what_rows_pay(n_pairs, alpha):
    """Layer 1 row by row: the means over pairs that its bounds are made of."""
    rows = np.tril(np.ones((2 * n_pairs, 2 * n_pairs)), -1)
    own = 2 * np.arange(n_pairs)
    rows[own + 1, own] = math.exp(alpha)
    rows[1:] /= rows[1:].sum(axis=1, keepdims=True)
    paid, answered = rows.sum(axis=0), rows[own + 1, own]
    after = [rows[2 * k + 2 :, 2 * k] for k in range(n_pairs)]  # what later pairs pay to an item
    later, squares = (np.array([(part**power).sum() for part in after]) for power in (1, 2))
    little = dict.fromkeys(any_pair.Extent._fields, arb(1e-6))  # else has moved than alpha_3
    b = any_pair.Extent(**little | {"alpha": arb(alpha), "low_alpha": arb(0)})
    s = one_size(n_pairs)
    a = outputs.attention_deviations(b, s)
    flat = outputs.output_bounds(b, s, a).squares_flat
    log, off = math.log(n_pairs), abs((paid**2).sum() / (4 * n_pairs) - 1)
    for bound, value, room in (
        (a.all_w, answered[1:].sum() / log, 1.6), (a.w_1, answered.sum() / log, 1.6),
        (a.w_2, (answered**2).sum(), 1.6), (a.later, later[0] / log, 1.6),
        (a.gap, n_pairs / log * (1 - later.mean()), 1.6),
        (a.paid_2, n_pairs / log * squares.mean(), 1.6),
        (a.later_2, (later**2).mean(), 1.6), (flat, n_pairs / log * off, 1.3),
    ):  # fmt: skip
        assert value <= float(bound.upper()) <= room * value
    assert later.mean() < 1
    assert paid.max() <= float(a.passed.upper()) * log


def test_the_path_of_the_output():
    grid = np.linspace(0, 80, 800_001)
    gamma, gamma_4 = laws.quick_output(grid, "uniform")
    for values, area in zip(
        (np.abs(2 * gamma - 1), gamma_4, gamma_4**2), outputs.AREAS, strict=True
    ):
        assert np.trapezoid(values, grid) == pytest.approx(float(area), rel=1e-6)
    assert float(outputs.RISE) - 1e-4 < gamma_4.max() < float(outputs.RISE)


@pytest.mark.parametrize("name", ["beta", "alpha"])
def test_the_law_tends_to_its_next_term(name):
    """For N to infinity l (T l/N^2 - 2J) tends to a constant that quadrature knows."""
    least = 10**15 if name == "beta" else 10**30
    low, high = any_pair.law(least, name=name).rest
    term = laws.log_law(name, "uniform").next
    assert low < term < high
    assert high - low < 1.7
    assert not low < 0 < high  # it is not zero
    assert not low < term * 2 < high


def test_ranges_must_cover_what_is_stated():
    row = (0.0, 1.0), (-1.0, 0.5), 0.1, 0.6
    result = [any_pair.RangeLaw(700, 800, *row), any_pair.RangeLaw(800, math.inf, *row)]
    assert any_pair.covers(result[::-1], 700)
    assert not any_pair.covers(result, 699)
    refused(ValueError, "every N from 700", any_pair.rest_from, result[:1], 700)
    gap = [result[0], any_pair.RangeLaw(801, math.inf, *row)]
    assert not any_pair.covers(gap, 700)


def test_what_is_not_proved_is_refused():
    refused(ArithmeticError, None, any_pair.law, 300, 310, name="beta")
    refused(ArithmeticError, None, any_pair.law, 3_000, 3_100, name="alpha")
    refused(ValueError, "100 pairs", any_pair.law, 99, name="beta")
    refused(ValueError, "gamma", any_pair.law, 1_000, name="gamma")


def some_state(stream):
    """What the box allows at the least N that is proved, the output near rest or far from it."""
    far, far_too = stream.random(2) < 0.5
    joint = 1 - (stream.uniform(0, 1) if far else stream.uniform(-0.005, 0.005))
    apart = stream.uniform(0, 0.5)
    point = np.zeros(19)
    sizes = {0: 3.0, 3: 15.0, 9: 0.01, 10: 0.4, 12: 0.6, 14: 0.4, 15: 0.8}
    for place, size in sizes.items():
        point[place] = stream.uniform(-size, size) / FEW
    point[11], point[13] = point[9], point[10]
    point[2], point[4] = stream.uniform(0, 0.3), stream.uniform(0, 0.5)
    point[16:18] = (joint - apart) / 2, (joint + apart) / 2
    point[18] = stream.uniform(0, 0.2) if far_too else stream.uniform(-0.005, 0.005)
    return point


def at_rest(point):
    """Bounds that are this state alone for a time of N, and what follows from them."""
    large = {name: FEW * abs(point[place]) for name, place in PLACES.items()}
    joint, apart = point[16] + point[17], point[17] - point[16]
    b = any_pair.Extent(
        theta=LOG / FEW, span=LOG / FEW, beta=point[4], alpha=point[2], apart=apart,
        low_beta=0.0, low_alpha=0.0, low_apart=0.0, gamma_1=FEW * abs(point[15]),
        joint_above=FEW / LOG * max(joint - 1, 0.0), joint_below=0.0,
        four_above=FEW / LOG * max(-point[18], 0.0), four_below=0.0, **large,
    )  # fmt: skip
    b, s = any_pair.Extent(*map(arb, b)), one_size(FEW)
    a = outputs.attention_deviations(b, s)
    o = outputs.output_bounds(b, s, a)
    f = outputs.forces(b, s, a, o)
    return b, s, a, o, f, outputs.quick(b, s, o, f)


def missed(point):
    """What the slow flow and the quick one miss in this state, over what the bounds allow."""
    b, s, a, o, f, q = at_rest(point)
    down = -np.array(theory.landscape_of(FEW, "uniform", model="full").gradient(*point))
    joint, apart, four = point[16] + point[17] - 1, point[17] - point[16], point[18]
    c, (push, by_alpha, value) = (1 + apart) / 2, slow_pushes(point[2], point[4], FEW)
    slowly = np.array([c * push, c * by_alpha, value]) / (2 * FEW**2)
    by_four = abs(four) * s.mixed * o.passed_on
    q = q._replace(
        area_joint=arb(abs(joint)), area_four=arb(abs(four)), square_four=arb(four**2),
        total=arb(abs(joint) + abs(four) + abs(point[15])),
        spent_past=b.theta * s.rare * o.past + by_four,
        spent_answer=b.theta * s.rare * o.answer + by_four,
        spent_item=b.theta * s.rare * o.item + by_four,
    )  # fmt: skip
    errors = scores.errors(b, s, a, o, q, arb(push) / s.log)
    left = FEW * np.abs(np.array([down[4], down[2], down[17] - down[16]]) - slowly)
    force = FEW * (down[16] + down[17]) + 2 * joint + 2 * four
    other = -FEW * down[18] - joint - 2 * four
    allowed = [
        (f.up_joint if force > 0 else f.down_joint) + f.by_four[0] * abs(four),
        (f.up_four if other > 0 else f.down_four) + f.by_four[1] * abs(four),
    ]
    held = FEW * abs(-down[15] / 2 - point[15])  # gamma_1 goes to minus this
    return np.array([
        *(error / float(bound.upper()) for error, bound in zip(left, errors, strict=True)),
        *(FEW / LOG * abs(part) / float(bound.upper())
          for part, bound in zip((force, other), allowed, strict=True)),
        held / float(f.held.upper()),
    ])  # fmt: skip


@pytest.mark.usefixtures("unchecked")
def test_each_bound_holds_in_every_state_and_a_smaller_one_does_not(monkeypatch):
    """Against the gradient of all nineteen: no bound is violated, none is for its own sake."""
    stream = np.random.default_rng(0)
    states = [some_state(stream) for _ in range(150)]
    result = np.array([missed(state) for state in states])
    assert (result.max(axis=0) <= 1).all()
    assert (result.max(axis=0) > 0.55).all()
    honest = outputs.output_bounds

    def planted(*arguments):
        result = honest(*arguments)
        return result._replace(three=result.three / 4)

    monkeypatch.setattr(outputs, "output_bounds", planted)
    assert max(missed(state).max() for state in states) > 1


def test_a_state_with_a_larger_output_shrinks_no_force():
    b, s, a, o, f, _ = at_rest(some_state(np.random.default_rng(0)))
    for name in o._fields:
        larger = outputs.forces(b, s, a, o._replace(**{name: 2 * getattr(o, name)}))
        for less, more in zip((*f[:-1], *f[-1]), (*larger[:-1], *larger[-1]), strict=True):
            assert less.upper() <= more.upper(), name
