"""Bounds on the error of the area law if every pair occurs once and the loss is squared error.

The inequalities are those of the proof, but they are evaluated in floating point, and the corner of
the box is integrated numerically: nothing here is enclosed.

The steps behind `theory.area` follow, each as a residual that must vanish. R is the attention to
the answer and S the sum of squared attention; a query sees m rows, of which row 0 has the answer. r
and s are relative bounds on R and S.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import sympy as sp
from jaxtyping import Float
from scipy.integrate import solve_ivp

from emergence.proofs.speeds import ALPHA, AREA, B, N, T, late_speeds
from emergence.running.memo import kept
from emergence.theory.area import TOLERANCES, area_times, climb, expected_loss

Queries = Float[np.ndarray, " pairs"]
SLACKS = (1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.4)
LARGEST = 20.0  # of a score: no bound closes anywhere near


class ErrorBounds(NamedTuple):
    """Relative errors that the area law cannot exceed (this book)."""

    area: float  # of the integral of gamma at which alpha and beta emerge
    more: float  # how far gamma can be above what even attention gives
    less: float  # how far it can be below

    @property
    def times(self) -> tuple[float, float]:
        """The least and the greatest emergence time over the law's."""
        low = 1 / ((1 + self.area) * (1 + self.more))
        return low, 1 / ((1 - self.area) * (1 - self.less))


@kept
def error_bounds(chances: Queries, *, threshold: float = 0.5, cells: int = 8) -> ErrorBounds:
    """Bounds on the area law for any chances of the queries, in floating point (this book).

    Theorem "One area law": sums over rows, each term bounded on every cell of a box that the flow
    cannot leave before alpha emerges. Valid for alpha and beta of one rate and for any rate of
    gamma, up to rounding and to the integration of the corner. More `cells` along each side of the
    box make the bounds narrower. They are of order log N/N but for `more`, the change of attention
    to the answer.

    Raises ArithmeticError where the bounds do not close, as for few pairs or where alpha never
    emerges.
    """
    for slack, corner in zip(SLACKS, _corners(chances, threshold), strict=False):
        bounds = _within(chances, *corner, cells)
        if bounds and bounds.area < 1 and (1 + bounds.area) / (1 - bounds.area) <= slack:
            return bounds
    raise ArithmeticError("the bounds do not close: too few pairs, or too large scores")


def _corners(chances: Queries, threshold: float) -> Iterator[tuple[float, float]]:
    """Where the law's flow is at each slack times the area at which alpha emerges."""
    landscape = expected_loss(np.arange(len(chances)), chances)
    unit = area_times(landscape, threshold=threshold).alpha_area
    if not np.isfinite(unit):
        raise ArithmeticError("alpha never emerges")
    reached, state = 0.0, [0.0, 0.0]
    for slack in SLACKS:
        run = solve_ivp(
            lambda _t, point: climb(landscape, *point.tolist()),
            (reached, slack * unit), np.array(state), method="LSODA", **TOLERANCES,
        )  # fmt: skip
        if not run.success:
            return
        reached, state = slack * unit, run.y[:, -1].tolist()
        yield state[0], state[1]


def _within(chances: Queries, alpha: float, beta: float, cells: int) -> ErrorBounds | None:
    """The bounds on the box up to alpha and beta, or None where a condition fails."""
    if max(alpha, beta) > LARGEST:
        return None
    alphas, betas = np.linspace(0, alpha, cells + 1), np.linspace(0, beta, cells + 1)
    boxes = [
        _Cell(chances, (alphas[i], alphas[i + 1]), (betas[j], betas[j + 1]))
        for i in range(cells)
        for j in range(cells)
    ]
    if not all(box.cooperative for box in boxes):
        return None
    more = max(box.answer[1] for box in boxes) - 1
    less = 1 - min(box.answer[0] for box in boxes) / max(box.square for box in boxes)
    return ErrorBounds(float((1 + more) * max(max(box.ratios) for box in boxes)), more, less)


class _Cell:
    """Bounds of everything for alpha and beta in two intervals; pairs q count from 0."""

    def __init__(
        self, chances: Queries, alpha: tuple[float, float], beta: tuple[float, float]
    ) -> None:
        n, place = len(chances), 2.0 * np.arange(len(chances))
        low_beta, high_beta = beta
        small, large = np.exp(alpha)
        # shares of the queried item: in its label, in later items and in later labels
        own = small / (place + small), large / (place + large)
        item = np.divide(1, place, out=np.zeros(n), where=place > 0)
        label = 1 / (place + large), 1 / (place + small)

        def tail(terms: Queries) -> Queries:
            """The sum over pairs k > q for every q."""
            return np.cumsum(terms[::-1])[::-1] - terms

        def raised(slope: float, side: int) -> Queries:
            """What e^(slope x) adds to the number of rows, summed over rows."""
            later = np.expm1(slope * item) + np.expm1(slope * label[side])
            return np.expm1(slope * own[side]) + tail(later)

        norm = 2 * n + raised(low_beta, 0), 2 * n + raised(high_beta, 1)
        squares = 2 * n + raised(2 * high_beta, 1)
        high_own, high_item, high_label = (
            np.exp(high_beta * share) for share in (own[1], item, label[1])
        )
        attention = np.exp(low_beta * own[0]) / norm[1], high_own / norm[0]
        mean = high_own * own[1] + tail(high_item * item + high_label * label[1])
        lead = own[0] - mean / norm[0]  # of the answer's share over the mean share, at least
        gains = own[0] * (1 - own[0]), own[1] * (1 - own[1])
        most = np.where((own[0] < 0.5) & (own[1] > 0.5), 0.25, np.maximum(*gains))

        # slopes of the attention to the answer, at least, and of the squares, at most
        up = (
            chances @ (attention[0] * np.minimum(*gains) * (1 - attention[1])),
            chances @ np.minimum(attention[0] * lead, attention[1] * lead),
        )
        apart = squares / norm[0] - 1
        moved = high_own * np.maximum(high_own - 1, apart) * most
        # the later labels' factor depends on q through `apart`: the larger of two is below the sum
        moved += tail(high_label * (high_label - 1) * large * label[1] ** 2)
        moved += apart * tail(high_label * large * label[1] ** 2)
        shared = high_own * (high_own - 1) * own[1] + tail(
            high_item * (high_item - 1) * item + high_label * (high_label - 1) * label[1]
        )
        down = chances @ (moved / norm[0] ** 2), chances @ (shared / norm[0] ** 2)

        asked_for = chances > 0
        self.cooperative = bool(
            np.all(lead[asked_for] >= 0)
            and np.all(attention[1][asked_for] * (1 + high_beta) <= 1)
            and np.all(high_beta * (mean / norm[0])[asked_for] <= 1)
            and min(up) > 0
        )
        # pulls are 2 up - 2 gamma down, at worst
        self.ratios = (down[0] / up[0], down[1] / up[1]) if min(up) > 0 else (np.inf, np.inf)
        self.answer = (2 * n * float(chances @ attention[0]), 2 * n * float(chances @ attention[1]))
        self.square = 2 * n * float(chances @ (squares / norm[0] ** 2))


Q, RHO = sp.symbols("q rho", positive=True)
GAMMA, R, S, LAMBDA = sp.symbols("gamma r s Lambda", positive=True)


def pull_residuals(rows: int = 4) -> dict[str, sp.Expr]:
    """The gradient with respect to a score, at any attention and for any contents."""
    raised = sp.symbols(f"u:{rows}", positive=True)  # e^score
    paid = [u / sum(raised) for u in raised]
    answer, square = paid[0], sum(a**2 for a in paid)
    loss = GAMMA**2 * square - 2 * GAMMA * answer + 1
    # two labels with two copies each: what is retrieved of them
    pairs = (paid[0] + paid[1]) ** 2 + (paid[2] + paid[3]) ** 2
    # cross-entropy over V words: the logit of a word in the context is gamma times its attention
    words = sp.Symbol("V", positive=True)
    logits = sum(sp.exp(GAMMA * a) for a in paid)
    entropy = sp.log(logits + words - rows) - GAMMA * answer
    speed = -sp.diff(entropy, GAMMA).subs(GAMMA, 0)
    even = dict.fromkeys(raised, 1)

    def by_score(value: sp.Expr, row: int) -> sp.Expr:
        return raised[row] * sp.diff(value, raised[row])

    return {
        "a score's push, by R and S": sp.cancel(
            -by_score(loss, 1) - GAMMA * (2 * by_score(answer, 1) - GAMMA * by_score(square, 1))
        ),
        "R, by the answer's score": sp.cancel(by_score(answer, 0) - answer * (1 - answer)),
        "R, by another score": sp.cancel(by_score(answer, 1) + answer * paid[1]),
        "S, by a score": sp.cancel(by_score(square, 1) - 2 * paid[1] * (paid[1] - square)),
        "S, by a score, at even attention": by_score(square, 1).subs(even),
        "the same with two copies of each": by_score(pairs, 1).subs(even),
        "cross-entropy, push at small gamma": sp.cancel(by_score(speed, 0) - by_score(answer, 0)),
        "cross-entropy, speed of gamma at zero": sp.cancel(
            speed.subs(even) - (1 - rows / words) / rows
        ),
    }


def share_residuals() -> dict[str, sp.Expr]:
    """Shares of the queried item, pair by pair, and the number of the data for late pairs."""
    own_share = sp.exp(ALPHA) / (2 * Q + sp.exp(ALPHA))
    later = 1 / (2 * Q + sp.exp(ALPHA))
    # late pairs: w = e^alpha/2q, so that both pulls are those of the last pair times Lambda
    late = late_speeds()
    pull = LAMBDA / N**2 * late.beta.subs(ALPHA, B**2 / 2) / GAMMA
    return {
        "the answer's share, by alpha": sp.simplify(
            sp.diff(own_share, ALPHA) - own_share * (1 - own_share)
        ),
        "a later label's share, by alpha": sp.simplify(
            sp.diff(later, ALPHA) + sp.exp(ALPHA) * later**2
        ),
        "a late pair's share": sp.limit(own_share * 2 * Q, Q, sp.oo) - sp.exp(ALPHA),
        "alpha on the way of beta": sp.simplify(sp.diff(B**2 / 2, B) - late.alpha / late.beta),
        "the area": sp.simplify(sp.diff(2 * AREA * N**2 / LAMBDA, B) - 1 / pull),
    }


def clock_residuals() -> dict[str, sp.Expr]:
    """gamma and its integral at even attention, and what bounds on R and S do to them."""
    u = RHO * T / N
    gamma = 1 - sp.exp(-u)
    area = T - N / RHO * gamma
    # gamma' = (rho/N)(r - s gamma): the path from zero
    slower = R / S * (1 - sp.exp(-S * u))
    return {
        "gamma": sp.simplify(sp.diff(gamma, T) - RHO / N * (1 - gamma)),
        "its integral": sp.simplify(sp.diff(area, T) - gamma),
        "long times": sp.limit(area / T, T, sp.oo) - 1,
        "short times": sp.simplify(sp.series(area, T, 0, 3).removeO() - RHO * T**2 / (2 * N)),
        "gamma between bounds": sp.simplify(sp.diff(slower, T) - RHO / N * (R - S * slower)),
        # the area is convex in t, as gamma grows: T(c area) <= c T(area) for c >= 1
        "convexity of the area": sp.simplify(sp.diff(area, T, 2) - RHO / N * sp.exp(-u)),
    }


def curriculum_residuals() -> dict[str, sp.Expr]:
    """The upper solution of any choice of queries, by u, which moves at exp(u^2/2) in t/N.

    There gamma is u, beta moves at gamma exp(beta) and alpha at gamma beta exp(beta)/4.
    """
    raised, row = sp.symbols("E j", positive=True)
    beta, alpha = B**2 / 2, B**4 / 32
    moved = raised / (2 * row + raised) ** 2  # a later label's share, by alpha
    return {
        "beta of the upper solution": sp.diff(beta, B) - B,
        "alpha of the upper solution": sp.diff(alpha, B) - B * beta / 4,
        "its time": sp.simplify(sp.diff(AREA, B) - sp.exp(-beta)),
        "alpha at u = 2": alpha.subs(B, 2) - sp.Rational(1, 2),
        "a later label's share moves by less than 1/8j": sp.simplify(
            1 / (8 * row) - moved - (2 * row - raised) ** 2 / (8 * row * (2 * row + raised) ** 2)
        ),
    }


def order_residuals(rows: int = 3) -> dict[str, sp.Expr]:
    """Why the two parameters cannot slow each other: the mixed derivative of R."""
    beta = sp.Symbol("beta", positive=True)
    shares, slopes = sp.symbols(f"x:{rows}"), sp.symbols(f"d:{rows}")  # their derivatives by alpha
    raised = sp.symbols(f"u:{rows}", positive=True)  # e^(beta x)
    paid = [u / sum(raised) for u in raised]
    each = list(zip(shares, slopes, raised, strict=True))

    def by_beta(value: sp.Expr) -> sp.Expr:
        return sp.diff(value, beta) + sum(x * u * sp.diff(value, u) for x, _, u in each)

    def by_alpha(value: sp.Expr) -> sp.Expr:
        return sum(d * (sp.diff(value, x) + beta * u * sp.diff(value, u)) for x, d, u in each)

    def mean(values: tuple[sp.Expr, ...]) -> sp.Expr:
        return sum(a * value for a, value in zip(paid, values, strict=True))

    lead, gain = shares[0] - mean(shares), slopes[0] - mean(slopes)
    spread = -sum(a * (x - mean(shares)) * d for a, x, d in zip(paid, shares, slopes, strict=True))
    return {
        "R, by beta": sp.cancel(by_beta(paid[0]) - paid[0] * lead),
        "R, by alpha": sp.cancel(by_alpha(paid[0]) - paid[0] * beta * gain),
        "G, by beta": sp.cancel(by_beta(gain) - spread),
        "R, by both": sp.cancel(
            by_alpha(by_beta(paid[0])) - paid[0] * (beta * gain * lead + gain + beta * spread)
        ),
    }
