"""Training on the noisy task, what a model answers whole and truncated, and where it looks.

The stored runs are in data/companions/distributional.json.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from chapters.companions.birth import task as birth
from chapters.companions.birth.stored import rounded
from chapters.companions.birth.task import Bigrams, rows_of, seen_before
from emergence.running import loop
from emergence.running.cache import plain
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns

from . import Recipe
from .model import (
    Batch,
    LastLayer,
    Model,
    after_first,
    answer,
    ask,
    draw,
    logits,
    looks,
    make,
    sample,
    shares,
    truncated,
)

TEST_SEED = 10_000  # apart from all seeds of training
FIRST_SEED, N_SEEDS = 0, 3  # of the runs at the source's size, which take eight minutes each

LAYERS = "first", "last"
MATRICES = "v", "o", "w_in", "w_out"


class Tested(NamedTuple):
    """Fresh sequences and the scored positions."""

    batch: Batch
    at: Int[Tensor, "batch R"]
    real: Bool[Tensor, "batch R"]

    @classmethod
    def of(cls, batch: Batch, trigger: int) -> "Tested":
        """A batch, scored where the trigger stands and has stood before."""
        triggers = batch.tokens.new_tensor([[trigger]])
        return cls(batch, *rows_of(seen_before(batch.tokens, triggers)))

    @property
    def targets(self) -> Int[Tensor, " K"]:
        """What follows the scored positions."""
        return self.batch.targets.gather(1, self.at)[self.real]


class Answers(NamedTuple):
    """p(noise | trigger) on text with noise; the same, and accuracy, on text without."""

    noise: Float[Tensor, ""]
    noise_clean: Float[Tensor, ""]
    clean: Float[Tensor, ""]


class Probe(NamedTuple):
    """Text with noise and text without, and the trigger."""

    noisy: Tested
    clean: Tested
    trigger: int

    @torch.no_grad()
    def streams(self, model: Model) -> list[Float[Tensor, "batch T d"]]:
        """Both texts after the first layer."""
        return [after_first(model, tested.batch.tokens) for tested in (self.noisy, self.clean)]

    @torch.no_grad()
    def asked(self, model: Model, streams: list[Tensor] | None = None) -> list[LastLayer]:
        """Both texts where the last feed-forward layer finds them."""
        both = zip(streams or self.streams(model), (self.noisy, self.clean), strict=True)
        return [ask(model, x, tested.at) for x, tested in both]

    @torch.no_grad()
    def answers(self, model: Model, asked: list[LastLayer] | None = None) -> Answers:
        """What a model answers; `asked` saves what lies before its last feed-forward layer."""
        both = zip((self.noisy, self.clean), asked or self.asked(model), strict=True)
        (noise, _), clean = (
            shares(answer(model, at.stream[tested.real]), tested.targets) for tested, at in both
        )
        return Answers(noise, *clean)

    def looks(self, asked: list[LastLayer]) -> tuple[Tensor, Tensor]:
        """Mass of the last layer's attention on o and on noise, in text with noise."""
        noisy = self.noisy
        return looks(asked[0].pattern, noisy.batch, noisy.real, self.trigger)


FOLLOWED = (  # what is truncated during training
    ("last", "w_in", 0.0),  # no last feed-forward layer
    ("first", "w_in", 0.0),  # no first one
    ("last", "w_in", 0.1),
    ("last", "w_in", 0.2),
    ("last", "w_out", 0.1),
    ("last", "w_out", 0.2),
)


@torch.no_grad()
def followed(model: Model, probe: Probe) -> list[float]:
    """One reading: answers of the full model and of those of `FOLLOWED`, then the two masses."""
    residuals = probe.asked(model)
    readings = [*probe.answers(model, residuals)]
    for layer, matrix, share in FOLLOWED:
        other = truncated(model, layer, matrix, share)
        readings += probe.answers(other, residuals if layer == "last" else None)
    readings += probe.looks(residuals)
    return list(torch.stack(readings).tolist())


@torch.no_grad()
def table(model: Model, probe: Probe, shares: tuple[float, ...]) -> dict[str, list[float]]:
    """Answers with one matrix of either layer truncated, by `layer.matrix.share`."""
    streams = probe.streams(model)
    rows = {}
    for layer, matrix, share in itertools.product(LAYERS, MATRICES, shares):
        other = truncated(model, layer, matrix, share)
        residuals = probe.asked(other, streams if layer == "last" else None)
        answers = probe.answers(other, residuals)
        rows[f"{layer}.{matrix}.{share:g}"] = [float(value) for value in answers]
    return rows


class RunRecord(NamedTuple):
    """One run; a row of readings is as `probes.followed` gives it."""

    loss: Float[np.ndarray, " steps"]
    probed: Int[np.ndarray, " probes"]
    readings: Float[np.ndarray, "probes values"]
    model: Model


def probe(recipe: Recipe, bigrams: Bigrams, seed: int, device: torch.device) -> Probe:
    """Sequences that no training sees: with noise, and without."""
    stream = generator(TEST_SEED + seed, device)
    what = make(bigrams, device)
    trigger = int(what.triggers[0])
    noisy, clean = (
        sample(what, recipe.n_tested, recipe.length, alpha, generator=stream)
        for alpha in (recipe.alpha, 0.0)
    )
    return Probe(Tested.of(noisy, trigger), Tested.of(clean, trigger), trigger)


@resumable
def train(
    recipe: Recipe, bigrams: Bigrams, seed: int, *, device: torch.device, label: str = "training"
) -> RunRecord:
    """Train one model by momentum descent; raises ArithmeticError when the run diverges."""
    stream = generator(seed, device)
    what = make(bigrams, device)
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
        # five times as often up to the first
        if step % (recipe.every if step >= recipe.every else max(1, recipe.every // 5)) == 0:
            probes.append((step, followed(model, tested)))
        batch = sample(what, recipe.batch_size, recipe.length, recipe.alpha, generator=stream)
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
    table: dict[str, Answers]  # by `layer.matrix.share`

    def curve(self, truncated: tuple[str, str, float] | None, value: str) -> np.ndarray:
        """One of the answers during training, of the full model or of one of `FOLLOWED`."""
        place = 0 if truncated is None else 1 + FOLLOWED.index(truncated)
        n = len(Answers._fields)
        return self.readings[n * place + Answers._fields.index(value)]

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
    shares = table(record.model, built, recipe.shares)
    return {
        "loss": rounded(record.loss),
        "probed": record.probed.tolist(),
        "readings": rounded(record.readings.T),
        "table": {name: rounded(values) for name, values in shares.items()},
    }


RUNS = StoredRuns(measure, CELLS, tables={"bigrams": ("data/shakespeare_bigrams.csv", birth.read)})


def read(text: str) -> list[DistributionalRun]:
    """The runs of a file; ValueError for other runs, and for other readings than are taken."""
    wanted = len(Answers._fields) * (1 + len(FOLLOWED)) + 2
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
            table={name: Answers(*values) for name, values in entry["table"].items()},
        ))  # fmt: skip
    return runs
