"""The order and the law of the full model when any pair may be asked for, for every N from N0 on.

Up to the `Errors` of `any_pair`, with b for beta_2 and w_k = e^alpha/(2k + e^alpha),

    2N^2 b' = c P,  2N^2 alpha' = c P_alpha,  4N^2 c' = V,  c = (1 + gamma_3 - gamma_2)/2,

where V = 2 sum (e^(b w_k) - 1) - b, P = dV/db and P_alpha = dV/dalpha. Less its errors b grows, and
alpha, c and the time are integrals over it. In these, P/l = e^alpha + p/l with a bounded p.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from flint import arb, ctx

from .any_pair import Bounds, Errors, idle
from .box import Scales, both, lower, scales, upper

CELLS, PAIRS = 256, 40  # cells of beta_2, to the unit; pairs that are summed one by one
START, GROWTH, TURNS, TRIES = 0.01, 1.02, 300, 30
FEWEST = 100


class AnyPair(NamedTuple):
    """What holds for every N >= `least`, with l = log N, if any pair may be asked for.

    Attributes:
        least: N0.
        time: bounds of T l/N^2 for the score that is asked for.
        rest: bounds of l (T l/N^2 - 2J).
        alpha: an upper bound of alpha_3 until then.
        beta: an upper bound of beta_2 until then.
        gamma: a lower bound of gamma_3 then.
    """

    least: int
    time: tuple[float, float]
    rest: tuple[float, float]
    alpha: float
    beta: float
    gamma: float

    @property
    def ordered(self) -> bool:
        """Of the time of beta_2: whether T_gamma < T_beta < T_alpha is proved."""
        return self.alpha < 0.5 < self.gamma and math.isfinite(self.time[1])


class Sums(NamedTuple):
    """P/l = e^alpha + p/l; V/P = b + turn/(l P/l); P_alpha/P = b (1 + bend/(l P/l))."""

    push: arb
    turn: arb
    bend: arb


def sums(alpha: arb, beta: arb, s: Scales) -> Sums:
    """p, turn and bend for all N >= N0, where alpha_3 and beta_2 are in these balls."""
    grown = alpha.exp()
    half = grown / 2
    ends = (-s.x).union(grown * s.x / 2)  # digamma(N + e^alpha/2) - l
    rest, curve, square = arb(0), arb(0), arb(0)
    for k in range(1, PAIRS + 1):
        w = half / (k + half)
        power = (beta * w).exp()
        rest += 2 * w * (beta * w).expm1()
        curve += 2 * ((beta * w).expm1() - beta * w)
        square += 2 * w * w * power
    left = arb(0).union(half * half / (PAIRS + half))  # of w^2 over all other pairs
    last = (upper(abs(beta)) * upper(half) / PAIRS).exp()
    rest += 2 * beta * (1 / last).union(last) * left
    curve += beta * beta * arb(0).union(last) * left
    square += 2 * arb(0).union(last) * left
    first = beta.exp()
    push = 2 * first - 1 + grown * (ends - (1 + half).digamma()) + rest
    turn = 2 * (first - 1 - beta * first) + curve - beta * rest
    return Sums(push, turn, -square - 2 * first + 1)


class Cell(NamedTuple):
    """A step of beta_2, less its errors: at its end, or all along.

    Attributes:
        beta: beta_2 itself.
        alpha: l times alpha_3, less its errors, beyond beta^2/2.
        square: l times c^2, less its errors, beyond 1/4 + beta^2/2.
        time: t l/N^2.
        rest: l times what that is beyond 2J.
    """

    beta: arb
    alpha: arb
    square: arb
    time: arb
    rest: arb


def _speeds(
    beta: arb, shift: arb, square: arb, errors: Errors, s: Scales
) -> tuple[arb, arb, arb, arb, arb, arb]:
    """The slopes of `Cell` by beta, then alpha_3 and c, all for beta less its errors in a ball."""
    log = s.log
    true_beta = beta + both(errors.beta)
    level = beta * beta / 2
    less = level + s.rare * shift
    alpha = less + both(errors.alpha)
    root = (arb("0.25") + level).sqrt()
    mean = (arb("0.25") + level + s.rare * square).sqrt()
    c = mean + both(errors.apart / 2)
    found = sums(alpha, true_beta, s)
    grown = alpha.exp()
    push = grown + s.rare * found.push
    if not (push > 0 and c > 0):
        raise ArithmeticError("the bounds are too wide for beta_2 to grow")
    far = both(log * errors.beta)
    to_alpha = far + true_beta * found.bend / push
    to_square = far + both(log * errors.apart / 2) / c * true_beta + mean / c * found.turn / push
    time = 2 / (c * push)
    # l (1/(c push) - 1/(root e^level)), with l times each difference
    grows = level.exp().union(grown) * (shift + both(log * errors.alpha))
    moved = square / (mean + root) + both(log * errors.apart / 2)
    rest = -2 * (moved * grown + root * grows + c * found.push) / (c * push * root * level.exp())
    return to_alpha, to_square, time, rest, alpha, c


class Stretch(NamedTuple):
    """A cell of beta_2, less its errors, with alpha_3 and c in it and dt/dbeta l/N^2."""

    beta: arb
    alpha: arb
    c: arb
    pace: arb
    begin: Cell
    end: Cell


def along(errors: Errors, s: Scales) -> Iterator[Stretch]:
    """Cells of beta_2, less its errors, one after another.

    Raises ArithmeticError where alpha_3 and c are not found.
    """
    now, step = Cell(arb(0), arb(0), arb(0), arb(0), arb(0)), arb(1) / CELLS
    for k in itertools.count():
        beta = (arb(k) / CELLS).union(arb(k + 1) / CELLS)
        inside = [now.alpha, now.square]
        for _ in range(TRIES):
            guess = [part + both(arb("0.01") + upper(abs(part)) / 50) for part in inside]
            slopes = _speeds(beta, *guess, errors, s)
            inside = [
                part + arb(0).union(step) * slope
                for part, slope in zip((now.alpha, now.square), slopes[:2], strict=True)
            ]
            if all(old.contains(new) for old, new in zip(guess, inside, strict=True)):
                break
        else:
            raise ArithmeticError(f"alpha_3 is not found for beta_2 in {beta}")
        slopes = _speeds(beta, *inside, errors, s)
        moved = (part + step * slope for part, slope in zip(now[1:], slopes[:4], strict=True))
        then = Cell(arb(k + 1) / CELLS, *moved)
        yield Stretch(beta, slopes[4], slopes[5], slopes[2], now, then)
        now = then


def close(least: int, largest: int | None, name: str) -> tuple[Bounds, Errors, Scales]:
    """Bounds that hold for every N of a range until beta_2 or alpha_3 is one half."""
    ctx.prec = 80
    s = scales(least)
    if largest is not None:
        x, rare = 1 / arb(largest), 1 / arb(largest).log()
        s = s._replace(x=x.union(s.most), rare=rare.union(1 / s.log), mixed=(x / rare).union(s.log * s.most))
    box = Bounds(*[START] * len(Bounds._fields))._replace(**{name: 0.5})
    for _ in range(TURNS):
        after, errors = follow(box, name, s)
        if all(
            new < old or field == name
            for field, new, old in zip(box._fields, after, box, strict=True)
        ):
            return box, errors, s
        box = Bounds(*(
            old if field == name else max(old, GROWTH * new)
            for field, new, old in zip(box._fields, after, box, strict=True)
        ))
    raise ArithmeticError(f"no box is found for N0 = {least} until {name} is one half")


def follow(box: Bounds, name: str, s: Scales) -> tuple[Bounds, Errors]:
    """What follows from bounds until beta_2 or alpha_3 is one half."""
    b = Bounds(*map(arb, box))
    whole = (-b.low_alpha).union(b.alpha), (-b.low_beta).union(b.beta)
    push = upper(b.alpha.exp() + s.rare * sums(*whole, s).push)
    small, errors = idle(b, s, push)
    cells = until(name, errors, s)
    after = Bounds(
        theta=cells[-1].end.time,
        beta=cells[-1].end.beta + errors.beta,
        alpha=max((cell.alpha for cell in cells), key=upper_float),
        apart=2 * max((cell.c for cell in cells), key=upper_float) - 1,
        low_beta=errors.beta,
        low_alpha=errors.alpha + 2 * errors.beta**2,
        low_apart=errors.apart + 3 * errors.beta**2,
        **{field: small[field] for field in Bounds._fields[7:]},
    )
    return Bounds(*map(upper_float, after)), errors


def until(name: str, errors: Errors, s: Scales) -> list[Stretch]:
    """The cells of beta_2, less its errors, until it or alpha_3 is one half for certain."""
    found = []
    for cell in along(errors, s):
        found.append(cell)
        end = cell.end
        level = end.beta if name == "beta" else end.beta * end.beta / 2 + s.rare * end.alpha
        if level - (errors.beta if name == "beta" else errors.alpha) > 0.5:
            return found
        if end.beta > 2:
            break
    raise ArithmeticError(f"{name} is not one half for certain when beta_2 is two")


def upper_float(value: arb) -> float:
    return math.nextafter(float(upper(value)), math.inf)
