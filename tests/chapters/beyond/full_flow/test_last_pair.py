"""Bounds on the full model's flow for the last pair: sampled states, flows, planted errors."""

import math

import numpy as np
import pytest
from flint import arb, arb_series

from asserts import refused
from chapters.beyond import full_flow
from chapters.beyond.full_flow import box, every_large, laws, twelve, validated, with_numbers
from emergence import theory

MANY = 300  # the least N of the box
LOG = math.log(MANY)
SCORES = {0: 2 / MANY, 3: 1.5, 9: 1 / MANY**2, 10: 0.5 / MANY, 12: 0.5 / MANY, 14: 0.5 / MANY}
PLACES = {"beta_1": 3, "beta_2": 4, "beta_7": 9, "beta_8": 10, "beta_10": 12, "beta_12": 14}


def raised_scores(point, n_pairs=MANY):
    """The exponentials of the scores of the answer's item and label and of row 0."""
    u = 1 / (2 * n_pairs - 1 + math.exp(point[0]))
    w = math.exp(point[2]) / (2 * n_pairs - 2 + math.exp(point[2]))
    ahead = math.expm1(point[0]) * u
    scores = (
        point[3] + 2 * point[9] * ahead,
        point[12] * ahead + (point[4] + 2 * point[10] * ahead) * w,
        -(2 * point[10] + point[14]) * u,
    )
    return u, w, ahead, np.exp(scores)


def hidden(p, n_pairs):
    """The twelve coordinates of `twelve.drifts`, from the nineteen."""
    each, _, _, raised = raised_scores(p, n_pairs)
    a = raised[0] / (2 * n_pairs - 3 + raised.sum())
    return np.array([
        p[0] - math.exp(p[0]) * each * p[16] * (p[15] - p[16] / 2), p[2],
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


@pytest.fixture(scope="module")
def followed():
    """The flow at the least N of the box until alpha_3 is one half, and its speeds."""
    end = theory.emergence_times(MANY, model="full").alpha
    clock = np.concatenate([[0], np.geomspace(1e-2, end, 400)])
    path = theory.gradient_flow(MANY, end, model="full", times=clock)
    landscape = theory.landscape_of(MANY, model="full")
    return path, -np.array([landscape.gradient(*point) for point in path.points.tolist()])


def loads(path):
    """What the box bounds, on an integrated flow."""
    points, n = path.points, MANY

    def moved(values):
        return float(np.abs(np.diff(values)).sum())

    joint, four = points[:, 16] + points[:, 17], -points[:, 18]
    gamma, gamma_4 = laws.quick_output(np.minimum(path.t / n, 200.0), "last")
    apart = joint - 2 * gamma, four + gamma_4
    powers = {"beta_7": 2, "beta_8": 1, "beta_10": 1, "beta_12": 1}
    return box.Box(
        theta=path.t[-1] * LOG / n**2,
        low=max(0.0, -float(points[:, 2].min())),
        alpha_1=n * moved(points[:, 0]),
        gamma_1=n * float(np.abs(points[:, 15]).max()),
        apart=moved(points[:, 17] - points[:, 16]),
        joint_above=n / LOG * float(apart[0].max()), joint_below=-n / LOG * float(apart[0].min()),
        four_above=n / LOG * float(apart[1].max()), four_below=-n / LOG * float(apart[1].min()),
        **{name: n ** powers.get(name, 0) * moved(points[:, i]) for name, i in PLACES.items()},
    )  # fmt: skip


@pytest.mark.usefixtures("unchecked")
def test_the_box_holds_the_flow(followed):
    bounds, _, _ = every_large.close(MANY)
    result = loads(followed[0])
    for name, bound, load in zip(bounds._fields, bounds, result, strict=True):
        assert load <= bound + 1e-12, name
    assert result.beta_2 > bounds.beta_2 / 2  # no bound for its own sake
    assert result.four_above > bounds.four_above / 2.5


@pytest.mark.usefixtures("unchecked")
def test_the_law_holds_with_its_error_and_no_other_law(followed):
    low, high = with_numbers.law_bounds(MANY).rest
    law, end = laws.log_law("alpha", "last"), followed[0].t[-1]

    def rest(leading, following):
        return LOG**2 * (end * LOG / MANY**2 - leading - following / LOG)

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
def test_validated_steps_hold_the_times_and_notice_a_wrong_push(monkeypatch):
    result, times = validated.order((20, 20), 0.01), theory.emergence_times(20, model="full")
    assert result.alpha[0] < times.alpha / 20 < result.alpha[1]
    assert result.gamma[0] < times.gamma / 20 < result.gamma[1]
    assert result.alpha[1] < 1.1 * result.alpha[0]
    assert result.holds
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
    refused(ValueError, "21 pairs", with_numbers.law_bounds, 20)
    refused(ArithmeticError, None, with_numbers.law_bounds, 60)


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


def some_state(stream):
    """Small values of what stays small, and the output near a place of its path."""
    point = np.zeros(19)
    for place, size in SCORES.items():
        point[place] = stream.uniform(-size, size)
    point[11], point[13] = point[9], point[10]
    point[2], point[4] = stream.uniform(0, 0.5), stream.uniform(0, 0.3)
    clock = np.array([stream.exponential(2.0)])
    gamma, gamma_4 = (float(part[0]) for part in laws.quick_output(clock, "last"))
    joint, four = np.array([2 * gamma, -gamma_4]) + stream.uniform(-0.3, 0.3, 2) * LOG / MANY
    apart = stream.uniform(-0.05, 0.05)
    point[15:] = stream.uniform(-1, 1) / MANY, (joint - apart) / 2, (joint + apart) / 2, -four
    return point, 2 * gamma, -gamma_4


def bounds_of(point, joint, four):
    """A box that is this state alone, for a time of N, and what follows from it."""
    above = MANY / LOG * (point[16] + point[17] - joint), MANY / LOG * (-point[18] - four)
    held = box.Box(
        theta=LOG / MANY, low=0.0, alpha_1=MANY * abs(point[0]), beta_1=abs(point[3]),
        beta_2=point[4], beta_7=MANY**2 * abs(point[9]), beta_8=MANY * abs(point[10]),
        beta_10=MANY * abs(point[12]), beta_12=MANY * abs(point[14]),
        gamma_1=MANY * abs(point[15]), apart=abs(point[17] - point[16]),
        joint_above=max(above[0], 0.0), joint_below=max(-above[0], 0.0),
        four_above=max(above[1], 0.0), four_below=max(-above[1], 0.0),
    )  # fmt: skip
    held, scale = box.Box(*map(arb, held)), box.scales(MANY)
    scale = scale._replace(x=scale.most, rare=1 / scale.log, mixed=scale.log * scale.most)
    attention = every_large.attention_bounds(held, arb(point[2]), scale)
    output = every_large.output_bounds(held, scale, attention)
    pushed = every_large.push_bounds(held, scale, attention, output)
    reached = every_large.consequences(held, point[2], scale)[1]
    known = attention._replace(p=overlaps(point))
    return attention, output, pushed, reached, every_large.output_bounds(held, scale, known)


def overlaps(point):
    """Attention and inner products of one state, as series around all x up to 1/N."""
    item, label, first = raised_scores(point)[3].tolist()
    x = arb_series([arb(0).union(1 / arb(MANY)), 1])
    near, label, row = (
        arb(size)
        for size in (
            MANY * math.expm1(point[0]), MANY * (label - 1), MANY**2 * (first - 1)
        )
    )  # fmt: skip
    paid = twelve.sums(MANY, arb(point[2])).first / MANY
    return twelve.attention_and_overlaps(
        x,
        (1 + x * near, arb_series([arb(point[2]).exp()])),
        (arb_series([arb(item)]), 1 + x * label, 1 + x * x * row),
        arb_series([0]),
        arb_series([paid]),
    )


def used(value, bound):
    """How much of a bound a value takes up."""
    return abs(value) / float(bound.upper())


def shares(point, joint, four):
    """How much of each bound this state takes up, by the gradient of all nineteen."""
    attention, output, pushed, reached, exact = bounds_of(point, joint, four)
    down = -np.array(theory.landscape_of(MANY, model="full").gradient(*point))
    both, h = point[16] + point[17], -point[18]
    force = MANY * (down[16] + down[17]) + 2 * both - 2 * h - 2
    other = -MANY * down[18] - both + 2 * h

    def allowed(result):
        """The bounds on both forces, from how far constant forces of this size would lead."""
        above, below = result.above, result.below
        on_joint, on_four = above if force > 0 else below, above if other > 0 else below
        return 2 * (on_joint[0] - on_joint[1]), 2 * on_four[1] - on_four[0]

    (on_joint, on_four), (known_joint, known_four) = allowed(output), allowed(exact)
    turn = abs(point[17] * down[17] + point[18] * down[18]) / 2
    fast = math.exp(point[2]) / (4 * MANY**2)
    strongest = reached.strength[0] * (output.most_three + pushed.small_push + arb(turn))
    u, w, ahead, raised = raised_scores(point)
    score = point[4] + 2 * point[10] * ahead
    norm = 2 * MANY - 3 + raised.sum()
    item, label, first = MANY * raised / norm
    return {
        "force on G": used(force * MANY / LOG, on_joint),
        "force on h": used(other * MANY / LOG, on_four),
        "force on G, attention known": used(force * MANY / LOG, known_joint),
        "force on h, attention known": used(other * MANY / LOG, known_four),
        "gamma_1": used(MANY * (point[15] + down[15] / 2), pushed.goal),
        "beta_2": used(down[4] / fast, strongest),
        "each": used(MANY * u, attention.each),
        "asked": used(MANY * math.exp(point[0]) * u, attention.asked),
        "ahead": used(MANY**2 * ahead, attention.ahead),
        "share": used(MANY * w, attention.share),
        "score": used(score, attention.score),
        "item": used(item, attention.on_item), "label": used(label, attention.on_label),
        "first": used(first, attention.on_first),
        "norm": float(attention.norm) * MANY / norm,
        "label raised": used(MANY * (raised[1] - 1), attention.label),
        "row 0 raised": used(MANY**2 * (raised[2] - 1), attention.row),
    }  # fmt: skip


@pytest.mark.usefixtures("unchecked")
def test_each_bound_holds_in_every_state_and_nearly_fails_in_some():
    stream = np.random.default_rng(0)
    result = [shares(*some_state(stream)) for _ in range(60)]
    largest = {name: max(one[name] for one in result) for name in result[0]}
    assert all(share <= 1 + 1e-12 for share in largest.values()), largest
    loose = {"ahead": 0.25} | dict.fromkeys([name for name in largest if "force" in name], 0.6)
    assert all(share > loose.get(name, 0.8) for name, share in largest.items()), largest


@pytest.mark.usefixtures("unchecked")
def test_a_larger_output_shrinks_no_bound():
    output = bounds_of(*some_state(np.random.default_rng(0)))[1]
    held, _, scale = every_large.close(MANY)
    held = box.Box(*map(arb, held))
    attention = every_large.attention_bounds(held, arb(0.5), scale)
    for name in output._fields[3:]:
        larger = (output, output._replace(**{name: 2 * getattr(output, name)}))
        before, after = (every_large.push_bounds(held, scale, attention, one) for one in larger)
        assert all(x.upper() <= y.upper() for x, y in zip(before, after, strict=True)), name


@pytest.mark.usefixtures("unchecked")
def test_integrals_along_the_flow_are_within_what_the_box_allows(followed):
    path, down = followed
    held, reached, scale = every_large.close(MANY)
    held = box.Box(*map(arb, held))
    attention = every_large.attention_bounds(held, arb(0.5), scale)
    output = every_large.output_bounds(held, scale, attention)
    pushed = every_large.push_bounds(held, scale, attention, output)
    grown, points = np.exp(path.points[:, 2]), path.points
    w, u = grown / (2 * MANY - 2 + grown), 1 / (2 * MANY - 1 + np.exp(points[:, 0]))

    def moved(speed):
        return float(np.trapezoid(np.abs(speed), path.t))

    taken = {
        "at_item": used(MANY * moved(down[:, 15] / 2), pushed.at_item),
        "pushed_item": used(moved(down[:, 3]), pushed.pushed_item),
        "pushed_label": used(moved(down[:, 4] / w) / MANY, pushed.pushed_label),
        "pushed_first": used(moved(down[:, 14] / u), pushed.pushed_first),
        "turned": used(moved(down[:, 17] - down[:, 16]) / 2, pushed.turned),
        "moves_joint": used(moved(down[:, 16] + down[:, 17]), output.moves_joint),
        "moves_four": used(moved(down[:, 18]), output.moves_four),
        "turning": used(
            moved(points[:, 17] * down[:, 17] + points[:, 18] * down[:, 18]) / 2, output.turning
        ),
        "goal": used(MANY * np.abs(points[:, 15] + down[:, 15] / 2).max(), pushed.goal),
        "sigma": used(LOG * moved(grown) / (4 * MANY**2), reached.sigma),
    }  # fmt: skip
    assert all(share <= 1 for share in taken.values()), taken
    # wide are those that take a distance from the path at its largest for all of the time
    wide = {"at_item", "moves_joint", "moves_four", "turning"}
    assert all(share > (0.02 if name in wide else 0.15) for name, share in taken.items()), taken
