"""Training of the simplified transformer, and the order in which stored runs learn their memories.

Training is momentum descent on scored positions. The runs are declared and measured here and stored
in data/companions/birth.json; they take an estimated hour on one core.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.analysis import settled
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns

from . import Simplified, task
from .model import (
    Frozen,
    MemoryReader,
    Readings,
    Trained,
    forward,
    initial,
    loss_and_accuracy,
    matrices_of,
)
from .task import Bigrams

POOL = 8  # batches drawn at once: a chain is drawn position by position
CHUNK = 16  # sequences tested at once
Reader = Callable[[Frozen, Trained, Int[Tensor, " k"]], Sequence[Any]]  # called with the triggers


class TrainingRecord(NamedTuple):
    """One run: loss and accuracy of each fresh batch before its step, readings at some steps."""

    loss: Float[np.ndarray, " steps"]
    accuracy: Float[np.ndarray, " steps"]
    probed: Int[np.ndarray, " probes"]
    readings: Float[np.ndarray, "probes ..."]  # as the reader gives them
    frozen: Frozen
    trained: Trained


@resumable
def train(
    settings: Simplified,
    bigrams: Bigrams,
    seed: int,
    *,
    n_layers: int,
    device: torch.device,
    label: str = "training",
    read: Reader | None = None,
) -> TrainingRecord:
    """Train one model, and read its memories on the way if there is a reader.

    A reader is a frozen dataclass, for a training resumes only with the same one. Raises
    ArithmeticError when the run diverges.
    """
    stream = generator(seed, device)
    what = task.make(bigrams, settings.n_triggers, device, random_triggers=settings.random_triggers)
    frozen, trained = initial(
        what.n_tokens, settings.length, settings.dim, n_layers, generator=stream
    )
    free = matrices_of(trained)
    for part in free:
        part.requires_grad_()
    optimiser = torch.optim.SGD(
        free,
        lr=settings.learning_rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
    rows: list[tuple[float, float]] = []  # loss and accuracy
    probes: list[tuple[int, Sequence[Any]]] = []
    pool: list[Tensor] = []
    for step in loop.steps(
        settings.steps,
        label,
        trained=tuple(free),
        optimiser=optimiser,
        stream=stream,
        pool=pool,
        rows=rows,
        found=probes,
    ):
        if read and step % settings.every == 0:
            probes.append((step, read(frozen, trained, what.triggers)))
        size = settings.batch_size
        if step % POOL == 0:
            pool[:] = task.sample(what, POOL * size, settings.length, generator=stream)
        batch = task.Batch(*(part[step % POOL * size :][:size].to(device) for part in pool))
        loss, accuracy = loss_and_accuracy(frozen, trained, batch)
        optimiser.zero_grad()
        loss.backward()
        moving = [step >= first or n_layers == 1 for first in reversed(settings.released)]
        for part, moved in zip(free, moving, strict=False):
            if not moved:
                part.grad = None  # then it has no momentum and no decay either
        optimiser.step()
        rows.append((float(loss.detach()), float(accuracy)))
        loop.check_finite(rows[-1][0], label, step)
    if read:
        probes.append((settings.steps, read(frozen, trained, what.triggers)))
    for part in free:
        part.requires_grad_(False)
    losses, accuracies = np.array(rows).T
    probed = np.array([step for step, _ in probes], dtype=int)
    readings = np.array([values for _, values in probes], dtype=float)
    return TrainingRecord(losses, accuracies, probed, readings, frozen, trained)


def accuracy_on(record: TrainingRecord, batch: task.Batch) -> float:
    """Accuracy at the scored positions of sequences that were not trained on."""
    answers = [
        forward(record.frozen, record.trained, tokens)[0].argmax(dim=2)
        for tokens in batch.tokens.split(CHUNK)
    ]
    return float((torch.cat(answers) == batch.targets)[batch.scored].double().mean())


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
        read=MemoryReader.of(what, task.Batch(*(part[:N_READ] for part in tested))),
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
    measure, _cells(), tables={"bigrams": ("data/shakespeare_bigrams.csv", task.read)}
)


class BirthRun(NamedTuple):
    """A stored run."""

    name: str
    seed: int
    settings: Simplified
    loss: Float[np.ndarray, " steps"]
    accuracy: Float[np.ndarray, " steps"]
    tested: float  # accuracy on fresh sequences
    probed: Int[np.ndarray, " probes"]
    curves: Readings


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
            Readings(*np.array(entry["readings"], dtype=float)),
        )
        for cell, entry in RUNS.read(text).items()
    ]


N_TOKENS = 65
LEVELS = np.arange(1, 10) / 10


class MemoryOrder(NamedTuple):
    """How often runs follow OV2, KQ2, KQ1; of the cases that their length decides, NaN for none."""

    begun: float  # runs
    half: float  # runs
    levels: float  # runs and levels
    output_first: float  # runs and levels: OV2 before KQ2
    match_first: float  # runs and levels: KQ2 before KQ1


def _memories(run: BirthRun, by_use: bool) -> dict[str, tuple[Float[np.ndarray, " probes"], int]]:
    """Of each memory its recall at each probe, and M."""
    settings, read = run.settings, run.curves
    positions = max(2, settings.length // 4) if by_use else settings.length
    return {
        "ov2": (read.ov2, N_TOKENS),
        "kq2": (
            read.matched if by_use else read.kq2,
            N_TOKENS if settings.random_triggers else settings.n_triggers,
        ),
        "kq1": (read.kq1_early if by_use else read.kq1, positions - 1),
    }


def learned_shares(
    run: BirthRun, *, by_use: bool = False
) -> dict[str, Float[np.ndarray, " probes"]]:
    """The share of each memory that is learned at each probe: 0 at chance, which is 1/M, 1 at 1.

    `by_use` weighs what is used more: tokens by frequency in W_KQ^2, and of the positions in
    W_KQ^1 only the first quarter.
    """
    memories = _memories(run, by_use).items()
    return {name: (curve - 1 / m) / (1 - 1 / m) for name, (curve, m) in memories}


class Arrivals(NamedTuple):
    """Steps of OV2, KQ2, KQ1; infinity for never."""

    begun: tuple[float, ...]
    half: tuple[float, ...]
    levels: tuple[tuple[float, ...], ...]  # one row a level of LEVELS


def arrivals(run: BirthRun, *, by_use: bool = False) -> Arrivals:
    """The steps from which each memory of a run stays above chance, one half and each level."""
    counts = [m for _, m in _memories(run, by_use).values()]
    curves = learned_shares(run, by_use=by_use).values()

    def reached(levels: Sequence[float]) -> tuple[float, ...]:
        pairs = zip(curves, levels, strict=True)
        return tuple(float(settled(run.probed, curve[None], at)[0]) for curve, at in pairs)

    return Arrivals(
        # three standard deviations of the mean of M draws with probability 1/M, as a share
        reached([3 / m / (1 - 1 / m) ** 0.5 for m in counts]),
        reached([0.5] * 3),
        tuple(reached([float(level)] * 3) for level in LEVELS),
    )


def follows(times: Sequence[float]) -> bool | None:
    """Whether times rise strictly; None if they may yet: only later ones are infinite, two or more.

    A time that never came is later than one that came.
    """
    for k, (earlier, other) in enumerate(itertools.pairwise(times)):
        if earlier == other == np.inf:
            return None if all(time == np.inf for time in times[k:]) else False
        if not earlier < other:
            return False
    return True


def compare(runs: Sequence[BirthRun], *, by_use: bool = False) -> MemoryOrder:
    """The order of the three memories, over runs and over nine levels."""
    times_of_runs = [arrivals(run, by_use=by_use) for run in runs]
    levels = [times for each in times_of_runs for times in each.levels]
    return MemoryOrder(
        _share(each.begun for each in times_of_runs),
        _share(each.half for each in times_of_runs),
        _share(levels),
        _share(times[:2] for times in levels),
        _share(times[1:] for times in levels),
    )


def _share(cases: Iterable[Sequence[float]]) -> float:
    """How often times rise, of the cases that are decided."""
    decided = [follows_law for follows_law in map(follows, cases) if follows_law is not None]
    return float(np.mean(decided)) if decided else float("nan")
