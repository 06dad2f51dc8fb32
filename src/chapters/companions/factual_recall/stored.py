"""The stored trials of capacity, data/companions/factual_recall.json."""

from typing import Any

import torch

from running.records import StoredRuns

from . import cells, trials
from .trials import Outcome, Trial


def run(trial: Trial) -> dict[str, Any]:
    """What is stored of a trial: right answers of each rate, and the steps."""
    half, right, steps = trials.run(trial, torch.device("cpu"))
    return {"half": list(half), "right": list(right), "steps": steps}


RUNS = StoredRuns(run, cells.CELLS)


def read(text: str) -> dict[Trial, Outcome]:
    """The trials of a file. Raises ValueError for one of other runs."""
    return {
        trial: Outcome(tuple(kept["half"]), tuple(kept["right"]), kept["steps"])
        for trial, kept in RUNS.read(text).items()
    }
