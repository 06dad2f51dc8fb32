"""The box for the last pair: bounds hold in sampled states and along a flow, and are not idle."""

import math

import numpy as np
import pytest
from flint import arb

from chapters.beyond.full_flow import box, every_large, laws
from chapters.beyond.full_flow.every_large import attentions, outputs, pushes, slow
from emergence import theory

MANY = 300  # the least N of the box
LOG = math.log(MANY)
SCORES = {0: 2 / MANY, 3: 0.5, 9: 1 / MANY**2, 10: 0.5 / MANY, 12: 0.5 / MANY, 14: 0.5 / MANY}


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
    attention = attentions.attention_bounds(held, arb(point[2]), scale)
    output = outputs.output_bounds(held, scale, attention)
    pushed = pushes.push_bounds(held, scale, attention, output)
    reached = slow._slow(held, arb(point[2]), scale, attention, output, pushed)[1]
    return attention, output, pushed, reached


def used(value, bound):
    """How much of a bound a value takes up."""
    return abs(value) / float(bound.upper())


def shares(point, joint, four):
    """How much of each bound this state takes up, by the gradient of all nineteen."""
    attention, output, pushed, reached = bounds_of(point, joint, four)
    down = -np.array(theory.landscape_of(MANY, model="full").gradient(*point))
    both, h = point[16] + point[17], -point[18]
    force = MANY * (down[16] + down[17]) + 2 * both - 2 * h - 2
    other = -MANY * down[18] - both + 2 * h
    (joint_up, four_up), (joint_down, four_down) = (
        (2 * (side[0] - side[1]), 2 * side[1] - side[0]) for side in (output.above, output.below)
    )
    turn = abs(point[17] * down[17] + point[18] * down[18]) / 2
    fast = math.exp(point[2]) / (4 * MANY**2)
    strongest = reached.strength[0] * (output.most_three + pushed.small_push + arb(turn))
    u = 1 / (2 * MANY - 1 + math.exp(point[0]))
    w = math.exp(point[2]) / (2 * MANY - 2 + math.exp(point[2]))
    ahead = math.expm1(point[0]) * u
    score = point[4] + 2 * point[10] * ahead
    raised = np.exp([
        point[3] + 2 * point[9] * ahead, point[12] * ahead + score * w,
        -(2 * point[10] + point[14]) * u,
    ])  # fmt: skip
    norm = 2 * MANY - 3 + raised.sum()
    item, label, first = MANY * raised / norm
    return {
        "force on G": used(force * MANY / LOG, joint_up if force > 0 else joint_down),
        "force on h": used(other * MANY / LOG, four_up if other > 0 else four_down),
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
    loose = {"force on G", "force on h", "gamma_1", "ahead"}
    assert all(share > (0.15 if name in loose else 0.8) for name, share in largest.items()), largest


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
    attention = attentions.attention_bounds(held, arb(0.5), scale)
    output = outputs.output_bounds(held, scale, attention)
    pushed = pushes.push_bounds(held, scale, attention, output)
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
    assert min(taken.values()) > 0.1, taken
    assert sorted(taken.values())[len(taken) // 2] > 0.4, taken
