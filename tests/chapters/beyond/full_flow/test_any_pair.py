"""Bounds on the full model's flow when any pair may be asked for: flows and planted errors."""

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest
from flint import arb
from scipy.integrate import cumulative_trapezoid

from chapters.beyond.full_flow import any_pair, box, laws
from chapters.beyond.full_flow.any_pair import outputs, scores
from emergence import theory

FEW = 450  # the least N that is proved
PLACES = {"alpha_1": 0, "beta_1": 3, "beta_7": 9, "beta_8": 10, "beta_10": 12, "beta_12": 14}


class Followed(NamedTuple):
    """A flow up to a time."""

    t: np.ndarray
    points: np.ndarray


@functools.cache
def followed():
    """The flow of all nineteen at the least N that is proved, until beta_2 is one half."""
    end = 1.475 * FEW**2 / math.log(FEW)
    result = theory.gradient_flow(FEW, end, query="uniform", model="full")
    assert result.beta[-1] > 0.5
    before = result.beta <= 0.5
    return Followed(result.t[before], result.points[before])


@pytest.fixture(scope="module")
def held():
    """The box at that N alone, and the cells of beta_2."""
    return any_pair.close(FEW, FEW + 1, "beta")


def moved(values):
    return float(np.abs(np.diff(values)).sum())


def loads(path):
    """What the box bounds, on an integrated flow."""
    points, log = path.points, math.log(FEW)
    gamma, gamma_4 = laws.quick_output(np.minimum(path.t / FEW, 200.0), "uniform")
    joint = points[:, 16] + points[:, 17] - 2 * gamma
    four, apart = gamma_4 - points[:, 18], points[:, 17] - points[:, 16]
    return {
        "theta": path.t[-1] * log / FEW**2,
        "span": (path.t[-1] - path.t[path.points[:, 4] > 0.5 - 1 / 16][0]) * log / FEW**2,
        "beta": points[:, 4].max(), "alpha": points[:, 2].max(), "apart": apart.max(),
        "low_beta": -points[:, 4].min(), "low_alpha": -points[:, 2].min(),
        "low_apart": -apart.min(),
        "gamma_1": FEW * np.abs(points[:, 15]).max(),
        "joint_above": FEW / log * joint.max(), "joint_below": -FEW / log * joint.min(),
        "four_above": FEW / log * four.max(), "four_below": -FEW / log * four.min(),
        **{name: FEW * moved(points[:, place]) for name, place in PLACES.items()},
    }  # fmt: skip


@pytest.mark.usefixtures("unchecked")
def test_the_box_holds_the_flow(held):
    bounds, result = held[0]._asdict(), loads(followed())
    assert set(bounds) == set(result)
    for name, bound in bounds.items():
        assert result[name] <= bound + 1e-12, name
    assert result["beta"] > 0.99 * bounds["beta"] / any_pair.GROWTH  # no bound for its own sake
    assert result["theta"] > 0.6 * bounds["theta"]
    assert result["gamma_1"] > 0.5 * bounds["gamma_1"]


@pytest.mark.usefixtures("unchecked")
def test_the_slow_flow_lacks_no_more_than_its_errors(held):
    path = followed()
    k = np.arange(FEW)
    speeds = []
    for point in path.points:
        grown, beta, c = math.exp(point[2]), point[4], (1 + point[17] - point[16]) / 2
        w = grown / (2 * k + grown)
        raised = np.exp(beta * w)
        speeds.append([
            c * (2 * (w * raised).sum() - 1) / 2,
            c * 2 * beta * (w * (1 - w) * raised).sum() / 2,
            (2 * np.expm1(beta * w).sum() - beta) / 2,
        ])  # fmt: skip
    slowly = cumulative_trapezoid(np.array(speeds) / FEW**2, path.t, axis=0, initial=0)
    whole = path.points[:, [4, 2, 17]] - path.points[:, [16]] * [0, 0, 1]
    left = np.abs(whole - slowly).max(axis=0)
    assert (left <= [float(error) for error in held[1][-1].errors]).all()
    assert (left > 1e-4).all()  # errors there are


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (0.1, 0.4), (0.5, 1.1), (-0.01, -0.02)])
def test_sums_over_all_pairs(alpha, beta):
    """The pushes at N = 300 and at 2000, from their definitions."""
    result = any_pair.bounded_sums(arb(alpha), arb(beta), box.scales(300))
    for n_pairs in (300, 2000):
        k = np.arange(n_pairs)
        w = math.exp(alpha) / (2 * k + math.exp(alpha))
        raised = np.exp(beta * w)
        push = 2 * (w * raised).sum() - 1
        value = 2 * np.expm1(beta * w).sum() - beta
        by_alpha = 2 * beta * (w * (1 - w) * raised).sum()
        near = arb(0, 1e-9)
        assert (result.push + near).contains(push - math.exp(alpha) * math.log(n_pairs))
        assert (result.turn + near).contains(value - beta * push)
        assert (beta * result.bend + near).contains(by_alpha - beta * push)
    assert result.push.rad() < 0.1


def one_size(n_pairs):
    s = box.scales(n_pairs)
    return s._replace(x=s.most, rare=1 / s.log, mixed=s.log * s.most)


def layer_1_alone(n_pairs, alpha):
    """Bounds in which little but alpha_3 has moved, their scales, and what layer 1 attends to."""
    bounds = any_pair.Extent(*[1e-6] * len(any_pair.Extent._fields))._replace(
        alpha=alpha, low_alpha=0.0
    )
    b, s = any_pair.Extent(*map(arb, bounds)), one_size(n_pairs)
    return b, s, outputs.attention_deviations(b, s)


@pytest.mark.parametrize(("n_pairs", "alpha"), [(100, 0.0), (100, 0.5), (700, 0.2)])
def test_what_rows_pay_to_items(n_pairs, alpha):
    """The means over pairs that the bounds on layer 1 are made of."""
    _, _, a = layer_1_alone(n_pairs, alpha)
    log, grown = math.log(n_pairs), math.exp(alpha)
    k = np.arange(1, n_pairs)
    item, label = 1 / (2 * k), 1 / (2 * k + grown)
    later = np.append(np.cumsum((item + label)[::-1])[::-1], 0)  # of pairs after 0, 1, ...
    squares = np.append(np.cumsum((item**2 + label**2)[::-1])[::-1], 0)
    scale = log / n_pairs
    for bound, value in (
        (a.all_w, (grown * label).sum() / log),
        (a.w_1, (1 + (grown * label).sum()) / n_pairs / scale),
        (a.w_2, 1 + ((grown * label) ** 2).sum()),
        (a.later, later[0] / log),
        (a.gap, (1 - later.mean()) / scale),
        (a.paid_2, squares.mean() / scale),
        (a.later_2, (later**2).mean()),
    ):
        assert value <= float(bound.upper()) <= 1.6 * value
    assert later.mean() < 1


@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_squares_of_what_rows_are_paid(alpha):
    n_pairs = 150
    rows = np.zeros((2 * n_pairs, 2 * n_pairs))
    for k in range(n_pairs):
        if k:
            rows[2 * k, : 2 * k] = 1 / (2 * k)
        rows[2 * k + 1, : 2 * k + 1] = 1
        rows[2 * k + 1, 2 * k] = math.exp(alpha)
        rows[2 * k + 1] /= rows[2 * k + 1].sum()
    paid = rows.sum(axis=0)
    b, s, a = layer_1_alone(n_pairs, alpha)
    o = outputs.output_bounds(b, s, a)
    off = abs((paid**2).sum() / (4 * n_pairs) - 1) * n_pairs / math.log(n_pairs)
    assert off <= float(o.squares_flat.upper()) <= 1.3 * off
    assert paid.max() <= float(a.passed.upper()) * math.log(n_pairs)


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
    with pytest.raises(ValueError, match="every N from 700"):
        any_pair.rest_from(result[:1], 700)
    gap = [result[0], any_pair.RangeLaw(801, math.inf, *row)]
    assert not any_pair.covers(gap, 700)


def test_what_is_not_proved_is_refused():
    with pytest.raises(ArithmeticError):
        any_pair.law(300, 310, name="beta")
    with pytest.raises(ArithmeticError):
        any_pair.law(3_000, 3_100, name="alpha")
    with pytest.raises(ValueError, match="100 pairs"):
        any_pair.law(99, name="beta")
    with pytest.raises(ValueError, match="gamma"):
        any_pair.law(1_000, name="gamma")


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
    log = math.log(FEW)
    large = {name: FEW * abs(point[place]) for name, place in PLACES.items()}
    joint, apart = point[16] + point[17], point[17] - point[16]
    b = any_pair.Extent(
        theta=log / FEW, span=log / FEW, beta=point[4], alpha=point[2], apart=apart,
        low_beta=0.0, low_alpha=0.0, low_apart=0.0, gamma_1=FEW * abs(point[15]),
        joint_above=FEW / log * max(joint - 1, 0.0), joint_below=0.0,
        four_above=FEW / log * max(-point[18], 0.0), four_below=0.0, **large,
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
    grown = math.exp(point[2])
    w = grown / (2 * np.arange(FEW) + grown)
    raised = np.exp(point[4] * w)
    c, push = (1 + apart) / 2, 2 * (w * raised).sum() - 1
    by_alpha = 2 * point[4] * (w * (1 - w) * raised).sum()
    value = 2 * np.expm1(point[4] * w).sum() - point[4]
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
    scale = math.log(FEW) / FEW
    allowed = [
        (f.up_joint if force > 0 else f.down_joint) + f.by_four[0] * abs(four),
        (f.up_four if other > 0 else f.down_four) + f.by_four[1] * abs(four),
    ]
    held = FEW * abs(-down[15] / 2 - point[15])  # gamma_1 goes to minus this
    return np.array([
        *(error / float(bound.upper()) for error, bound in zip(left, errors, strict=True)),
        *(abs(part) / scale / float(bound.upper())
          for part, bound in zip((force, other), allowed, strict=True)),
        held / float(f.held.upper()),
    ])  # fmt: skip


@pytest.mark.usefixtures("unchecked")
def test_each_bound_holds_in_every_state_and_nearly_fails_in_some():
    """Against the gradient of all nineteen: no bound is violated, none is for its own sake."""
    stream = np.random.default_rng(0)
    result = np.array([missed(some_state(stream)) for _ in range(150)])
    assert (result.max(axis=0) <= 1).all()
    assert (result.max(axis=0) > 0.55).all()


def test_a_state_with_a_larger_output_shrinks_no_force():
    b, s, a, o, f, _ = at_rest(some_state(np.random.default_rng(0)))
    for name in o._fields:
        larger = outputs.forces(b, s, a, o._replace(**{name: 2 * getattr(o, name)}))
        for less, more in zip((*f[:-1], *f[-1]), (*larger[:-1], *larger[-1]), strict=True):
            assert less.upper() <= more.upper(), name


@pytest.mark.usefixtures("unchecked")
def test_a_bound_that_is_too_small_is_noticed(monkeypatch):
    honest = outputs.output_bounds

    def planted(*arguments):
        result = honest(*arguments)
        return result._replace(three=result.three / 4)

    monkeypatch.setattr(outputs, "output_bounds", planted)
    stream = np.random.default_rng(0)
    assert max(missed(some_state(stream)).max() for _ in range(150)) > 1
