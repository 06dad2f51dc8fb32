"""The stored runs, data/companions/birth.json: declared, measured and read.

They take an estimated hour on one core.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from emergence.running.records import StoredRuns

from . import Simplified, bigrams, task
from .attention import RecallsAndFocus
from .bigrams import Bigrams
from .training import accuracy_on, train

N_READ = 32  # sequences on which attention is read
TEST_SEED = 10**6  # the stream of sequences to test on, and to read
FIRST_SEED = 0  # of all runs but the two at the source's size, which take 25 minutes each

# The order of emergence, at half the source's length and an eighth of its batch
RANDOM = Simplified(random_triggers=True, steps=600)
# At the source's size, with drawn triggers and with the slides' fixed ones
SOURCE = replace(RANDOM, length=256, dim=256, batch_size=512, steps=1000)
RELEASES = {  # steps from which W_OV^2, W_KQ^2 and W_KQ^1 move; ours
    "from the output": (0, 100, 300),
    "previous first": (0, 300, 100),
    "output last": (300, 0, 0),
}
WIDTHS = 128, 256, 512, 1024
SEEDS = tuple(range(FIRST_SEED, FIRST_SEED + 3))
# The slides' triggers, the same in every sequence: drawn and fixed ones share width and seed
FIXED = {256: SEEDS, 128: SEEDS[:1], 512: SEEDS[:1]}


@dataclass(frozen=True)
class Cell:
    """One run: its name, its settings, its seed."""

    name: str
    settings: Simplified
    seed: int


def _cells() -> tuple[Cell, ...]:
    """All runs, in the order of computation."""
    wide = {dim: replace(RANDOM, dim=dim) for dim in WIDTHS}
    fixed = {dim: replace(cell, random_triggers=False) for dim, cell in wide.items()}
    in_order, first = RELEASES["from the output"], FIRST_SEED
    return (
        *(Cell(f"random {dim}", wide[dim], first) for dim in WIDTHS[:3]),
        *(Cell(name, replace(wide[256], released=at), first) for name, at in RELEASES.items()),
        # the width at which embeddings overlap most, again
        Cell("random 128", wide[128], first + 1),
        Cell("source", SOURCE, 0),
        Cell("random 1024", wide[1024], first),
        *(Cell(f"fixed {dim}", fixed[dim], seed) for dim in FIXED for seed in FIXED[dim]),
        *(Cell("random 256", wide[256], seed) for seed in SEEDS[1:]),
        Cell("from the output, fixed", replace(fixed[256], released=in_order), first),
        Cell("source, fixed", replace(SOURCE, random_triggers=False), 0),
    )


def measure(cell: Cell, bigrams: Bigrams) -> dict[str, Any]:
    """What is stored of a run: curves, and the accuracy on fresh sequences."""
    settings = cell.settings
    what = task.make(bigrams, settings.n_triggers, random_triggers=settings.random_triggers)
    draw = torch.Generator().manual_seed(TEST_SEED + cell.seed)
    tested = task.sample(what, 512, settings.length, generator=draw)
    record = train(
        settings,
        bigrams,
        cell.seed,
        n_layers=2,
        device=torch.device("cpu"),
        label=cell.name,
        read=RecallsAndFocus.of(what, task.Batch(*(part[:N_READ] for part in tested))),
    )
    return {
        "probed": record.probed.tolist(),
        "readings": rounded(record.readings.T),
        "accuracy": rounded(record.accuracy),
        "loss": rounded(record.loss),
        "tested": {"all": round(accuracy_on(record, tested), 4)},
    }


def rounded(values: Any, digits: int = 4) -> Any:
    """Numbers as they are stored."""
    return torch.as_tensor(values, dtype=torch.float64).round(decimals=digits).tolist()


RUNS = StoredRuns(
    measure, _cells(), tables={"bigrams": ("data/shakespeare_bigrams.csv", bigrams.read)}
)


class StoredCurves(NamedTuple):
    """Readings of the simplified transformer during training, as `RecallsAndFocus` takes them."""

    ov2: Float[np.ndarray, " probes"]
    kq2: Float[np.ndarray, " probes"]
    kq1: Float[np.ndarray, " probes"]
    kq1_early: Float[np.ndarray, " probes"]
    previous: Float[np.ndarray, " probes"]
    previous_top: Float[np.ndarray, " probes"]
    match: Float[np.ndarray, " probes"]
    match_top: Float[np.ndarray, " probes"]
    matched: Float[np.ndarray, " probes"]  # recall of W_KQ^2 by frequency


class BirthRun(NamedTuple):
    """A stored run."""

    name: str
    seed: int
    settings: Simplified
    loss: Float[np.ndarray, " steps"]
    accuracy: Float[np.ndarray, " steps"]
    tested: float  # accuracy on fresh sequences
    probed: Int[np.ndarray, " probes"]
    curves: StoredCurves


def read(text: str) -> list[BirthRun]:
    """The runs of a file; ValueError for other runs."""
    return [
        BirthRun(
            cell.name,
            cell.seed,
            cell.settings,
            np.array(entry["loss"]),
            np.array(entry["accuracy"]),
            entry["tested"]["all"],
            np.array(entry["probed"], dtype=int),
            StoredCurves(*np.array(entry["readings"], dtype=float)),
        )
        for cell, entry in RUNS.read(text).items()
    ]
