"""Trials on the source's map of heads against width, and what they say of capacity.

The map is that of Nichani, Lee and Bietti, arXiv 2412.06538, read off the colours of the plot in
`plotting.ipynb` of github.com/eshnich/factual-recall-iclr at commit 7c4d121, to about 0.01:
data/companions/factual_recall_map.csv. One training a cell: S = R = 32, D = 8, d = 32, d_h = 8,
Adam at a rate of 0.01 in batches of 1,024 for up to 16,384 steps; recall is the best of 129 tests.
The line drawn over it is d m = 2300 - d d_h H / 2, from d d_h H = 1280 on.

Ours are stored in data/companions/factual_recall.json: cells of this map, and copies. A copy has
its sizes and facts in proportion: parameters and facts are divided by the same number. Proportional
capacity means that a cell and its copy recall alike.

Both laws are read off recall where facts do not quite fit. It is taken to depend on one quantity,
the logarithm of P_A + ratio P_M, which is counted in weights of attention, less that of the weights
that S R facts ask for, (S R)^(1/power).
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import stats
from scipy.optimize import curve_fit

from emergence.running.records import StoredRuns

from . import trials
from .model import Shape
from .trials import Trial, TrialResult

FEWEST = 1280  # d d_h H below which the line is vertical
LINE = 2300  # d m + d d_h H / 2 on the line

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


def published(text: str) -> PublishedMap:
    """All cells of the source's map, from a table whose first row names the widths."""
    table = np.genfromtxt(text.splitlines(), delimiter=",")
    heads, widths = np.meshgrid(table[1:, 0].astype(int), table[0, 1:].astype(int), indexing="ij")
    return PublishedMap(heads.ravel(), widths.ravel(), table[1:, 1:].ravel())


DIM = 32  # of the source's map
UNDER_THE_GUIDE = (
    (8, 16), (12, 8), (10, 24), (10, 8), (8, 32), (12, 16), (6, 24), (14, 8), (8, 8), (10, 16),
    (6, 40),
)  # fmt: skip

ALONE = 20, 1  # hardly an MLP; the draw decides whether all is stored, so there are three


def cell(heads: int, width: int, dim: int = DIM) -> Trial:
    """A cell of the source's map, named by its width there, or its copy with dimension `dim`.

    One rate, as there. Embeddings and facts are other ones for each number of heads. Raises
    ValueError where the copy is not of whole numbers.
    """
    if dim % 4 or width * dim % DIM:
        raise ValueError(f"no copy with d = {dim} of a cell with width {width}")
    shape = Shape(dim, heads, dim // 4, width * dim // DIM)
    return Trial(shape, 2 * dim, rates=(0.01,), seed=heads)


def control(heads: int, width: int, dim: int) -> Trial:
    """A cell at all rates of the source's other sweep, not given up half way."""
    trial = cell(heads, width, dim)
    return replace(trial, rates=(0.01, 0.003, 0.001), hopeless=0.0)


def worth(shape: Shape) -> float:
    """Weights of the MLP and a quarter of those of attention, as the source's guide counts."""
    return shape.mlp_parameters + shape.attention_parameters / 4


# In the order in which they are run: what decides most comes first. Above the guide: eight heads
# near the edge, a large MLP beside few heads, next to none beside many, and three cells further in.
CELLS: tuple[Trial, ...] = (
    *(cell(8, width) for width in (36, 43, 62, 52)),
    *(cell(*place, dim) for place in UNDER_THE_GUIDE[:5] for dim in (16, DIM)),
    *(cell(12, 16, 16), cell(20, 1), cell(4, 128)),
    *(replace(cell(*ALONE), seed=seed) for seed in (1, 2)),
    *(cell(6, 24, 16), cell(8, 8, 16), cell(8, 8), cell(6, 24), cell(12, 16)),
    *(cell(*place, dim) for place in UNDER_THE_GUIDE[7:] for dim in (16, DIM) if place != (8, 8)),
    *(control(*place, dim) for place in UNDER_THE_GUIDE[:2] for dim in (16, DIM)),
    *(cell(*place) for place in ((12, 32), (16, 16), (10, 48))),
    *(cell(*place, 24) for place in UNDER_THE_GUIDE),
)


def run(trial: Trial) -> dict[str, Any]:
    """What is stored of a trial: right answers of each rate, and the steps."""
    half, right, steps = trials.train_until(trial, torch.device("cpu"))
    return {"half": list(half), "right": list(right), "steps": steps}


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Trial, TrialResult]:
    """The trials of a file. Raises ValueError for one of other runs."""
    return {
        trial: TrialResult(tuple(outcome["half"]), tuple(outcome["right"]), outcome["steps"])
        for trial, outcome in RUNS.read(text).items()
    }
