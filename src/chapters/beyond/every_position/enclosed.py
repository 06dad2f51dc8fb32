"""Rigorous bounds of emergence times with a loss at every position, for every N from some N0 on.

There are three parameters, queries ask for the last pair of each prefix, and the clock is t/N. The
independent variable is beta: alpha is enclosed along it, and the time that passes is the step over
the enclosed speed of beta. Sums over prefixes run to N0 one by one; longer prefixes add something
between zero and a bound. gamma is between two curves that depend only on H_N.
"""

import math
from typing import NamedTuple

from flint import arb, ctx

from emergence.running.memo import kept

PRECISION = 64  # bits; the steps, not rounding, decide the width
NEAR = 0.9  # of gamma's floor at late times, from which on it is taken cell by cell
FURTHEST = 2  # a beta by which alpha has emerged, or the bounds are too wide


class Enclosed(NamedTuple):
    """Bounds (low, high) of T/N for every N >= `least`."""

    least: int  # N0
    alpha: tuple[float, float]  # of alpha_3, threshold 1/2
    beta: tuple[float, float]  # of beta_2


class _Limits(NamedTuple):
    """Bounds on gamma: it is at most `top`, and at least `lag` times 1 - e^(-rate t/N)."""

    top: arb
    lag: arb
    rate: arb  # infinite where H_N is


@kept
def enclose_every(least: int, *, cells: int = 200, many: bool = False) -> Enclosed:
    """Bounds that hold for every N >= `least`, rounded outwards.

    There are `cells` steps of beta up to 1. With `many`, H_N counts as infinite, for bounds of the
    limits of T/N. Raises ArithmeticError where the bounds do not close.
    """
    ctx.prec = PRECISION
    alpha, low, high = arb(0), arb(0), arb(0)  # low and high: time at least and at most
    area: arb | None = arb(0)  # under gamma's floor, at most, as long as that is low
    bounds_of: dict[str, list[float]] = {"alpha": [], "beta": []}
    for cell in range(FURTHEST * cells):
        here, right = arb(cell) / cells, arb(cell + 1) / cells
        beta = here.union(right)
        over = alpha.union(alpha + beta / cells)  # the slope of alpha over beta is below beta
        limits = _limits(least, over.upper(), right, many)
        floor = _floor(limits, low)
        push = _push(least, over, beta, floor.union(limits.top), limits.top)
        if not (push.slope < right and push.least > 0 and limits.top * (right / 2).tanh() < 1):
            raise ArithmeticError(f"alpha may outgrow what was taken, or beta fall, N0 = {least}")
        after, earlier = alpha + push.slope / cells, low
        low += 1 / (cells * push.most)
        if area is not None:
            area += 1 / (cells * push.least)
            high = area / limits.lag + (0 if many else 1 / limits.rate)
            area = None if floor > NEAR * limits.lag else area
        else:
            high += 1 / (cells * floor * push.least)
        for name, reached in (("alpha", after), ("beta", right)):
            bounds = bounds_of[name]
            if not bounds and reached.upper() >= 0.5:
                bounds.append(math.nextafter(float(earlier.lower()), 0))
            if len(bounds) == 1 and reached.lower() >= 0.5:
                bounds.append(math.nextafter(float(high.upper()), math.inf))
        alpha = after
        if all(len(bounds) == 2 for bounds in bounds_of.values()):
            pairs = {name: (low, high) for name, (low, high) in bounds_of.items()}
            return Enclosed(least, **pairs)
    raise ArithmeticError(f"alpha has not emerged for certain at beta = {FURTHEST}, N0 = {least}")


class _Push(NamedTuple):
    """What pushes in a cell: speeds of beta, and the slope of alpha over beta."""

    least: arb  # the speed of beta over gamma, at least
    most: arb  # the speed of beta, at most
    slope: arb


def _push(least: int, alpha: arb, beta: arb, gamma: arb, top: arb) -> _Push:
    shrunk, unity = (-alpha).exp(), arb(1)
    slow, fast, up, side = arb(0), arb(0), arb(0), arb(0)
    for n in range(1, least + 1):
        share = 1 / (1 + (2 * n - 2) * shrunk)  # the share of the item in its label
        rivals = (2 * n - 1) * (-beta * share).exp()
        answer = 1 / (1 + rivals)
        # (u - 1)/(u + r): how far the answer's attention is above each other row's
        ahead = (1 - (-beta * share).exp()) * answer
        base = 2 * answer * (1 - answer) * share
        slow += base * (unity - top * ahead)
        fast += base * _most(top, ahead)
        weight = base * (unity - gamma * ahead)
        up += weight
        side += weight * (1 - share)
    tail = _tail(least, alpha, beta)
    beyond = arb(0).union(tail)  # and to alpha's push over beta, at most as much
    slope = beta * ((side + beyond) / (up + beyond))
    return _Push(slow.lower(), (fast + top * tail).upper(), slope)


def _most(top: arb, ahead: arb) -> arb:
    """At least gamma (1 - gamma d) for every gamma up to `top`; it is greatest at 1/2d."""
    if 2 * top * ahead < 1:
        return top * (1 - top * ahead)
    return 1 / (4 * ahead.lower())


def _tail(least: int, alpha: arb, beta: arb) -> arb:
    """At most what prefixes beyond N0 add to beta's push for each unit of gamma."""
    grown = alpha.exp()
    return ((beta * grown / (2 * least)).exp() * grown / (2 * least)).upper()


def _limits(least: int, alpha: arb, beta: arb, many: bool) -> _Limits:
    """Bounds on gamma as long as alpha and beta are below these."""
    if many:
        return _Limits(arb(1), arb(1), arb("inf"))
    harmonic = sum((arb(1) / n for n in range(1, least + 1)), arb(0))
    answers = squares = arb(0)
    for n in range(1, least + 1):
        share = 1 / (1 + (2 * n - 2) * (-alpha).exp())
        raised, rivals = (beta * share).exp(), 2 * n - 1
        answers += (raised - 1) * rivals / (2 * n * (raised + rivals))
        squares += rivals * (raised - 1) ** 2 / (2 * n * (raised + rivals) ** 2)
    late = beta * alpha.exp() * (beta * alpha.exp() / (2 * least)).exp()
    answers += late / (4 * least)
    squares += late**2 / (16 * least**3)
    rate = harmonic + 2 * squares
    return _Limits((1 + 2 * answers / harmonic).upper(), (harmonic / rate).lower(), rate)


def _floor(limits: _Limits, time: arb) -> arb:
    """At least gamma after at least this time."""
    if not limits.rate.is_finite():
        return limits.lag
    harmonic = (limits.rate * limits.lag).lower()  # H_N itself, the slowest
    return (limits.lag * (1 - (-harmonic * time.lower()).exp())).lower()
