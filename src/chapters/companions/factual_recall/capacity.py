"""What trials say: facts against parameters, and the worth of a weight; and the source's own map.

Both laws are read off recall where facts do not quite fit. It is taken to depend on one quantity,
the logarithm of P_A + ratio P_M, which is counted in weights of attention, less that of the weights
that S R facts ask for, (S R)^(1/power).

The map of heads against width is that of Nichani, Lee and Bietti, arXiv 2412.06538, read off the
colours of the plot in `plotting.ipynb` of github.com/eshnich/factual-recall-iclr at commit 7c4d121,
to about 0.01. One training a cell: S = R = 32, D = 8, d = 32, d_h = 8, Adam at a rate of 0.01 in
batches of 1,024 for up to 16,384 steps; recall is the best of 129 tests. The line drawn over it is
d m = 2300 - d d_h H / 2, from d d_h H = 1280 on.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import stats
from scipy.optimize import curve_fit

HEADS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)
WIDTHS = (1, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128)
FEWEST = 1280  # d d_h H below which the line is vertical
LINE = 2300  # d m + d d_h H / 2 on the line

RECALL = (  # a row for each number of heads
    (.11, .14, .18, .24, .19, .22, .23, .35, .20, .31, .28, .32, .21),  # 1
    (.18, .22, .36, .41, .38, .52, .45, .42, .46, .44, .54, .68, .56),  # 2
    (.34, .49, .58, .61, .60, .75, .75, .74, .77, .85, .78, .72, .89),  # 4
    (.45, .59, .76, .84, .84, .85, .99, .97, .99, .97, .96, .99, .97),  # 6
    (.73, .71, .79, .93, .87, 1.0, .97, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 8
    (.72, .87, .96, .91, .95, 1.0, 1.0, 1.0, .98, .98, 1.0, 1.0, 1.0),  # 10
    (.85, .85, .94, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 12
    (.96, .94, .99, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 14
    (.94, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 16
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 20
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 24
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 28
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 32
)  # fmt: skip

Models = Float[np.ndarray, " models"]


class Interval(NamedTuple):
    """An estimate with a two-sided confidence interval."""

    value: float
    low: float
    high: float


class Exchange(NamedTuple):
    """Recall = base + slope ln(P_A + ratio P_M)."""

    base: float
    slope: float
    ratio: Interval

    def mlp_at(self, attention: float, recall: float) -> float:
        """The weights of the MLP that it takes for a recall beside so many of attention."""
        return (np.exp((recall - self.base) / self.slope) - attention) / self.ratio.value


def exchange(attention: Models, mlp: Models, recall: Models, confidence: float = 0.95) -> Exchange:
    """What a weight of the MLP is worth in weights of attention, for models with the same facts.

    Least squares; the interval is Student's, of the logarithm of the ratio. Raises ValueError where
    there are no more models than numbers to fit.
    """

    def law(weights, base, slope, log_ratio):
        return base + slope * np.log(weights[0] + np.exp(log_ratio) * weights[1])

    fitted, half = _fitted(law, np.stack([attention, mlp]), recall, (0.0, 0.1, 1.0), confidence)
    ends = np.array([fitted[2] - half[2], fitted[2], fitted[2] + half[2]])
    low, value, high = np.exp(ends).tolist()
    return Exchange(float(fitted[0]), float(fitted[1]), Interval(value, low, high))


def power(
    attention: Models, mlp: Models, facts: Models, recall: Models, confidence: float = 0.95
) -> Interval:
    """The power of parameters that facts follow at equal recall; the ratio is fitted along.

    Least squares; the interval is Student's, of the power's inverse. Raises ValueError where there
    are no more models than numbers to fit.
    """

    def law(weights, base, slope, log_ratio, inverse):
        worth = np.log(weights[0] + np.exp(log_ratio) * weights[1])
        return base + slope * (worth - inverse * np.log(weights[2]))

    given = np.stack([attention, mlp, facts])
    fitted, half = _fitted(law, given, recall, (0.0, 0.1, 1.0, 1.0), confidence)
    inverse, half = float(fitted[3]), float(half[3])
    return Interval(1 / inverse, 1 / (inverse + half), 1 / (inverse - half))


def _fitted(law, given, recall, start, confidence):
    """Fitted numbers, and half the widths of their intervals."""
    free = len(recall) - len(start)
    if free < 1:
        raise ValueError(f"{len(recall)} models leave nothing for an interval of {len(start)} fits")
    fitted, covariance = curve_fit(law, given, recall, start)
    return fitted, stats.t.ppf((1 + confidence) / 2, free) * np.diag(covariance) ** 0.5


class PublishedMap(NamedTuple):
    """Heads, widths and recall of the cells of the source's map."""

    heads: Int[np.ndarray, " cells"]
    widths: Int[np.ndarray, " cells"]
    recall: Float[np.ndarray, " cells"]


def published() -> PublishedMap:
    """All cells of the source's map."""
    heads, widths = np.meshgrid(HEADS, WIDTHS, indexing="ij")
    return PublishedMap(heads.ravel(), widths.ravel(), np.array(RECALL).ravel())
