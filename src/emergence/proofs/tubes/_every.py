"""The limit of T/N of all nineteen with a loss at every position, in validated steps."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.models import Mask
from emergence.running.memo import kept
from emergence.theory import positions

from ..intervals import Bounds
from ._balls import Array, Ball, columns
from ._prefixes import Place, Prefixes, excess, first_pair, jets, on_tape, pair
from ._steps import GRID, WHOLE, Guide, PathPiece, _rounded, opening

# The loss of a prefix of n pairs is 1 + x f(z; x, C, E), with x = 1/n and the two sums of `Place`.
# At x = 0, C = 4, E = 0, f = -1 for all z. So its slopes are at most x, C - 4 and E times mixed
# derivatives, and what C and E depend on alpha. Both sums over pairs k <= n - 2
# are those up to M, and sums of terms of at most constant/k. With l = log(n/M) all this is at most
# x (a + b l), and the sum of x^2 (a + b l) over n > M is at most (a + b + b/M)/M.


class _Sum(NamedTuple):
    """A sum over pairs, its distance from 4n or from zero, and its slopes: up to M, and per 1/k."""

    size: float
    slopes: Float[np.ndarray, "3"]
    size_per: float
    slopes_per: Float[np.ndarray, "3"]


def long_prefixes(box: Ball, count: int, mask: Mask) -> Float[np.ndarray, "12"]:
    """At most the slopes of all losses with n > `count`, the limit of many prefixes."""
    m = float(count)
    sums = _past(box, count, mask)
    x, c, e = (  # in the ball; log(n/M)/n is at most 1/(M e)
        Ball(np.array([mid]), np.array([rad]))
        for mid, rad in (
            (0.5 / m, 0.51 / m),
            (4.0, (sums[0].size + 0.37 * sums[0].size_per) / m * 1.01),
            (0.0, (sums[1].size + 0.37 * sums[1].size_per) / m * 1.01),
        )
    )
    whole = Ball(*map(np.concatenate, zip(box, x, c, e, strict=True)))
    tape, z = on_tape(jets(whole))
    slopes = tape.slopes(excess(z[:12], Place(*z[12:]), mask), z)
    mixed = columns([slope.part((slice(13, 16), 0, 0)) for slope in slopes]).above[:, :12]
    by_sum = [slope.part((slice(0, 1), 0, 0)).above[0] for slope in slopes[13:]]
    at, grown = mixed[0].copy(), np.zeros(12)
    for mixed_with, slope, one in zip(mixed[1:], by_sum, sums, strict=True):
        at += mixed_with * one.size
        grown += mixed_with * one.size_per
        at[:3] += slope * one.slopes
        grown[:3] += slope * one.slopes_per
    total: Array = (at + grown * (1 + 1 / m)) / m * (1 + 1e-9)
    return total


def _past(box: Ball, count: int, mask: Mask) -> list[_Sum]:
    alphas, k = box.part(slice(3)), np.arange(1.0, count)
    _, z = on_tape(jets(alphas))
    found = pair(z, z[0] * 0.0 + Ball.of(k).inverse(), mask)
    squares = (found.squares + -4.0).total() + (first_pair(z, mask) + -8.0)
    early = (found.share * Ball.of(k).inverse()).total()
    upto = [part.value.part((..., 0, 0)).above for part in (squares, early)]
    # longer ones, for u = 1/k in a ball
    tape, z = on_tape(jets(Ball(*map(np.append, alphas, (0.5 / count, 0.51 / count)))))
    later = pair(z[:3], z[3], mask)
    mixed = columns([part.part((slice(4, 5), 0, 0)) for part in tape.slopes(later.squares, z[:3])])
    share = later.share.value.part((..., 0, 0)).above
    per = [
        (float(later.squares.value.part((slice(4, 5), 0, 0)).above[0]), mixed.above[0]),
        (share[0], share[1:4]),
    ]
    return [
        _Sum(one[0] + many / (count - 1), one[1:] + slopes / (count - 1), many, slopes)
        for one, (many, slopes) in zip(upto, per, strict=True)
    ]


# The limit flow descends the sum of all losses, on the clock t/N. If the Hessian of the first
# losses is above -mu in a tube around a path z, then the distance e from the path obeys
# e' <= mu e + |d| + r, with the defect d = z' + grad of the first losses, and r at least the
# gradient of all others. Balls lose much where terms cancel, and most in the shortest prefixes:
# their Hessian is that on the path, and differs from it by third derivatives times distances.
SHORT = 24  # prefixes whose third derivatives are bounded
ORDER = 2  # of the Taylor expansion of the defect
MOVE, GROWTH = 0.012, 1.6  # how far a coordinate may move in half a step, and how steps grow
TRIES = 12
LEVEL, ALPHA, BETA = 0.5, 2, 4  # threshold, and places of alpha_3 and beta_2
CELLS = 256  # of a step, a power of two
MORE = 1 + 1e-9  # for the rounding of sums of norms
LIFT = np.zeros((19, 12))
LIFT[[*range(5), *range(9, 15)], range(11)] = 1
LIFT[[16, 17], 11] = -(0.5**0.5), 0.5**0.5


class LimitTimes(NamedTuple):
    """Bounds on the limits of T/N with a loss at every position (this book).

    Attributes:
        alpha: of the time at which alpha_3 is one half.
        beta: of that of beta_2.
    """

    alpha: Bounds
    beta: Bounds


@kept
def limit_times(mask: Mask, prefixes: int) -> LimitTimes:
    """Bounds on lim T/N for all nineteen and the last pair of every prefix (this book).

    Args:
        mask: as `theory.emergence_times` takes it.
        prefixes: M, of which the losses are computed one by one; the more, the narrower.

    Returns:
        Bounds on the times at which alpha_3 and beta_2 are one half, over N. Both pass it with
        positive speed.

    Raises:
        ArithmeticError: where no step is validated, as with too few prefixes.
    """
    first = Prefixes(prefixes, mask)
    edges = np.linspace(-1, 1, CELLS + 1)
    cells = Ball((edges[:-1] + edges[1:])[:, None] / 2, np.full((CELLS, 1), 1 / CELLS))
    early: dict[int, float] = {}
    late: dict[int, float] = {}
    for piece, apart in limit_steps(first):
        there, times = piece.where(cells), piece.start + piece.half * (1 + edges)
        for place in (ALPHA, BETA):
            may = there.high[:, place] + apart >= LEVEL
            must = there.low[:, place] - apart > LEVEL
            if may.any() and place not in late:
                early.setdefault(place, float(times[int(may.argmax())]))
                if not highest_slopes(tube(piece, apart), first)[place] < 0:
                    raise ArithmeticError(f"a score may not rise at t/N = {piece.start}")
            if must.any():
                late.setdefault(place, float(times[int(must.argmax())]))
        if len(late) == 2:
            break
    return LimitTimes(*(Bounds(early[place], late[place]) for place in (ALPHA, BETA)))


def limit_steps(first: Prefixes) -> Iterator[tuple[PathPiece, float]]:
    """Steps of a path from zero, without end, and how far the limit flow is from it in each."""
    gradient = positions.landscape(np.ones(first.longest), model="full", mask=first.mask).gradient
    output = [0.0] * 16 + [1.0, 1.0, -1.0]  # gamma_1 = 0, gamma_2 + gamma_3 = 2, gamma_4 = -1

    def speed(z: Array) -> Array:
        slope: Array = np.array(gradient(*(output + LIFT @ z).tolist())) @ LIFT
        return -slope

    guide, time, apart, length = Guide(speed, np.zeros(12), 1e-9), 0.0, 0.0, 8 * GRID
    last = Ball.of(np.zeros(12))
    while True:
        piece = guide.piece(time, length)
        fit = MOVE / piece.moved
        if fit < 0.9 and length > GRID:
            length = _rounded(0.9 * fit * length)
            continue
        gap = piece.where(Ball.of(-1.0)).plus(last.negative()).above
        apart = step_bound(piece, apart + float(np.linalg.norm(gap)) * MORE, first)
        yield piece, apart
        last, time = piece.where(Ball.of(1.0)), time + length
        length = _rounded(min(0.95 * fit, GROWTH) * length)


def step_bound(piece: PathPiece, before: float, first: Prefixes) -> float:
    """The distance in all of a step, from the one before it."""
    missed, length = defect(piece, first), 2 * piece.half
    within = 1.1 * before + length * missed + 1e-7
    for _ in range(TRIES):
        box = tube(piece, within)
        left = float(np.linalg.norm(long_prefixes(box, first.longest, first.mask))) * MORE
        growth = math.exp(min(rate(piece, within, first) * length, 100.0))
        distance = (before + length * (missed + left)) * growth * MORE
        if distance <= within:
            return distance
        within = 1.15 * distance
        if within > LEVEL:
            break
    raise ArithmeticError(f"no tube was found at t/N = {piece.start}, {first}")


def tube(piece: PathPiece, distance: float) -> Ball:
    """A box around a path in all of a step."""
    path = piece.where(WHOLE)
    return Ball(path.mid, (path.rad + distance) * MORE)


def defect(piece: PathPiece, first: Prefixes) -> float:
    """The norm of z' and the gradient of the first losses, at most, in all of a step."""
    total = 0.0
    for s, order, least in ((Ball.of(0.0), ORDER, 0), (WHOLE, ORDER + 1, ORDER)):
        path = piece.around(s, order + 1)
        k = np.arange(1.0, order + 1)[:, None]
        speed = path.part(slice(1, None)).times(Ball.of(k)).times(Ball.of(piece.half).inverse())
        missed = speed.plus(first.slopes(path.part(slice(order)))).above[least:]
        total += float(np.linalg.norm(missed, axis=1).sum())
    return total * MORE


def rate(piece: PathPiece, distance: float, first: Prefixes) -> float:
    """mu >= 0 such that the Hessian of the first losses is above -mu in the tube."""
    box, path = tube(piece, distance), piece.where(WHOLE)
    short = Prefixes(min(SHORT, first.longest), first.mask)
    on_path = short.curvature(Ball.of(path.mid))
    longer = first._replace(least=SHORT + 1).curvature(box)
    bends = short.bends(box).above
    middle = on_path.mid + longer.mid
    even = (middle + middle.T) / 2
    off = np.abs(middle - even) * MORE + on_path.rad + longer.rad + 1e-12
    moved = np.tensordot(path.rad, bends, (0, 0))
    beside = distance * float(np.sqrt((bends**2).sum()))
    return (opening(Ball.of(even)) + float(np.linalg.norm(off + moved)) + beside) * MORE


def highest_slopes(box: Ball, first: Prefixes) -> Float[np.ndarray, "12"]:
    """At least the slopes of the sum of all losses."""
    known = first.slopes(box.part(None)).high[0]
    slopes: Array = known + long_prefixes(box, first.longest, first.mask)
    return slopes
