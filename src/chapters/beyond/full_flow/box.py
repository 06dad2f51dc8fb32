"""The box of bounds in the proof for every large N, its scales, and the effect of recency.

The query asks for the last pair; x = 1/N and l = log N.
"""

from typing import Any, NamedTuple

from flint import acb, arb, ctx

PRECISION = 80
WAIT = "1.5", "2.875", "2.5"  # integrals of 1 - gamma, 1 - h^2 and t/N (1 - gamma) on their paths
Bound = Any  # a float in the search for a box, its ball in what follows from it


class Box(NamedTuple):
    """Bounds while alpha_3 is below its threshold; l is log N, and T the time spent."""

    theta: Bound  # T l/N^2
    low: Bound  # -alpha_3, and all that alpha_3 ever loses
    alpha_1: Bound  # N times all that alpha_1 moves
    beta_1: Bound  # all that beta_1 moves
    beta_2: Bound  # all that beta_2 moves
    beta_7: Bound  # N^2 times all that beta_7 moves
    beta_8: Bound  # N times all that beta_8 moves
    beta_10: Bound  # N times all that beta_10 moves
    beta_12: Bound  # N times all that beta_12 moves
    gamma_1: Bound  # N |gamma_1|
    apart: Bound  # all that gamma_3 - gamma_2 moves
    joint_above: Bound  # N/l times what gamma_2 + gamma_3 is above its path for many pairs
    joint_below: Bound  # N/l times what it is below
    four_above: Bound  # N/l times what h = -gamma_4 is above its own
    four_below: Bound  # N/l times what it is below


class Scales(NamedTuple):
    """Balls for all N >= N0, and their largest values."""

    x: arb
    rare: arb  # 1/log N
    mixed: arb  # log N/N
    most: arb  # 1/N0
    log: arb  # log N0


def scales(least: int) -> Scales:
    """For N0 >= 21, so that log^3 N/N falls."""
    if least < 21:
        raise ValueError(f"the bounds hold from 21 pairs on, got {least}")
    ctx.prec, ctx.cap = PRECISION, 2
    log, most = arb(least).log(), 1 / arb(least)
    return Scales(arb(0).union(most), arb(0).union(1 / log), arb(0).union(log * most), most, log)


def excess(alpha: arb) -> arb:
    """What the sum behind `push` is beyond log N for N to infinity; it falls with alpha."""
    grown = alpha.exp()
    z = acb(1 + grown / 2)
    first, second = z.polygamma(1).real, z.polygamma(2).real
    return -z.digamma().real - (grown - arb(1) / 2) * first - grown * (grown - 1) / 8 * second


class Carried(NamedTuple):
    """Numbers that `follow` derives along the way; `push` is over log N."""

    push: tuple[arb, arb]  # least and largest
    grown: arb  # the largest e^alpha_3
    slack: arb  # N times what `push` is beyond its limit and log N
    norm: tuple[arb, arb]  # 4/(N norm)^2 of layer 2's attention, and N times its distance from 1
    four: arb  # the largest h
    area: arb  # N times the integral of the positive part of 1 - h^2 on t/N^2, at most
    three: arb  # how far gamma_3 is below its path for many pairs
    small: arb  # bounds the time integral of the small parts of `Push`, over N^2/l
    loss: arb  # bounds the time integral of the negative part of alpha_3's push
    strength: tuple[arb, arb]  # 2 (1 + ...) of beta_2's and of alpha_3's push by gamma_3
    score: arb  # the largest sum of beta_2 and its like
    offset: arb  # of beta_2, from the output's own speed, at most
    late: arb  # what beta_2 lacks at most, for gamma_3 was not there from the beginning
    sigma: arb  # l times the integral of e^alpha_3 dt/4N^2, at most
    answered: arb  # what the output's share of the answer, and less, takes from gamma_3's push
    theta: arb  # T l/N^2, at most
    joint_three: arb  # the largest gamma_3


def slow_time(top: arb, slack: arb, s: Scales, cells: int = 64) -> tuple[arb, arb]:
    """The integral of 4 e^-a/`push` over a up to `top`, times l, and its excess over the law.

    The law is 4 (1 - e^-top) minus the integral of 4 e^-a `excess` over l; the difference is taken
    times l^2.
    """
    total, beyond = arb(0), arb(0)
    ends = [excess(top * k / cells) for k in range(cells + 1)]
    for k in range(cells):
        weight = 4 * ((-top * k / cells).exp() - (-top * (k + 1) / cells).exp())
        more = ends[k].union(ends[k + 1]) + slack * s.x
        total += weight / (1 + more * s.rare)
        beyond += weight * (more * more / (1 + more * s.rare) - slack * s.mixed)
    return total, beyond


def upper(value: arb) -> arb:
    return arb(value.upper())


def lower(value: arb) -> arb:
    return arb(value.lower())


def both(value: arb) -> arb:
    """All between minus a bound and the bound."""
    return (-value).union(value)
