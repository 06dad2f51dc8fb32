"""The reduced flow of App. B.4 in as many digits as it takes, by collocation.

No first integral, no slow manifold and no formula for the time: alpha, gamma and time are followed
over beta from the printed speeds, by Radau's method of many stages.
"""

import math
from typing import NamedTuple

from flint import arb, arb_mat, ctx, fmpz_poly
from scipy.integrate import solve_ivp

RISEN = 60.0  # time in units of N in which gamma comes to its goal
WIDTH = 0.1  # of a step of beta


class Point(NamedTuple):
    time: arb
    alpha: arb
    beta: arb
    gamma: arb


def collapse(n_pairs: int, stages: int) -> tuple[arb, float]:
    """When the loss is 1/2: the time at which beta g is about 1, and what follows over N."""
    ctx.prec = 100 + round(2 * math.log2(n_pairs))
    point = _until_scores_count(n_pairs, stages)
    count = float(n_pairs)

    def slope(beta, state):
        alpha, gamma, _ = state
        g, p, h, norm = _attention(alpha, beta, count, math)
        speed = 2 * (1 - p) * p * g * gamma * (1 - gamma * h)
        return beta * (1 - g), 2 * norm * (p / norm - gamma) / speed, 1 / (count * speed)

    def half(beta, state):
        _, p, _, norm = _attention(state[0], beta, count, math)
        return state[1] ** 2 * norm - 2 * state[1] * p + 0.5

    half.terminal = True
    start = float(point.beta)
    run = solve_ivp(
        slope, (start, start + 400), (float(point.alpha), float(point.gamma), 0.0),
        method="LSODA", rtol=1e-12, atol=1e-13, events=half,
    )  # fmt: skip
    assert run.status == 1
    return point.time, float(run.y[2, -1])


def _until_scores_count(n_pairs: int, stages: int) -> Point:
    point, (nodes, weights) = _risen(n_pairs), _radau(stages)
    while True:
        following = _step(point, n_pairs, nodes, weights)
        if following.beta / (1 + (2 * n_pairs - 2) * (-following.alpha).exp()) > 1:
            return point
        point = following


def _risen(n_pairs: int) -> Point:
    """Where gamma has come to its goal; beta is so small there that floats have the time."""
    count = float(n_pairs)

    def slope(_, state):
        alpha, beta, gamma = state
        g, p, h, norm = _attention(alpha, beta, count, math)
        speed = 2 * (1 - p) * p * g * gamma * (1 - gamma * h) * count
        return beta * (1 - g) * speed, speed, 2 * count * (p - gamma * norm)

    run = solve_ivp(
        slope, (0, RISEN), (0, 0, 0), method="DOP853", rtol=1e-12,
        atol=(1e-16 / count**2, 1e-14 / count, 1e-14),
    )  # fmt: skip
    return Point(arb(RISEN) * n_pairs, *map(arb, run.y[:, -1]))


def _attention(alpha, beta, count, functions):
    """The retrieval, p, p - o and p^2 + (2N - 1) o^2 as App. B.4 has them."""
    g = 1 / (1 + (2 * count - 2) * functions.exp(-alpha))
    signal = functions.exp(beta * g)
    o = 1 / (signal + 2 * count - 1)
    norm = (signal**2 + 2 * count - 1) * o**2
    return g, signal * o, functions.expm1(beta * g) * o, norm


class _Arb:
    exp = staticmethod(lambda x: x.exp())
    expm1 = staticmethod(lambda x: x.expm1())


def _step(point: Point, n_pairs: int, nodes: list[arb], weights: list[list[arb]]) -> Point:
    """One step of beta: alpha by repeated substitution, gamma by Newton's method."""
    width, enough = arb(WIDTH), 2.0 ** (20 - ctx.prec)
    betas = [(point.beta + width * node).mid() for node in nodes]
    alphas, change = [point.alpha] * len(nodes), 1.0
    while change > enough:
        speeds = [
            b * (1 - _attention(a, b, n_pairs, _Arb)[0]) for a, b in zip(alphas, betas, strict=True)
        ]
        found = [(point.alpha + width * _dot(row, speeds)).mid() for row in weights]
        change = max(abs(float(x - y)) for x, y in zip(found, alphas, strict=True))
        alphas = found
    places = [_attention(a, b, n_pairs, _Arb) for a, b in zip(alphas, betas, strict=True)]
    gammas, change = [point.gamma] * len(nodes), 1.0
    while change > enough**0.5:  # Newton squares it once more
        gammas, change = _newton(point.gamma, gammas, places, width, weights)
    gammas, _ = _newton(point.gamma, gammas, places, width, weights)
    waits = [1 / _beta_speed(place, gamma)[0] for place, gamma in zip(places, gammas, strict=True)]
    time = (point.time + width * _dot(weights[-1], waits)).mid()
    return Point(time, alphas[-1], betas[-1], gammas[-1])


def _beta_speed(place, gamma):
    """d beta/dt and its derivative by gamma."""
    g, p, h, _ = place
    push = 2 * (1 - p) * p * g
    return push * gamma * (1 - gamma * h), push * (1 - 2 * gamma * h)


def _newton(start, gammas, places, width, weights):
    """The next guess of gamma at the stages, and by how much it differs."""
    slopes, turns = [], []
    for place, gamma in zip(places, gammas, strict=True):
        _, p, _, norm = place
        speed, turn = _beta_speed(place, gamma)
        slope = 2 * (p - gamma * norm) / speed
        slopes.append(slope.mid())
        turns.append(((-2 * norm - slope * turn) / speed).mid())
    count = range(len(gammas))
    left = [[(gammas[i] - start - width * _dot(weights[i], slopes)).mid()] for i in count]
    matrix = [[((i == j) - width * weights[i][j] * turns[j]).mid() for j in count] for i in count]
    moved = arb_mat(matrix).solve(arb_mat(left))
    found = [(gammas[i] - moved[i, 0]).mid() for i in count]
    return found, max(abs(float(moved[i, 0])) for i in count)


def _dot(row, values):
    return sum((x * y for x, y in zip(row, values, strict=True)), arb(0))


def _radau(stages: int) -> tuple[list[arb], list[list[arb]]]:
    """Nodes and weights of Radau IIA, from its polynomial and the moments."""
    one, two = _legendre(stages), [*_legendre(stages - 1), 0]
    roots = fmpz_poly([a - b for a, b in zip(one, two, strict=True)]).complex_roots()
    nodes = sorted((root.real.mid() for root, _ in roots), key=float)
    powers = arb_mat([[node**k for node in nodes] for k in range(stages)])
    sums = arb_mat([[node ** (k + 1) / (k + 1) for node in nodes] for k in range(stages)])
    solved = powers.solve(sums)
    return nodes, [[solved[j, i].mid() for j in range(stages)] for i in range(stages)]


def _legendre(degree: int) -> list[int]:
    """Coefficients of Legendre's polynomial on [0, 1]."""
    return [
        (-1) ** (degree + k) * math.comb(degree, k) * math.comb(degree + k, k)
        for k in range(degree + 1)
    ]
