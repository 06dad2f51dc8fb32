"""The full model's order and law when any pair may be asked for, for every N of a range at once.

Up to `Errors`, with b for beta_2 and w_k = e^alpha/(2k + e^alpha), there is a slow flow

    2N^2 b' = c P,  2N^2 alpha' = c P_alpha,  4N^2 c' = V,  c = (1 + gamma_3 - gamma_2)/2,

where V = 2 sum (e^(b w_k) - 1) - b, P = dV/db and P_alpha = dV/dalpha. Less its errors b grows, and
alpha, c and the time are integrals over it. In these, P/l = e^alpha + p/l with a bounded p.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from flint import arb, ctx

from emergence.proofs.intervals import outward
from emergence.running.memo import kept

from ..box import PRECISION, Scales, both, scales, upper
from .outputs import Errors, Extent, Horizon
from .scores import idle

CELLS, STAGES, PAIRS = 256, 16, 40  # of beta_2, to the unit; pairs that are summed one by one
START, GROWTH, TURNS, TRIES = 1e-4, 1.02, 300, 30
FEWEST = 100


class SlowSums(NamedTuple):
    """P/l = e^alpha + p/l; V/P = b + turn/(l P/l); P_alpha/P = b (1 + bend/(l P/l))."""

    push: arb
    turn: arb
    bend: arb


def bounded_sums(alpha: arb, beta: arb, s: Scales) -> SlowSums:
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
    return SlowSums(push, turn, -square - 2 * first + 1)


class BetaPoint(NamedTuple):
    """Where beta_2, less its errors, has got to."""

    beta: arb  # beta_2, less its errors
    alpha: arb  # l times alpha_3, less its errors, beyond beta^2/2
    square: arb  # l times c^2, less its errors, beyond 1/4 + beta^2/2
    time: arb  # t l/N^2
    rest: arb  # l times what that is beyond 2J


class Slopes(NamedTuple):
    """How fast the rest of a `BetaPoint` moves with its beta, and where alpha_3 and c are then."""

    to_alpha: arb  # the derivative of its alpha with respect to its beta
    to_square: arb  # that of its square
    to_time: arb  # that of its time
    to_rest: arb  # that of its rest
    alpha: arb  # alpha_3, errors included
    c: arb  # c, errors included


def _slopes(beta: arb, shift: arb, square: arb, errors: Errors, s: Scales) -> Slopes:
    """The slopes for beta less its errors in a ball."""
    log = s.log
    true_beta = beta + both(errors.beta)
    level = beta * beta / 2
    less = level + s.rare * shift
    alpha = less + both(errors.alpha)
    root = (arb("0.25") + level).sqrt()
    mean = (arb("0.25") + level + s.rare * square).sqrt()
    c = mean + both(errors.apart / 2)
    found = bounded_sums(alpha, true_beta, s)
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
    return Slopes(to_alpha, to_square, time, rest, alpha, c)


class Stretch(NamedTuple):
    """A cell of beta_2, less its errors."""

    beta: arb  # less its errors, all of it
    alpha: arb  # alpha_3 and c while beta is there, errors included
    c: arb  # alpha_3 and c while beta is there, errors included
    begin: BetaPoint  # at both ends
    end: BetaPoint  # at both ends
    errors: Errors  # up to the end
    rare: arb  # 1/l
    spent: arb  # its time, times l/N^2


def close(least: int, largest: int | None, name: str) -> tuple[Extent, list[Stretch], Scales]:
    """Bounds that hold for every N of a range until beta_2 or alpha_3 is one half.

    The way there is cut into stages: errors up to the end of each follow from bounds up to there.
    With the bounds come the cells of beta_2 up to there, and the scales. Arguments and errors are
    those of `law`.
    """
    if least < FEWEST or name not in ("alpha", "beta"):
        raise ValueError(f"beta or alpha from {FEWEST} pairs on, got {name!r}, {least}")
    ctx.prec = PRECISION
    s = _scales(least, largest)
    cells: list[Stretch] = []
    box = Extent(*[START] * len(Extent._fields))
    while not _over(cells, name):
        box, cells = _stage(box, cells, name, s)
    return box, cells, s


def _scales(least: int, largest: int | None) -> Scales:
    s = scales(least)
    if largest is None:
        return s
    x, rare = 1 / arb(largest), 1 / arb(largest).log()
    return s._replace(
        x=x.union(s.most),
        rare=rare.union(1 / s.log),
        mixed=(x / rare).union(s.log * s.most),
    )


def _over(cells: list[Stretch], name: str) -> bool:
    """Whether the score is past one half for certain."""
    if not cells:
        return False
    end, errors, rare = cells[-1].end, cells[-1].errors, cells[-1].rare
    if name == "beta":
        return end.beta - errors.beta > 0.5
    return end.beta * end.beta / 2 + rare * end.alpha - errors.alpha > 0.5


def _stage(box: Extent, cells: list[Stretch], name: str, s: Scales) -> tuple[Extent, list[Stretch]]:
    """Bounds for one stage more, from those before it."""
    box = box._replace(span=START)
    for _ in range(TURNS):
        after, longer = consequences(box, cells, name, s)
        if all(new < old for new, old in zip(after, box, strict=True)):
            return box, longer
        box = Extent(*(max(old, GROWTH * new) for old, new in zip(box, after, strict=True)))
    raise ArithmeticError(f"no bounds are found beyond beta_2 = {len(cells) / CELLS}")


def consequences(
    box: Extent, cells: list[Stretch], name: str, s: Scales
) -> tuple[Extent, list[Stretch]]:
    """What follows from bounds up to the end of the next stage, and the cells up to there."""
    b = Extent(*map(arb, box))
    whole = (-b.low_alpha).union(b.alpha), (-b.low_beta).union(b.beta)
    push = upper(b.alpha.exp() + s.rare * bounded_sums(*whole, s).push)
    small, errors = idle(b, s, push, _last(b, cells, s))
    begun, cells = len(cells), list(cells)
    for _ in range(CELLS // STAGES):
        cells.append(_cell(cells, errors, s))
        if _over(cells, name):
            break
    highest = {
        "beta": cells[-1].end.beta + errors.beta,
        "alpha": max((cell.alpha for cell in cells), key=_high),
    }
    highest[name] = arb(min(_high(highest[name]), 0.5))  # the flow is followed no farther
    after = small._replace(
        theta=cells[-1].end.time,
        span=sum((cell.spent for cell in cells[begun:]), arb(0)),
        apart=2 * max((cell.c for cell in cells), key=_high) - 1,
        low_beta=errors.beta,
        low_alpha=errors.alpha + 2 * errors.beta**2,
        low_apart=errors.apart + 3 * errors.beta**2,
        **highest,
    )
    return Extent(*map(_high, after)), cells


def _high(value: arb) -> float:
    return outward(value).high


def _last(b: Extent, cells: list[Stretch], s: Scales) -> Horizon:
    """The stage after these cells.

    What the output's path, which is over soon, still does there falls as e^-(2 - sqrt 2)t/N.
    """
    if not cells:
        return Horizon(b.span, None, Errors(*[arb(0)] * 3))
    since = arb(cells[-1].end.time.lower()) / upper(s.mixed)
    if not since > 1:
        raise ArithmeticError("a stage is too short for the output to come to rest")
    tail = 4 * (1 + since) * (-(2 - arb(2).sqrt()) * since).exp()
    return Horizon(b.span, tail, cells[-1].errors)


def _cell(cells: list[Stretch], errors: Errors, s: Scales) -> Stretch:
    """The next cell of beta_2, less its errors.

    Raises ArithmeticError where alpha_3 and c are not found.
    """
    k, step = len(cells), arb(1) / CELLS
    now = cells[-1].end if cells else BetaPoint(*[arb(0)] * 5)
    beta = (arb(k) / CELLS).union(arb(k + 1) / CELLS)
    shift, square = now.alpha, now.square
    for _ in range(TRIES):
        wide, wide_square = (x + both(arb("0.01") + upper(abs(x)) / 50) for x in (shift, square))
        slopes = _slopes(beta, wide, wide_square, errors, s)
        shift = now.alpha + arb(0).union(step) * slopes.to_alpha
        square = now.square + arb(0).union(step) * slopes.to_square
        if wide.contains(shift) and wide_square.contains(square):
            break
    else:
        raise ArithmeticError(f"alpha_3 is not found for beta_2 in {beta}")
    slopes = _slopes(beta, shift, square, errors, s)
    moved = (part + step * slope for part, slope in zip(now[1:], slopes[:4], strict=True))
    then = BetaPoint(arb(k + 1) / CELLS, *moved)
    spent = step * slopes.to_time
    return Stretch(beta, slopes.alpha, slopes.c, now, then, errors, s.rare, spent)


class RangeLaw(NamedTuple):
    """What holds for every N of a range until beta_2 or alpha_3 is one half; l is log N."""

    least: int  # the least N
    largest: float  # the largest N, infinity where there is none
    time: tuple[float, float]  # bounds of T l/N^2 for that score
    rest: tuple[float, float]  # bounds of l (T l/N^2 - 2J), with 2J for many pairs
    alpha: float  # an upper bound of alpha_3 until then
    gamma: float  # a lower bound of gamma_3 at a time before

    @property
    def ordered(self) -> bool:
        """Whether T_gamma < T_beta < T_alpha is proved, if the score is beta_2."""
        return self.alpha < 0.5 < self.gamma


@kept
def law(least: int, largest: int | None = None, *, name: str) -> RangeLaw:
    """Bounds on T_beta or T_alpha when any pair may be asked for, for every N of a range.

    Without a largest N they hold for all from the least on. Raises ArithmeticError where no box
    holds the flow, ValueError for N < 100 or a name other than `beta` and `alpha`.
    """
    box, cells, s = close(least, largest, name)
    scores = [c.alpha if name == "alpha" else c.beta + both(c.errors.beta) for c in cells]
    # one of these has the time
    last = [cell for cell, score in zip(cells, scores, strict=True) if not score < 0.5]
    begin, goal = last[0].begin, arb(0.5 if name == "beta" else 1)
    rest = [_beyond(cell, goal, name, s.log) for cell in last]
    early = arb(begin.time.lower())
    # sqrt 2 - 2 is the slower rate of the output
    waiting = (-(2 - arb(2).sqrt()) * early / upper(s.mixed)).exp()
    gamma = last[0].c - (waiting + s.mixed * arb(box.joint_below)) / 2
    return RangeLaw(
        least,
        math.inf if largest is None else largest,
        (outward(early).low, outward(cells[-1].end.time).high),
        (min(outward(part).low for part in rest), max(outward(part).high for part in rest)),
        max(outward(cell.alpha).high for cell in cells),
        outward(gamma).low,
    )


def _beyond(cell: Stretch, goal: arb, name: str, log: arb) -> arb:
    """l (t l/N^2 - 2J(goal)) when the score is one half in this cell."""
    if name == "beta":
        short = both(log * cell.errors.beta)  # l times what beta_2 less its errors is beyond 1/2
    else:
        ahead = cell.begin.alpha.union(cell.end.alpha) + both(log * cell.errors.alpha)
        short = -2 * ahead / (cell.beta + 1)
    level = goal.union(cell.beta) ** 2 / 2
    slope = 2 * (-level).exp() / (arb("0.25") + level).sqrt()
    return cell.begin.rest.union(cell.end.rest) + slope * short


def covers(found: Sequence[RangeLaw], first: int) -> bool:
    """Whether every N from `first` on is in one of these ranges."""
    reached = float(first)
    for some in sorted(found):
        if some.least <= reached:
            reached = max(reached, some.largest)
    return reached == math.inf


def rest_from(found: Sequence[RangeLaw], first: int) -> tuple[float, float]:
    """Bounds of `Law.rest` for every N >= `first`.

    Raises ValueError where the ranges leave some N out.
    """
    after = [some for some in found if some.least >= first]
    if not covers(after, first):
        raise ValueError(f"the ranges do not cover every N from {first} on")
    return min(some.rest[0] for some in after), max(some.rest[1] for some in after)
