"""Emergence times for every N at once: rigorous constants of the terms after the closed forms.

Chapter "Exact constants" proves that with e = 1/N, while the parameters rise,

    T = N^2 S(e) - delta,  S(e) = B(e) + e gamma*(e),  0 <= delta <= N exp(-T/N) + `lag`/N,

B the time on the slow manifold and gamma* the goal of gamma at its end. Both are analytic in e on
[0, 1/2]. By Taylor's theorem S is its polynomial of degree two plus e^3 times a coefficient that
interval arithmetic encloses on boxes of e. u = sqrt(2 alpha) runs along the curve, up to `_end`.
"""

import math
from typing import Literal, NamedTuple

from flint import arb, arb_series, ctx

from emergence.proofs.intervals import Bounds, outward
from emergence.running.memo import kept

PRECISION = 80  # bits; the boxes, not rounding, decide the width
Name = Literal["alpha", "beta"]
ORDER = 4  # coefficients kept of a series in e: 1, e, e^2, and e^3 for the remainder
TERMS = 18  # of (exp(z) - 1)/z, for |z| < 1
WIDTH = 256  # boxes of e, to the unit


class _Place(NamedTuple):
    """A place on the slow manifold, as series in e."""

    beta: arb_series
    speed: arb_series  # d beta/du
    half: arb_series  # G = N g
    signal: arb_series  # s = exp(beta g)
    weight: arb_series  # M = 1 + e (s^2 - 1)/2


def constants(name: Name) -> tuple[arb, arb, arb]:
    """What N^2, N and 1 are multiplied with in T_alpha or T_beta, in closed form."""
    ctx.prec = PRECISION
    at = arb(1) if name == "alpha" else arb(1) / 2
    root = (arb.pi() / 2).sqrt()
    area, growing = root * (at / arb(2).sqrt()).erf(), root * (at / arb(2).sqrt()).erfi()
    end = (at * at / 2).exp()
    if name == "alpha":
        linear, constant = 3 - 1 / end, arb(5) / 2 + end - 1 / (2 * end)
    else:
        linear, constant = arb(7) / 4, arb(5) / 8 + 3 * end / 4
    return 2 * area, linear - 2 * area, constant - (5 * growing + 3 * area) / 4


@kept
def rest(name: Name, first: int, slices: int = 100) -> Bounds:
    """Bounds of N (T - c2 N^2 - c1 N - c0) for all N >= first >= 3, rigorous.

    Raises ArithmeticError where the boxes are too wide for a step of the proof.
    """
    if first < 3:
        raise ValueError(f"the bounds hold from three pairs on, got {first}")
    low, high, delta, slowest = arb("inf"), arb("-inf"), arb(0), arb("inf")
    count = -(-WIDTH // first)
    for k in range(count):
        box = (arb(k) / (count * first)).union(arb(k + 1) / (count * first))
        terms = manifold(name, box, slices)
        low, high = _least(low, terms[3]), _most(high, terms[3])
        delta = _most(delta, lag(name, box))
        slowest = _least(slowest, terms[0] - 2 * box)  # B = S - e gamma*, and gamma* < 2
    # N^2 exp(-N B) falls with N from 2/B on
    if not slowest * first > 2:
        raise ArithmeticError("the first relaxation is not over")
    delta += first**2 * (-first * slowest).exp()
    return outward((low - delta).union(high))


def manifold(name: Name, e: arb, slices: int) -> list[arb]:
    """The Taylor coefficients of S at all e of a box, the time integrated over slices of u."""
    ctx.prec, ctx.cap = PRECISION, ORDER
    series, end = arb_series([e, 1]), _end(name, e)
    total = arb_series([0])
    for k in range(slices):
        place = _place(series, end * (arb(k) / slices).union(arb(k + 1) / slices))
        pull = (1 - series / 2) * place.signal * place.signal * place.half
        # d time/du on the slow manifold, time in units of N^2
        total += place.speed * place.weight * place.weight / pull * end / slices
    last = _place(series, end)
    goal = last.signal * (1 + series * (last.signal - 1) / 2) / last.weight  # gamma*
    return _coefficients(total + series * goal)


def lag(name: Name, e: arb) -> arb:
    """An upper bound of N delta for all e of a box, the first relaxation left out.

    With l = ((1 - e/2) s G)^2 (1 + beta^2), q = gamma* - 1 and a = 1 + e M/(2 - e) at the end
    it is l gamma* + a ((q/e)^2 + l gamma*^2)/2.
    """
    ctx.prec, ctx.cap = PRECISION, 1
    series = arb_series([e])
    beta, _, half, signal, weight = (part[0] for part in _place(series, _end(name, e)))
    score = beta * half
    rise = score * _series_rise(arb_series([e * score]))[0]  # (s - 1)/e for s = exp(e score)
    excess = (1 - e / 2) * rise / weight  # q/e
    goal = 1 + e * excess
    follows = ((1 - e / 2) * signal * half) ** 2 * (1 + beta**2)
    share = 1 + e * weight / (2 - e)
    if not (e * (signal - 1) ** 2 < 2 and e * (signal + 1) < 2 and goal < 2):
        raise ArithmeticError(f"{name} is outside the range of the proof, e = {e}")
    return follows * goal + share * (excess**2 + follows * goal**2) / 2


def rest_of(name: Name, n_pairs: int, times: tuple[float, float]) -> Bounds:
    """Bounds of N (T - c2 N^2 - c1 N - c0) at one N from bounds of T."""
    square, linear, constant = constants(name)
    return outward(
        n_pairs * (Bounds(*times).ball - n_pairs**2 * square - n_pairs * linear - constant)
    )


def without_constant(name: Name, first: int, left: tuple[float, float]) -> Bounds:
    """Bounds of T - c2 N^2 - c1 N for all N >= first from bounds `left` of what `rest` bounds."""
    low, high = min(left[0], 0.0), max(left[1], 0.0)  # over N they shrink towards 0
    return outward(constants(name)[2] + (arb(low) / first).union(arb(high) / first))


def ordered(first: int, alpha: tuple[float, float], beta: tuple[float, float]) -> bool:
    """Whether these rests prove N ln 2 < T_beta < T_alpha for all N >= first."""
    e = arb(0).union(arb(1) / first)
    last, middle = (
        square + e * (linear + e * (constant + e * Bounds(*left).ball))
        for (square, linear, constant), left in (
            (constants("alpha"), alpha),
            (constants("beta"), beta),
        )
    )
    return bool(e * arb(2).log() < middle and middle < last)


def gamma_rest() -> float:
    """A bound of N^3 |T_gamma - N ln 2 + d/N| for every N >= 2, d = (3/4) ln 2 - 1/2.

    Every factor below has non-negative Taylor coefficients in z = e^2, so that N = 2 is the worst.
    """
    ctx.prec = PRECISION
    z, two = arb(1) / 4, arb(2).log()
    shift = 3 * two / 4 - arb(1) / 2
    most = arb(1) / 5  # beta <= e/5 on the way
    alpha = most**2 * z / 2
    score = most * z * alpha.exp() / arb(1.5)  # beta g, as 2 - e >= 3/2
    stretch = score.expm1() / score
    lead = most * z * alpha.exp() * stretch / 2
    grown = two / 4 * (alpha + score).exp()
    if not grown < most:
        raise ArithmeticError("beta grows further than e/5")
    above = (score + 2 * alpha).exp() * (1 + lead) * stretch
    ahead = shift * above
    turning = 1 - (1 + two) / 2  # of the shift's formula, at ln 2
    over = shift * (above - 1) / z
    under = shift * (most * alpha.exp() * stretch / 3 + ahead) + ahead * turning / 2
    return outward(over.union(under)).high


def _place(e: arb_series, u: arb_series) -> _Place:
    """beta from the first integral, u^2 + e/(1 - e) (exp(u^2/2) - 1), and what it decides."""
    power = (u * u / 2).exp()
    ratio = e / (2 * (1 - e))
    stretch = (1 + ratio * _series_rise(u * u / 2)).sqrt()
    beta, half = u * stretch, power / (2 + e * (power - 2))
    signal = (e * beta * half).exp()
    return _Place(
        beta, (1 + ratio * power) / stretch, half, signal, 1 + e * (signal * signal - 1) / 2
    )


def _end(name: Name, e: arb) -> arb_series:
    """The u at the threshold, as a series in e around all e of a box."""
    if name == "alpha":
        return arb_series([1])
    above, below = _root(float(e.lower())) + 1e-12, _root(float(e.upper())) - 1e-12
    if not (_excess(arb(below), e.upper()) < 0 < _excess(arb(above), e.lower())):
        raise ArithmeticError(f"no bracket for alpha at beta = 1/2, e = {e}")
    terms = [arb(below).union(arb(above))]  # u falls with e
    slope = 2 * terms[0] * (1 - e) + e * terms[0] * (terms[0] ** 2 / 2).exp()
    series = arb_series([e, 1])
    for _ in range(1, ctx.cap):  # a coefficient enters its own order with the factor slope
        u = arb_series([*terms, 0])
        terms.append(-_excess(u, series)[len(terms)] / slope)
    return arb_series(terms)


def _excess(u, e):
    """The first integral at beta = 1/2, negative below the root."""
    return u * u * (1 - e) + e * ((u * u / 2).exp() - 1) - (1 - e) / 4


def _root(e: float) -> float:
    """The u at beta = 1/2."""
    u = 0.5
    for _ in range(50):
        value = u * u * (1 - e) + e * math.expm1(u * u / 2) - (1 - e) / 4
        u -= value / (2 * u * (1 - e) + e * u * math.exp(u * u / 2))
    return u


def _series_rise(z: arb_series) -> arb_series:
    """(exp(z) - 1)/z: a coefficient of z^k is at most the k-th power of the sum of all of z's."""
    total, term = arb_series([0]), arb_series([1])
    for k in range(TERMS):
        total, term = total + term, term * z / (k + 2)
    size = sum((abs(c) for c in _coefficients(z)), arb(0)).upper()
    if not size < TERMS:
        raise ArithmeticError("the series is cut too early")
    tail = (size**TERMS / math.factorial(TERMS + 1) / (1 - size / TERMS)).upper()
    return total + arb_series([arb(0, tail)] * ctx.cap)


def _coefficients(series: arb_series) -> list[arb]:
    return [series[k] for k in range(ctx.cap)]


def _least(one: arb, two: arb) -> arb:
    return one.lower().min(two.lower())


def _most(one: arb, two: arb) -> arb:
    return one.upper().max(two.upper())
