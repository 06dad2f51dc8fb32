"""The executed proof of Theorem 2: printed formulas derived, and estimates proved with numbers.

The inequalities of App. B.6-B.8 have explicit constants in place of O-terms, each proved for all N
from some N0 on. Speeds are multiplied by the power of N that the paper gives them and written in
x = 1/N, so that "for all N >= N0" is "for all x in [0, 1/N0]". Interval arithmetic (Arb, through
python-flint) then proves an inequality on a whole box of alpha, beta, gamma and x, the limit x = 0
included.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from flint import arb, ctx
from sympy import KroneckerDelta

from emergence.proofs.intervals import Bounds
from emergence.proofs.reduced import (
    ALPHA,
    BETA,
    GAMMA,
    N,
    S,
    derive_attention,
    derive_loss,
    rational,
)

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


def _bracket(p: Point):
    _, s, d = signal_parts(p)
    return 1 - p["x"] * p["gamma"] * (s - 1) / d


def beta_speed(p: Point):
    """N^2 dbeta/dt (App. B.5)."""
    _, s, d = signal_parts(p)
    grown = exp(p["alpha"])
    front = 2 * (2 - p["x"]) * s * grown / (grown * p["x"] + 2 - 2 * p["x"])
    return front * p["gamma"] / (d * d) * _bracket(p)


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


HALF = (0.0, 0.5)
FIRST: Box = {"alpha": HALF, "beta": HALF, "gamma": HALF}  # until gamma emerges, B.6
SECOND: Box = {"alpha": HALF, "beta": HALF, "gamma": (0.5, 1.5)}  # until beta emerges, B.7
THIRD: Box = {"alpha": HALF, "beta": (0.5, 20.0), "gamma": (0.5, 1.5)}  # until alpha emerges, B.8
EVERY: Box = {"alpha": HALF, "beta": (0.0, 20.0), "gamma": (0.0, 1.5)}  # all three phases
BETA_LOW, BETA_HIGH, ALPHA_LOW = 1 / 5, 3 / 2, 1 / 10  # N^2 dbeta/dt and N^2 dalpha/dt
ALPHA_LOW_AT_TWO = 1 / 12  # the same from N = 2 on, for beta up to BETA_EXACT
# e^alpha - 1 + (2N - 2) alpha = (N - 1) beta^2 along the flow: while alpha <= 1/2,
# beta^2 <= 1 + (sqrt(e) - 1)/(N - 1) <= sqrt(e) for every N >= 2
BETA_EXACT = math.e**0.25


def _with_gamma(box: Box, value: float) -> Box:
    return {**box, "gamma": (value, value)}


INEQUALITIES: dict[str, Inequality] = {
    "signal": Inequality(
        "B.6.1", r"s = 1 + O(1/N)", r"s \le 1 + 1/N", FIRST, lambda p: 1 - excess_signal(p)
    ),
    "gamma_lower": Inequality(
        "B.6.1", r"\dot\gamma \ge 1/2N + O(1/N^2)", r"\dot\gamma \ge (1-\gamma)/N \ge 1/2N",
        FIRST, gamma_brake,
    ),
    "gamma_upper": Inequality(
        "B.6.1", r"\dot\gamma \le 1/N + O(1/N^2)", r"\dot\gamma \le (1-\gamma)/N + 1/N^2",
        FIRST, lambda p: 1 - gamma_excess(p),
    ),
    "alpha_early": Inequality(
        "B.6.2", r"\dot\alpha = O(1/N^2)", r"\dot\alpha \le 1/4N^2",
        FIRST, lambda p: 1 / 4 - alpha_speed(p),
    ),
    "beta_early": Inequality(
        "B.6.2", r"\dot\beta = O(1/N^2)", r"\dot\beta \le 1/2N^2",
        FIRST, lambda p: 1 / 2 - beta_speed(p),
    ),
    "non_negative": Inequality(
        "B.6.3", r"\dot\alpha, \dot\beta \ge 0", r"\gamma(s-1) < s+2N-1", EVERY, _bracket
    ),
    "gamma_ceiling": Inequality(
        "B.7.1", r"\dot\gamma < 0 \text{ at } \gamma = 3/2", r"\dot\gamma < 0",
        _with_gamma(SECOND, 1.5), lambda p: -gamma_speed(p),
    ),
    "gamma_floor": Inequality(
        "B.7 (used, not shown)", r"\gamma \ge 1/2", r"\dot\gamma > 0 \text{ at } \gamma = 1/2",
        _with_gamma(SECOND, 0.5), gamma_speed,
    ),
    "beta_lower": Inequality(
        "B.7.2", r"\dot\beta = \Theta(1/N^2)", r"\dot\beta \ge 1/5N^2",
        SECOND, lambda p: beta_speed(p) - BETA_LOW,
    ),
    "beta_upper": Inequality(
        "B.7.2", r"\dot\beta = \Theta(1/N^2)", r"\dot\beta \le 3/2N^2",
        SECOND, lambda p: BETA_HIGH - beta_speed(p),
    ),
    "beta_faster": Inequality(
        "B.7.3", r"\dot\alpha < \dot\beta", r"\dot\alpha < \dot\beta",
        SECOND, lambda p: 1 - speed_ratio(p),
    ),
    "alpha_lower": Inequality(
        "B.8.1", r"\dot\alpha > 1/8N^2 + O(1/N^3)", r"\dot\alpha > 1/10N^2",
        THIRD, lambda p: alpha_speed(p) - ALPHA_LOW,
    ),
    "beta_late": Inequality(
        "B.8.2", r"\dot\beta < 3\sqrt e/4N^2 + O(1/N^3)", r"\dot\beta < 3/2N^2",
        THIRD, lambda p: BETA_HIGH - beta_speed(p),
    ),
    "gamma_ceiling_late": Inequality(
        "B.8", r"\gamma \text{ remains constrained}", r"\dot\gamma < 0 \text{ at } \gamma = 3/2",
        _with_gamma(THIRD, 1.5), lambda p: -gamma_speed(p),
    ),
    "gamma_floor_late": Inequality(
        "B.8", r"\gamma \text{ remains constrained}", r"\dot\gamma > 0 \text{ at } \gamma = 1/2",
        _with_gamma(THIRD, 0.5), gamma_speed,
    ),
}  # fmt: skip


def with_beta_up_to(row: Inequality, ceiling: float) -> Inequality:
    """The same estimate on a box that ends at this beta, if not before."""
    low, high = row.box["beta"]
    return row._replace(box={**row.box, "beta": (low, min(high, ceiling))})


def for_every_n() -> dict[str, Inequality]:
    """The chain with beta as far as the first integral lets it come, to be proved from N = 2 on."""
    chain = {key: with_beta_up_to(row, BETA_EXACT) for key, row in INEQUALITIES.items()}
    chain["alpha_lower"] = chain["alpha_lower"]._replace(
        explicit=r"\dot\alpha > 1/12N^2", margin=lambda p: alpha_speed(p) - ALPHA_LOW_AT_TWO
    )
    return chain


class TimeBounds(NamedTuple):
    """Intervals that contain the emergence times, by integrating the inequalities."""

    gamma: tuple[float, float]
    beta: tuple[float, float]
    alpha: tuple[float, float]
    beta_at_gamma: float  # the most that beta can be when gamma emerges
    beta_at_alpha: float  # the most that beta can be when alpha emerges


def time_bounds(n_pairs: int) -> TimeBounds:
    """What the inequalities say of T_gamma, T_beta and T_alpha.

    They must hold from this N on (`bounds.least_n`). gamma' between (1 - gamma)/N and that plus
    1/N^2 integrates to logarithms; beta and alpha move at bounded speeds.
    """
    n, excess = n_pairs, 1 / n_pairs
    gamma = n * math.log((1 + excess) / (0.5 + excess)), n * math.log(2)
    beta_at_gamma = gamma[1] / (2 * n**2)
    beta = gamma[0] + (0.5 - beta_at_gamma) / BETA_HIGH * n**2, gamma[1] + 0.5 / BETA_LOW * n**2
    wait = 0.5 / ALPHA_LOW * n**2
    return TimeBounds(
        gamma, beta, (beta[0], beta[1] + wait), beta_at_gamma, 0.5 + wait * BETA_HIGH / n**2
    )


G, F, R = sp.symbols("G F r", positive=True)  # the abbreviations of App. B.4.1


class Identity(NamedTuple):
    """Two expressions that the paper says are equal: what is printed and what we derive."""

    place: str
    printed: sp.Expr
    derived: sp.Expr

    def residual(self) -> sp.Expr:
        """Printed minus derived, the abbreviations written out, as of `rational`."""
        names = {G: sp.exp(ALPHA) + 2 * N - 2, F: 2 * N - 1, R: S + 2 * N - 1}
        return rational((self.printed - self.derived).subs(names))


def identities() -> list[Identity]:
    """The printed formulas of App. B.3-B.5 and B.7.3, each beside its derivation."""
    loss = derive_loss()
    attention = derive_attention()
    at_target = attention.label.subs(KroneckerDelta(attention.pair, N), 1)
    value = sp.exp(BETA * attention.retrieved)
    bracket = GAMMA**2 * (S - 1) / R**3 - GAMMA / R**2
    in_s = GAMMA**2 * (S**2 + F) / R**2 - 2 * GAMMA * S / R + 1
    by_s = sp.diff(in_s.subs({R: S + F}), S)
    e = sp.exp(ALPHA)
    d_alpha = 4 * BETA * (N - 1) * F * S * e / G**2 * bracket
    d_beta = 2 * F * S * e / G * bracket
    d_gamma = 2 * GAMMA * (S**2 + F) / R**2 - 2 * S / R
    speed = GAMMA / (S + 2 * N - 1) ** 2 - GAMMA**2 * (S - 1) / (S + 2 * N - 1) ** 3
    system = {
        ALPHA: 2 * BETA * (2 * N - 2) * (2 * N - 1) * S * e / (e + 2 * N - 2) ** 2 * speed,
        BETA: 2 * (2 * N - 1) * S * e / (e + 2 * N - 2) * speed,
        GAMMA: 2 * S / (S + 2 * N - 1) - 2 * GAMMA * (S**2 + 2 * N - 1) / (S + 2 * N - 1) ** 2,
    }
    ratio = BETA * (2 * N - 2) / (e + 2 * N - 2) * sp.diff(loss, BETA)
    return [
        Identity("B.3, attention to the target", S / (S + 2 * N - 1), at_target),
        Identity("B.3, loss", in_s, loss),
        Identity("B.4.2, dL/dgamma", d_gamma, sp.diff(loss, GAMMA)),
        Identity("B.4.3, dL/ds", 2 * F * bracket.subs(R, S + F), by_s),
        Identity("B.4.4, ds/dalpha", S * 2 * (N - 1) * BETA * e / G**2, sp.diff(value, ALPHA)),
        Identity("B.4.4, ds/dbeta", S * e / G, sp.diff(value, BETA)),
        Identity("B.4.6, dL/dalpha", d_alpha, sp.diff(loss, ALPHA)),
        Identity("B.4.6, dL/dbeta", d_beta, sp.diff(loss, BETA)),
        *(
            Identity(f"B.5, d{name}/dt", system[name], -sp.diff(loss, name))
            for name in (ALPHA, BETA, GAMMA)
        ),
        Identity("B.7.3, dalpha/dt over dbeta/dt", -ratio, -sp.diff(loss, ALPHA)),
    ]  # fmt: skip
