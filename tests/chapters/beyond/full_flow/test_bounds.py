"""Bounds on the full model's flow for the last pair: integrated flows and planted errors."""

import functools
import math

import numpy as np
import pytest
from flint import arb

from chapters.beyond import full_flow
from chapters.beyond.full_flow import box, every_large, laws, twelve, validated, with_numbers
from emergence import theory

MANY = 300
PLACES = {"beta_1": 3, "beta_2": 4, "beta_7": 9, "beta_8": 10, "beta_10": 12, "beta_12": 14}


def hidden(point, n_pairs):
    """The twelve coordinates of `twelve.drifts`, from the nineteen."""
    p = dict(zip(range(19), point, strict=True))
    grown = math.exp(p[0])
    each = 1 / (2 * n_pairs - 1 + grown)
    raised, ahead = grown * each, (grown - 1) * each
    share = math.exp(p[2]) / (2 * n_pairs - 2 + math.exp(p[2]))
    item = math.exp(p[3] + 2 * p[9] * ahead)
    label = math.exp(p[12] * ahead + (p[4] + 2 * p[10] * ahead) * share)
    first = math.exp(-(2 * p[10] + p[14]) * each)
    a = item / (2 * n_pairs - 3 + first + item + label)
    return np.array([
        p[0] - raised * p[16] * (p[15] - p[16] / 2), p[2],
        p[3] - a * (p[17] * p[15] - (p[17] ** 2 + p[18] ** 2) / 2), p[4],
        p[9], p[10], p[12], p[14], p[15], p[16] + p[17], p[17] - p[16], p[18],
    ])  # fmt: skip


def random_point(stream):
    """Small values of all that move with the last pair asked for."""
    point = np.zeros(19)
    point[[2, 4, 9, 10, 12, 14, 15, 16, 17, 18]] = 0.3 * stream.normal(size=10)
    point[0], point[3] = 0.02, 0.3
    point[11], point[13] = point[9], point[10]
    return point


@pytest.mark.parametrize("n_pairs", [4, 7, 12])
def test_the_twelve_move_as_the_network_says(n_pairs):
    """By the gradient of all nineteen, carried over to the twelve by a difference."""
    point = random_point(np.random.default_rng(n_pairs))
    down = -np.array(theory.landscape_of(n_pairs, model="full").gradient(*point))
    step = 1e-6
    moved = hidden(point + step * down, n_pairs) - hidden(point - step * down, n_pairs)
    state = twelve.State(*map(arb, hidden(point, n_pairs).tolist()))
    over = twelve.sums(n_pairs, state.alpha_3)
    goals, rates = twelve.drifts(state, 1 / arb(n_pairs), over)
    for name, goal, rate, value, speed in zip(
        state._fields, goals, rates, state, n_pairs * moved / (2 * step), strict=True
    ):
        assert (goal - rate * value + arb(0, 1e-8)).contains(float(speed)), name


def test_sums_over_the_past():
    grown = math.exp(0.4)
    over = twelve.sums(9, arb("0.4"))
    terms = [4 * k * (2 * k + 1) / (2 * k + grown) ** 3 for k in range(1, 8)]
    assert float(over.push) == pytest.approx(sum(terms))
    flat = twelve.sums(9, arb(0))
    assert float(flat.missing) == pytest.approx(sum(1 / m for m in range(1, 16)))
    step = arb("1e-6")
    more = twelve.sums(9, arb("0.4") + step).missing - twelve.sums(9, arb("0.4") - step).missing
    assert float(more / (2 * step)) == pytest.approx(grown * sum(terms), rel=1e-6)


@pytest.mark.parametrize("alpha", [-0.01, 0.0, 0.5, 2.0])
def test_the_push_beyond_the_logarithm(alpha):
    assert float(box.excess(arb(alpha))) == pytest.approx(laws.recency_excess(alpha), rel=1e-12)
    s = box.scales(50)
    slack = (arb("1.5") * arb(alpha).exp()).union(arb("-2.5")) / (1 - 2 * s.most)
    for n_pairs in (50, 60, 400):
        push = twelve.sums(n_pairs, arb(alpha)).push - arb(n_pairs).log()
        assert (box.excess(arb(alpha)) + slack / n_pairs).contains(push)


def test_what_the_output_costs_while_it_rises():
    grid = np.linspace(0, 60, 600_001)
    gamma, gamma_4 = laws.quick_output(grid, "last")
    costs = 1 - gamma, 1 - gamma_4**2, grid * (1 - gamma)
    for cost, stated in zip(costs, box.WAIT, strict=True):
        assert np.trapezoid(cost, grid) == pytest.approx(float(stated), rel=1e-6)
    assert np.trapezoid(np.abs(2 * gamma + gamma_4 - 1), grid) == pytest.approx(1, rel=1e-6)


@functools.cache
def followed():
    """The flow of all nineteen at the least N of the box, until alpha_3 is one half."""
    end = theory.emergence_times(MANY, model="full").alpha
    return theory.gradient_flow(MANY, end, model="full")


def loads(path):
    """What the box bounds, on an integrated flow."""
    points, n, log = path.points, MANY, math.log(MANY)

    def moved(values):
        return float(np.abs(np.diff(values)).sum())

    joint, four = points[:, 16] + points[:, 17], -points[:, 18]
    gamma, gamma_4 = laws.quick_output(np.minimum(path.t / n, 200.0), "last")
    apart = joint - 2 * gamma, four + gamma_4
    powers = {"beta_7": 2, "beta_8": 1, "beta_10": 1, "beta_12": 1}
    return box.Box(
        theta=path.t[-1] * log / n**2,
        low=max(0.0, -float(points[:, 2].min())),
        alpha_1=n * moved(points[:, 0]),
        gamma_1=n * float(np.abs(points[:, 15]).max()),
        apart=moved(points[:, 17] - points[:, 16]),
        joint_above=n / log * float(apart[0].max()), joint_below=-n / log * float(apart[0].min()),
        four_above=n / log * float(apart[1].max()), four_below=-n / log * float(apart[1].min()),
        **{name: n ** powers.get(name, 0) * moved(points[:, i]) for name, i in PLACES.items()},
    )  # fmt: skip


@pytest.mark.usefixtures("unchecked")
def test_the_box_holds_the_flow():
    bounds, _, _ = every_large.close(MANY)
    result = loads(followed())
    for name, bound, load in zip(bounds._fields, bounds, result, strict=True):
        assert load <= bound + 1e-12, name
    assert result.beta_2 > bounds.beta_2 / 2  # no bound for its own sake
    assert result.four_above > bounds.four_above / 2.5


@pytest.mark.usefixtures("unchecked")
def test_the_law_holds_with_its_error_and_no_other_law():
    path = followed()
    low, high = with_numbers.law_bounds(MANY).rest
    law, log = laws.log_law("alpha", "last"), math.log(MANY)

    def rest(leading, following):
        return log**2 * (path.t[-1] * log / MANY**2 - leading - following / log)

    assert low < rest(law.leading, law.next) < high
    far = with_numbers.law_bounds(10**6).rest
    assert far[1] - far[0] < 1.5
    assert not low < rest(4.0, law.next) < high


def test_a_law_without_the_share_of_beta_2_is_refuted():
    """For N to infinity what is left is not zero: it has the sign of the push of beta_2."""
    low, high = with_numbers.law_bounds(10**9).rest
    grid = np.linspace(0, 0.5, 2001)
    weight = 4 * np.exp(-grid)
    excess = np.array([laws.recency_excess(a) for a in grid.tolist()])
    limit = np.trapezoid(weight * (excess**2 - 4 * grid), grid)
    assert low < limit < high
    assert not low < np.trapezoid(weight * excess**2, grid) < high


@pytest.mark.usefixtures("unchecked")
def test_validated_steps_hold_the_integrated_times():
    n_pairs = 20
    result = validated.order((n_pairs, n_pairs), 0.01)
    times = theory.emergence_times(n_pairs, model="full")
    assert result.alpha[0] < times.alpha / n_pairs < result.alpha[1]
    assert result.gamma[0] < times.gamma / n_pairs < result.gamma[1]
    assert result.alpha[1] < 1.1 * result.alpha[0]
    assert result.holds


@pytest.mark.usefixtures("unchecked")
def test_validated_steps_notice_a_planted_error(monkeypatch):
    """A push that is a tenth stronger is not the flow's."""
    times = theory.emergence_times(20, model="full")
    honest = validated.sums

    def planted(n_pairs, alpha):
        over = honest(n_pairs, alpha)
        return over._replace(push=over.push * arb("1.15"))

    monkeypatch.setattr(validated, "sums", planted)
    low, high = validated.order((20, 20), 0.01).alpha
    assert not low < times.alpha / 20 < high


@pytest.mark.parametrize("n_pairs", [16, 64])
def test_the_rest_of_one_time_is_that_of_the_law(n_pairs):
    law, log = laws.log_law("alpha", "last"), math.log(n_pairs)
    stated = law.leading + law.next / log
    low, high = with_numbers.rest_of((n_pairs, n_pairs + 1), (9.0, 9.0))
    assert low <= log**2 * (9 * log / n_pairs - stated) <= high
    alone = with_numbers.rest_of((n_pairs, n_pairs), (9.0, 9.0))
    assert alone[1] - alone[0] < 0.02


def test_ranges_cover_all_and_hold_what_each_of_them_has():
    ranges = validated.ranges_to(MANY)
    assert validated.covers(ranges, 10, MANY)
    assert not validated.covers(ranges[:5] + ranges[6:], 10, MANY)
    several, single = validated.order((100, 103), 0.03), validated.order((101, 101), 0.03)
    assert several.alpha[0] <= single.alpha[0] < single.alpha[1] <= several.alpha[1]
    assert single.beta <= several.beta
    assert several.holds


def test_each_n_below_the_box_is_followed_and_tried_twice(monkeypatch):
    ranges, tolerances = full_flow.uniform_ranges(2, 50), []
    assert [n for some in ranges for n in range(some.least, some.largest + 1)] == [*range(2, 50)]
    honest = full_flow.time_bounds

    def strict(n_pairs, *, tolerance, **rest):
        tolerances.append(tolerance)
        if tolerance > 5e-6:
            raise ArithmeticError
        return honest(n_pairs, tolerance=tolerance, **rest)

    monkeypatch.setattr(full_flow, "time_bounds", strict)
    some = full_flow.Range(3, 3, "uniform", "gamma", 1e-5, 0.1)
    (result,) = full_flow.as_bounds(full_flow.all_bounds(some))
    assert tolerances == pytest.approx([1e-5, 1e-6])
    assert result == honest(
        3, query="uniform", until="gamma", tolerance=tolerances[1], farthest=0.1
    )
    with pytest.raises(ArithmeticError):
        full_flow.all_bounds(full_flow.Range(3, 3, "uniform", "gamma", 1e-3, 0.1))


@pytest.mark.usefixtures("unchecked")
def test_nine_pairs_are_not_proved():
    """There beta_2 is first, by a thousandth."""
    times = theory.emergence_times(9, model="full")
    assert times.beta < times.alpha
    assert not validated.order((9, 9), 0.005).holds


@pytest.mark.parametrize(("least", "top", "stated"), [(10**4, 1.0, 2.27), (10**6, 2.0, 2.99)])
def test_neither_the_collapse_nor_beta_is_early(least, top, stated):
    bounds = with_numbers.law_bounds(least, top)
    assert bounds.time[0] > stated
    assert bounds.beta < 0.5 < bounds.loss


def test_few_pairs_are_refused():
    with pytest.raises(ValueError, match="21 pairs"):
        with_numbers.law_bounds(20)
    with pytest.raises(ArithmeticError):
        with_numbers.law_bounds(60)
