"""The trials stored in data/companions/factual_recall.json: cells of the source's map, and copies.

The source's map of heads against width has d = 32, d_h = 8 and S = R = 32. A copy has all of these,
and the width, in proportion: parameters and facts are divided by the same number. Proportional
capacity means that a cell and its copy recall alike.
"""

from dataclasses import replace
from typing import Any

import torch

from running.records import StoredRuns

from . import trials
from .model import Shape
from .trials import Outcome, Trial

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
    half, right, steps = trials.run(trial, torch.device("cpu"))
    return {"half": list(half), "right": list(right), "steps": steps}


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Trial, Outcome]:
    """The trials of a file. Raises ValueError for one of other runs."""
    return {
        trial: Outcome(tuple(outcome["half"]), tuple(outcome["right"]), outcome["steps"])
        for trial, outcome in RUNS.read(text).items()
    }
