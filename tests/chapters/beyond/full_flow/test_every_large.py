"""The box for the last pair: bounds hold in sampled states and along a flow, and are not idle."""

import math

import numpy as np
import pytest
from flint import arb, arb_series

from chapters.beyond.full_flow import box, every_large, laws, twelve
from emergence import theory

MANY = 300  # the least N of the box
LOG = math.log(MANY)
SCORES = {0: 2 / MANY, 3: 1.5, 9: 1 / MANY**2, 10: 0.5 / MANY, 12: 0.5 / MANY, 14: 0.5 / MANY}


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
    reached = every_large._slow(held, arb(point[2]), scale, attention, output, pushed)[1]
    known = attention._replace(p=overlaps(point))
    return attention, output, pushed, reached, every_large.output_bounds(held, scale, known)


def raised_scores(point):
    """The exponentials of the scores of the answer's item and label and of row 0."""
    u = 1 / (2 * MANY - 1 + math.exp(point[0]))
    w = math.exp(point[2]) / (2 * MANY - 2 + math.exp(point[2]))
    ahead = math.expm1(point[0]) * u
    scores = (
        point[3] + 2 * point[9] * ahead,
        point[12] * ahead + (point[4] + 2 * point[10] * ahead) * w,
        -(2 * point[10] + point[14]) * u,
    )
    return u, w, ahead, np.exp(scores)


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


@pytest.fixture(scope="module")
def followed():
    """The flow at the least N of the box until alpha_3 is one half, and its speeds."""
    end = theory.emergence_times(MANY, model="full").alpha
    clock = np.concatenate([[0], np.geomspace(1e-2, end, 400)])
    path = theory.gradient_flow(MANY, end, model="full", times=clock)
    landscape = theory.landscape_of(MANY, model="full")
    return path, -np.array([landscape.gradient(*point) for point in path.points.tolist()])


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
