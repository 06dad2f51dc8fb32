"""The stored runs, and what is measured in each."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .. import Settings, model, task
from .. import task_tables as tables
from ..attention import RecallsAndFocus
from ..bigrams import Bigrams
from ..training import train
from . import generic
from .generic import Generic

N_READ = 32  # sequences on which attention is read
TEST_SEED = 10**6  # the stream of sequences to test on, and to read
CHUNK = 16  # sequences at once through the dense network

# The order of emergence, at half the source's length and an eighth of its batch
RANDOM = Settings(random_triggers=True, steps=600)
# At the source's size, with drawn triggers and with the slides' fixed ones
SOURCE = replace(RANDOM, length=256, dim=256, batch_size=512, steps=1000)
RELEASES = {  # steps from which W_OV^2, W_KQ^2 and W_KQ^1 move; ours
    "from the output": (0, 100, 300),
    "previous first": (0, 300, 100),
    "output last": (300, 0, 0),
}
WIDTHS = 128, 256, 512, 1024
# The slides' triggers, the same in every sequence: drawn and fixed ones share width and seed
FIXED = {256: (0, 1, 2), 128: (0,), 512: (0,)}
DRAWN_AGAIN = 1, 2
LONG = 256  # the source's length, with an eighth of its batch
SHOWN = "random 512", 0  # the run whose memories are stored whole


@dataclass(frozen=True)
class Simplified:
    """Those of `Settings` that decide a run: of task, network and descent."""

    length: int
    dim: int
    batch_size: int
    n_triggers: int
    random_triggers: bool
    released: tuple[int, int, int]
    steps: int
    learning_rate: float
    momentum: float
    weight_decay: float
    every: int

    @classmethod
    def of(cls, settings: Settings) -> "Simplified":
        """Taken from settings of the chapter."""
        return cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})


@dataclass(frozen=True)
class Cell:
    """One run: its name, its settings, its seed."""

    name: str
    settings: Simplified | Generic
    seed: int


def _cells() -> tuple[Cell, ...]:
    """All runs, in the order of computation."""
    random = Simplified.of(RANDOM)
    wide = {dim: replace(random, dim=dim) for dim in WIDTHS}
    fixed = {dim: replace(cell, random_triggers=False) for dim, cell in wide.items()}
    in_order = RELEASES["from the output"]
    return (
        *(Cell(f"random {dim}", wide[dim], 0) for dim in WIDTHS[:3]),
        Cell("generic", Generic(), 0),
        *(Cell(name, replace(wide[256], released=at), 0) for name, at in RELEASES.items()),
        Cell("random 128", wide[128], 1),  # the width at which embeddings overlap most, again
        Cell("source", Simplified.of(SOURCE), 0),
        Cell("random 1024", wide[1024], 0),
        *(Cell(f"fixed {dim}", fixed[dim], seed) for dim in FIXED for seed in FIXED[dim]),
        *(Cell("random 256", wide[256], seed) for seed in DRAWN_AGAIN),
        Cell("from the output, fixed", replace(fixed[256], released=in_order), 0),
        Cell("long, fixed", replace(fixed[256], length=LONG), 0),
        Cell("long, drawn", replace(wide[256], length=LONG), 0),
        Cell("source, fixed", replace(Simplified.of(SOURCE), random_triggers=False), 0),
    )


CELLS = _cells()


def measure(cell: Cell, bigrams: Bigrams) -> dict[str, Any]:
    """What is stored of a run: curves, and accuracies on fresh sequences."""
    settings = cell.settings
    what = task.make(bigrams, settings.n_triggers, random_triggers=settings.random_triggers)
    draw = torch.Generator().manual_seed(TEST_SEED + cell.seed)
    tested = task.sample(what, 512, settings.length, generator=draw)
    if isinstance(settings, Generic):
        layer = generic.train(settings, bigrams, cell.seed, label=cell.name)
        answer = partial(generic.logits, layer.parts, n_heads=settings.n_heads)
        return {
            "accuracy": rounded(layer.accuracy),
            "loss": rounded(layer.loss),
            "tested": accuracies(answer, tested, settings.n_triggers),
        }
    reader = RecallsAndFocus.of(what, task.Batch(*(part[:N_READ] for part in tested)))
    record = train(
        Settings(**asdict(settings)),
        bigrams,
        cell.seed,
        n_layers=2,
        device=torch.device("cpu"),
        label=cell.name,
        read=reader,
    )
    answer = partial(model.logits, record.frozen, record.trained)
    entry: dict[str, Any] = {
        "probed": record.probed.tolist(),
        "readings": rounded(record.readings.T),
        "accuracy": rounded(record.accuracy),
        "loss": rounded(record.loss),
        "tested": accuracies(answer, tested, settings.n_triggers),
    }
    if (cell.name, cell.seed) == SHOWN:
        entry["maps"] = _maps(record.frozen, record.trained, what.n_tokens)
    return entry


@torch.no_grad()
def accuracies(
    answer: Callable[[Tensor], Tensor], batch: task.Batch, n_triggers: int
) -> dict[str, float]:
    """Accuracy at all scored positions, and apart where sequences are stuck; their shares."""
    found = [answer(tokens).argmax(dim=2) for tokens in batch.tokens.split(CHUNK)]
    right = (torch.cat(found) == batch.targets).double()
    stuck = task.stuck(batch.scored, n_triggers)
    shares = {
        "all": right[batch.scored].mean(),
        "free": right[batch.scored & ~stuck].mean(),
        "stuck": right[stuck].mean(),
        "stuck_sequences": stuck.any(dim=1).double().mean(),
        "stuck_positions": stuck.sum() / batch.scored.sum(),
    }
    return {name: round(float(share), 4) for name, share in shares.items()}


def _maps(frozen: model.Frozen, trained: model.Trained, n_tokens: int) -> dict[str, Any]:
    """The three memories of a run: the first quarter of positions, tokens, tokens."""
    found = tables.tables(frozen, trained)
    assert isinstance(found, tables.Tables)
    n = len(found.kq1)
    places = slice(n_tokens, n_tokens + len(frozen.p) // 4)
    values = {
        "ov2": found.out[:, :n_tokens],
        "kq2": found.kq2[:n_tokens, n : n + n_tokens],
        "kq1": found.kq1[places, places].tril(),
    }
    return {name: rounded(value.detach(), 2) for name, value in values.items()}


def rounded(values: Any, digits: int = 4) -> Any:
    """Numbers as they are stored."""
    return torch.as_tensor(values, dtype=torch.float64).round(decimals=digits).tolist()
