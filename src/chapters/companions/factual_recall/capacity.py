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

A trial: one set of facts, one shape, the source's training at several rates side by side.

Settings are those of the source's sweeps. All rates see the same facts, initial values and
batches, as there; they end together when one of them recalls enough.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import stats
from scipy.optimize import curve_fit
from torch import Tensor

from chapters.companions.associative_memories import Scored, scored
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import Schedule
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns

from . import model
from .model import Facts, Frozen, Parameters, Shape, initial, written_at_end

MEMORY = 0.9, 0.999  # of Adam, as in the source
SMALL = 1e-8


@dataclass(frozen=True)
class Trial:
    """S + R = `size` with S = R or S = R + 1, and as many noise tokens; D `answers`, T `length`."""

    shape: Shape
    size: int
    rates: tuple[float, ...] = (0.01, 0.003, 0.001)
    seed: int = 0
    answers: int = 8
    length: int = 32
    batch_size: int = 1024
    steps: int = 16384
    every: int = 128  # steps between two tests
    test_size: int = 1024  # sequences, drawn once
    level: float = 0.99  # share of right answers at which the facts count as stored
    hopeless: float = 0.9  # ours: given up where no rate has that half way

    @property
    def facts(self) -> Facts:
        """Subjects, relations and noise; the source has S = R."""
        n = self.size
        return Facts((n + 1) // 2, n // 2, self.answers, n, self.length)


class TrialResult(NamedTuple):
    """The most right answers of each rate, up to half of the steps and in all; the steps taken."""

    half: tuple[int, ...]
    right: tuple[int, ...]
    steps: int

    def recall(self, trial: Trial) -> float:
        """The share of right answers of the best rate."""
        return max(self.right) / trial.test_size


@resumable
def train_until(trial: Trial, device: torch.device) -> TrialResult:
    """Train until a rate recalls enough, or to the last step; ArithmeticError if one diverges.

    A run that ends in the first half of the steps reports its last count as that of half way.
    """
    stream = generator(trial.seed, device)
    facts, runs = trial.facts, len(trial.rates)
    answers = model.random_answers(facts, stream)
    frozen, start = initial(trial.shape, facts, [stream])
    frozen = Frozen(*(part.expand(runs, -1, -1) for part in frozen))
    weights = torch.cat([part.flatten(1) for part in start], dim=1).repeat(runs, 1)
    moments = torch.zeros_like(weights), torch.zeros_like(weights)
    rates = torch.tensor(trial.rates, dtype=weights.dtype, device=device)[:, None]
    test = model.questions(facts, answers, trial.test_size, stream)
    best = torch.zeros(2, runs, dtype=torch.long, device=device)  # half way, and so far
    label = f"{facts.subjects * facts.relations} facts, {trial.shape.parameters} parameters"
    over = [False]
    slow, slower = MEMORY
    powers = ((1 - slow**k, 1 - slower**k) for k in range(1, trial.steps + 1))
    corrections = Schedule(list(powers), device, weights.dtype)

    def answered(weights: Tensor, counts: Tensor, target: Tensor) -> tuple[Tensor, Scored]:
        """What all rates retrieve of the same sequences, and its score."""
        x = written_at_end(trial.shape, frozen, _parts(weights, start), counts.expand(runs, -1, -1))
        return x, scored(x, frozen.u, target.expand(runs, -1))

    def step(recorded: bool) -> tuple[Tensor, None]:
        leaf = weights.requires_grad_()
        x, now = answered(leaf, *model.questions(facts, answers, trial.batch_size, stream))
        (slope,) = torch.autograd.grad(x, leaf, now.gradient)
        adam(weights.detach_(), slope, moments, rates, corrections())
        return now.loss, None

    def test_it(made: int) -> None:
        if made % trial.every == 0 or made == trial.steps:
            right = answered(weights, *test)[1].right.sum(1)
            torch.maximum(best[1], right, out=best[1])
            if made <= trial.steps // 2:
                best[0] = best[1]
        share = float(best[1].max()) / trial.test_size
        half = made == trial.steps // 2
        over[0] = share >= trial.level or (half and share < trial.hopeless)

    stops = {*range(trial.every, trial.steps, trial.every), trial.steps // 2, trial.steps} - {0}
    made = loop.descend(
        trial.steps, label, step, rows=[], ended=lambda: over[0], stops=sorted(stops),
        at_stop=test_it, weights=weights, moments=moments, stream=stream, best=best,
        last=corrections.place,
    )  # fmt: skip
    half, whole = best.tolist()
    return TrialResult(tuple(half), tuple(whole), made)


@torch.no_grad()
def adam(
    weights: Float[Tensor, "runs n"],
    slope: Float[Tensor, "runs n"],
    moments: tuple[Float[Tensor, "runs n"], Float[Tensor, "runs n"]],
    rates: Float[Tensor, "runs 1"],
    corrections: Float[Tensor, " 2"],
) -> None:
    """A step of Adam in place, each run at its own rate; the corrections are 1 - beta^step."""
    (first, second), (slow, slower) = moments, MEMORY
    first.lerp_(slope, 1 - slow)
    second.mul_(slower).addcmul_(slope, slope, value=1 - slower)
    length = (second / corrections[1]).sqrt_().add_(SMALL)
    weights.sub_((first / length).mul_(rates / corrections[0]))


def _parts(weights: Float[Tensor, "runs n"], like: Parameters) -> Parameters:
    """The matrices of the model, views of one row of weights a run."""
    pieces = weights.split([part[0].numel() for part in like], dim=1)
    shapes = (part.shape[1:] for part in like)
    return Parameters(*(p.unflatten(1, s) for p, s in zip(pieces, shapes, strict=True)))


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
    half, right, steps = train_until(trial, torch.device("cpu"))
    return {"half": list(half), "right": list(right), "steps": steps}


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Trial, TrialResult]:
    """The trials of a file. Raises ValueError for one of other runs."""
    return {
        trial: TrialResult(tuple(outcome["half"]), tuple(outcome["right"]), outcome["steps"])
        for trial, outcome in RUNS.read(text).items()
    }
