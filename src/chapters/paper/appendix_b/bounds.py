"""Bounds in place of the O-terms of App. B.6-B.8, each proved for all N from some N0 on.

Speeds are multiplied by the power of N that the paper gives them and written in x = 1/N, so that
"for all N >= N0" is "for all x in [0, 1/N0]". Interval arithmetic (Arb, through python-flint)
then proves an inequality on a whole box of alpha, beta, gamma and x, the limit x = 0 included.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx

from emergence.proofs.intervals import Bounds

Interval = tuple[float, float]
Box = dict[str, Interval]
Point = dict[str, Any]  # arb balls or floats


class Inequality(NamedTuple):
    """A printed estimate with explicit constants: `margin` > 0 on the box, for N >= N0."""

    place: str
    printed: str  # the estimate in the paper, LaTeX
    explicit: str  # what is proved instead, LaTeX
    box: Box  # alpha, beta, gamma
    margin: Callable[[Point], Any]


def exp(value):
    """The exponential of a ball or of an array."""
    return value.exp() if isinstance(value, arb) else np.exp(value)


def signal_parts(p: Point):
    """r = e^alpha/(e^alpha + 2N - 2), s = exp(beta r), and (s + 2N - 1)/N."""
    grown = exp(p["alpha"])
    retrieved = grown * p["x"] / (grown * p["x"] + 2 - 2 * p["x"])
    s = exp(p["beta"] * retrieved)
    return retrieved, s, s * p["x"] + 2 - p["x"]


def gamma_speed(p: Point):
    """N dgamma/dt (App. B.5)."""
    _, s, d = signal_parts(p)
    return 2 * s / d - 2 * p["gamma"] * (s * s * p["x"] + 2 - p["x"]) / (d * d)


def gamma_brake(p: Point):
    """1 - gamma (s - 1)/(N (s + 2N - 1)), the sign of N dgamma/dt - (1 - gamma).

    With q = N(s - 1) and d = (s + 2N - 1)/N, N dgamma/dt = 1 - gamma + x q (2 - x)/d times this.
    """
    _, _, d = signal_parts(p)
    return 1 - p["gamma"] * p["x"] * p["x"] * excess_signal(p) / d


def gamma_excess(p: Point):
    """N (N dgamma/dt - (1 - gamma)), which stays finite as N grows."""
    _, _, d = signal_parts(p)
    return excess_signal(p) * (2 - p["x"]) / d * gamma_brake(p)


def beta_speed(p: Point):
    """N^2 dbeta/dt (App. B.5)."""
    _, s, d = signal_parts(p)
    grown = exp(p["alpha"])
    front = 2 * (2 - p["x"]) * s * grown / (grown * p["x"] + 2 - 2 * p["x"])
    return front * p["gamma"] / (d * d) * (1 - p["x"] * p["gamma"] * (s - 1) / d)


def alpha_speed(p: Point):
    """N^2 dalpha/dt, by the ratio of App. B.7.3."""
    return beta_speed(p) * speed_ratio(p)


def speed_ratio(p: Point):
    """(dalpha/dt) / (dbeta/dt) (App. B.7.3)."""
    grown = exp(p["alpha"])
    return p["beta"] * (2 - 2 * p["x"]) / (grown * p["x"] + 2 - 2 * p["x"])


def excess_signal(p: Point):
    """N (s - 1), which stays finite as N grows: (e^u - 1)/u lies between 1 and e^u."""
    grown = exp(p["alpha"])
    rate = p["beta"] * grown / (grown * p["x"] + 2 - 2 * p["x"])
    u = rate * p["x"]
    if isinstance(u, arb):
        return rate * arb(1).union(u.exp())
    return rate * np.divide(np.expm1(u), u, where=u != 0, out=np.ones_like(u))


def prove(inequality: Inequality, n_from: int, *, most_boxes: int = 20_000) -> bool:
    """Whether the margin is positive on the box for all N >= n_from: proved, or refuted at a point.

    Raises ArithmeticError if neither is reached within `most_boxes` boxes.
    """
    if any(fails_at(inequality, n_from * factor) for factor in (1, 8, 64)):
        return False
    ctx.prec = 64
    whole = {**inequality.box, "x": (0.0, float(np.nextafter(1 / n_from, 1)))}
    stack = [whole]
    for _ in range(most_boxes):
        if not stack:
            return True
        box = stack.pop()
        if inequality.margin({name: Bounds(*ends).ball for name, ends in box.items()}) > 0:
            continue
        middle = {name: Bounds(*(sum(ends) / 2,) * 2).ball for name, ends in box.items()}
        if inequality.margin(middle) <= 0:
            return False
        stack.extend(halves(box, whole))
    raise ArithmeticError(f"{inequality.place}: undecided after {most_boxes} boxes")


def least_n(inequality: Inequality, *, largest: int = 1024) -> tuple[int | float, bool]:
    """The least N0 >= 2 from which the inequality is proved, and whether it is sharp.

    Sharp means that it fails at N0 - 1, or that N0 is 2. N0 is infinity if nothing is proved.
    """
    failing = [n for n in range(2, largest + 1) if fails_at(inequality, n)]
    first = failing[-1] + 1 if failing else 2
    for n_from in range(first, first + 64):
        try:
            if prove(inequality, n_from):
                return n_from, n_from == first
        except ArithmeticError:
            continue  # too close to equality for the number of boxes: ask a little less
    return math.inf, False


def fails_at(inequality: Inequality, n_pairs: int) -> bool:
    """Whether the margin is not positive somewhere on a grid of the box, at this very N."""
    axes = (np.linspace(low, high, 13) for low, high in inequality.box.values())
    grids = np.meshgrid(*axes, np.array(1 / n_pairs))
    return bool(
        (inequality.margin(dict(zip((*inequality.box, "x"), grids, strict=True))) <= 0).any()
    )


def halves(box: Box, whole: Box) -> Iterator[Box]:
    """The box cut in two across its side that is longest relative to the whole."""
    widths = {
        name: (high - low) / (whole[name][1] - whole[name][0])
        for name, (low, high) in box.items()
        if high > low
    }
    name = max(widths, key=widths.__getitem__)
    low, high = box[name]
    for part in ((low, (low + high) / 2), ((low + high) / 2, high)):
        yield {**box, name: part}
