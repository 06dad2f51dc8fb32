"""Bounds on the error of the area law if every pair occurs once and the loss is squared error.

The inequalities are those of the proof, but they are evaluated in floating point, and the corner of
the box is integrated numerically: nothing here is enclosed.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from emergence.running.memo import kept
from emergence.theory.area import TOLERANCES, area_times, climb, expected_loss

Queries = Float[np.ndarray, " pairs"]
SLACKS = (1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.4)
LARGEST = 20.0  # of a score: no bound closes anywhere near


class ErrorBounds(NamedTuple):
    """Relative errors that the area law cannot exceed (this book).

    Attributes:
        area: of the integral of gamma at which alpha and beta emerge.
        more: how far gamma can be above what even attention gives.
        less: how far it can be below.
    """

    area: float
    more: float
    less: float

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
