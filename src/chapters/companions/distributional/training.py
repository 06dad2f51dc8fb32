"""Training on the noisy task, and the stored runs, data/companions/distributional.json."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch.nn.functional import cross_entropy

from chapters.companions.birth import bigrams
from chapters.companions.birth.bigrams import Bigrams
from chapters.companions.birth.stored import rounded
from emergence.running import loop
from emergence.running.cache import plain
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns

from . import Recipe, probes, task
from .model import Model, draw, logits
from .probes import Probe, Tested, followed

TEST_SEED = 10_000  # apart from all seeds of training
FIRST_SEED, N_SEEDS = 0, 3  # of the runs at the source's size, which take eight minutes each


class RunRecord(NamedTuple):
    """One run; a row of readings is as `probes.followed` gives it."""

    loss: Float[np.ndarray, " steps"]
    probed: Int[np.ndarray, " probes"]
    readings: Float[np.ndarray, "probes values"]
    model: Model


def probe(recipe: Recipe, bigrams: Bigrams, seed: int, device: torch.device) -> Probe:
    """Sequences that no training sees: with noise, and without."""
    stream = generator(TEST_SEED + seed, device)
    what = task.make(bigrams, device)
    trigger = int(what.triggers[0])
    noisy, clean = (
        task.sample(what, recipe.n_tested, recipe.length, alpha, generator=stream)
        for alpha in (recipe.alpha, 0.0)
    )
    return Probe(Tested.of(noisy, trigger), Tested.of(clean, trigger), trigger)


def due(step: int, every: int) -> bool:
    """Whether a step is measured: every so many, and five times as often before the first."""
    return step % (every if step >= every else max(1, every // 5)) == 0


@resumable
def train(
    recipe: Recipe, bigrams: Bigrams, seed: int, *, device: torch.device, label: str = "training"
) -> RunRecord:
    """Train one model by momentum descent; raises ArithmeticError when the run diverges."""
    stream = generator(seed, device)
    what = task.make(bigrams, device)
    tested = probe(recipe, bigrams, seed, device)
    model = draw(what.n_tokens, recipe.length, recipe.dim, recipe.width, generator=stream)
    free = model.trained
    for part in free:
        part.requires_grad_()
    optimiser = torch.optim.SGD(
        free, lr=recipe.learning_rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay
    )
    losses: list[float] = []
    probes: list[tuple[int, list[float]]] = []
    for step in loop.steps(
        recipe.steps,
        label,
        trained=tuple(free),
        optimiser=optimiser,
        stream=stream,
        losses=losses,
        found=probes,
    ):
        if due(step, recipe.every):
            probes.append((step, followed(model, tested)))
        batch = task.sample(what, recipe.batch_size, recipe.length, recipe.alpha, generator=stream)
        lowered = model.cast(getattr(torch, recipe.precision))
        optimiser.zero_grad()
        places = Tested.of(batch, tested.trigger)
        loss = cross_entropy(logits(lowered, batch.tokens, places.at, places.real), places.targets)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
        loop.check_finite(losses[-1], label, step)
    probes.append((recipe.steps, followed(model, tested)))
    for part in free:
        part.requires_grad_(False)
    probed = np.array([step for step, _ in probes], dtype=int)
    readings = np.array([list(row) for _, row in probes])
    return RunRecord(np.array(losses), probed, readings, model)


# Whether the number format of products matters is tried at a quarter of the size
SMALL = replace(Recipe(), length=64, dim=64, width=256, steps=400)


@dataclass(frozen=True)
class Cell:
    """One run: its name, its recipe, its seed."""

    name: str
    recipe: Recipe
    seed: int


CELLS = (
    *(Cell("source", Recipe(), seed) for seed in range(FIRST_SEED, FIRST_SEED + N_SEEDS)),
    Cell("small", SMALL, FIRST_SEED),
    Cell("small, float32", replace(SMALL, precision="float32"), FIRST_SEED),
)


class DistributionalRun(NamedTuple):
    """A stored run; `readings` are columns as `probes.followed` gives them."""

    name: str
    seed: int
    settings: dict[str, Any]
    loss: Float[np.ndarray, " steps"]
    probed: Int[np.ndarray, " probes"]
    readings: Float[np.ndarray, "values probes"]
    table: dict[str, probes.Answers]  # by `layer.matrix.share`

    def curve(self, truncated: tuple[str, str, float] | None, value: str) -> np.ndarray:
        """One of the answers during training, of the full model or of one of `FOLLOWED`."""
        place = 0 if truncated is None else 1 + probes.FOLLOWED.index(truncated)
        n = len(probes.Answers._fields)
        return self.readings[n * place + probes.Answers._fields.index(value)]

    @property
    def looks(self) -> tuple[np.ndarray, np.ndarray]:
        """Attention mass of the last layer on o and on noise."""
        return self.readings[-2], self.readings[-1]

    @property
    def unsettled(self) -> float:
        """Distance of the mean loss of the last fifth of steps from that of the fifth before."""
        fifth = len(self.loss) // 5
        return float(abs(self.loss[-fifth:].mean() - self.loss[-2 * fifth : -fifth].mean()))


def measure(cell: Cell, bigrams: Bigrams) -> dict[str, Any]:
    """What is stored of a run."""
    recipe, device = cell.recipe, torch.device("cpu")
    record = train(recipe, bigrams, cell.seed, device=device, label=f"{cell.name} {cell.seed}")
    built = probe(recipe, bigrams, cell.seed, device)
    table = probes.table(record.model, built, recipe.shares)
    return {
        "loss": rounded(record.loss),
        "probed": record.probed.tolist(),
        "readings": rounded(record.readings.T),
        "table": {name: rounded(values) for name, values in table.items()},
    }


RUNS = StoredRuns(
    measure, CELLS, tables={"bigrams": ("data/shakespeare_bigrams.csv", bigrams.read)}
)


def read(text: str) -> list[DistributionalRun]:
    """The runs of a file; ValueError for other runs, and for other readings than are taken."""
    wanted = len(probes.Answers._fields) * (1 + len(probes.FOLLOWED)) + 2
    runs = []
    for cell, entry in RUNS.read(text).items():
        if len(entry["readings"]) != wanted:
            readings = len(entry["readings"])
            raise ValueError(f"a run has {readings} readings a step, expected {wanted}")
        runs.append(DistributionalRun(
            name=cell.name,
            seed=cell.seed,
            settings={name: value for name, value in plain(cell.recipe).items() if name},
            loss=np.array(entry["loss"]),
            probed=np.array(entry["probed"], dtype=int),
            readings=np.array(entry["readings"]),
            table={name: probes.Answers(*values) for name, values in entry["table"].items()},
        ))  # fmt: skip
    return runs
