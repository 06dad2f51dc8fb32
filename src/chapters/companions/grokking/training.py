"""Training of both layers by gradient descent on L_lambda, what is read of it, and the long runs.

These are stored as tables in data/companions/grokking.json; the chapter recomputes a part to
compare. All take about a quarter of an hour on one core. The first tables of the network are those
that the book's build at commit baea7b7198c8 published with its figures, six digits each;
`slowed_little` was computed by `run`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns

from . import FIRST_SEED, Direction, GrokkingSettings, RealTraining, Simulation, direction, model
from .direction import instance
from .model import Layers, accuracy, residual_and_gradient


class TrainingRun(NamedTuple):
    """A run of real training; the clock is 2 lambda t, as for the predicted dynamics."""

    clock: Float[Tensor, " times"]
    accuracy: Float[Tensor, " times"]  # on the pairs held out
    memorised: Float[Tensor, " times"]  # accuracy on the training pairs
    loss: Float[Tensor, " times"]  # L without weight decay
    norm: Float[Tensor, " times"]  # squared, of all weights
    embeddings: Float[Tensor, "times p hidden"]


@resumable
def train(
    simulation: Simulation,
    settings: RealTraining,
    seed: int,
    *,
    dtype: torch.dtype = torch.float32,
    label: str = "real training",
) -> TrainingRun:
    """Full-batch gradient descent with momentum on L_lambda of Eq. 13, for all weights.

    Data and initial weights are the `instance` of the simulation that it is compared with.
    With momentum m a step of size eta moves the clock by 2 lambda eta / (1 - m), divided by the
    slowdown of the first layer, by whose motion we count.
    Raises ArithmeticError when the run diverges.
    """
    rates = settings.learning_rate / settings.slowdown, settings.learning_rate
    tick = 2 * settings.decay * rates[0] / (1 - settings.momentum)
    steps = round(settings.clock / tick)
    log_every = max(1, round(settings.log_every / tick))
    data, layers = instance(simulation, seed)
    train_data, test_data, layers = data.train.to(dtype), data.test.to(dtype), layers.to(dtype)
    speed = Layers(*(torch.zeros_like(part) for part in layers))
    rows: list[tuple[Tensor, ...]] = []
    for k in loop.steps(steps + 1, label, layers=layers, speed=speed, rows=rows):
        residual, gradient = residual_and_gradient(layers, train_data)
        loss = residual.square().sum()
        loop.check_finite(loss, label, k)
        if k % log_every == 0:
            clock = torch.tensor(k * tick, dtype=torch.float64)
            scores = accuracy(layers, test_data), accuracy(layers, train_data)
            embeddings = layers.embeddings.to(torch.float64, copy=True)
            norm = layers.flat().double().square().sum()
            rows.append((clock, *scores, loss.double(), norm, embeddings))
        force = gradient.moved(layers, 2 * settings.decay)
        for weight, velocity, push, rate in zip(layers, speed, force, rates, strict=True):
            velocity.mul_(settings.momentum).add_(push)
            weight.sub_(rate * velocity)
    return TrainingRun(*map(torch.stack, zip(*rows, strict=True)))


KNOWN, CHANCE = 0.85, 0.15  # accuracies on held-out pairs: six of seven, one of seven


class LearningStage(NamedTuple):
    """The logs between which a network comes to know the held-out pairs, both ends included."""

    first: int  # the last log at chance
    last: int  # the first log at which they are known; both are -1 where this never happens

    @property
    def happens(self) -> bool:
        """Whether the network groks at all."""
        return self.last >= 0


def grokking_stage(accuracy: Float[np.ndarray, " times"]) -> LearningStage:
    """From the last log at chance to the first at which the held-out pairs are known.

    By accuracy, because the test loss of a run that ends early has not fallen completely.
    """
    learned = np.flatnonzero(accuracy >= KNOWN)
    if not learned.size:
        return LearningStage(-1, -1)
    before = np.flatnonzero(accuracy[: learned[0]] <= CHANCE)
    return LearningStage(int(before[-1]) if before.size else 0, int(learned[0]))


def during(
    values: Float[np.ndarray, " times"], steps: Int[np.ndarray, " times"], stage: LearningStage
) -> float:
    """The mean of a curve over the stage, weighted by time; NaN where there is no stage."""
    if not stage.happens:
        return float("nan")
    inside = slice(stage.first, stage.last + 1)
    weights = np.gradient(steps.astype(float))[inside]
    return float(np.average(values[inside], weights=weights))


def shortfall(values: Float[np.ndarray, " times"], stage: LearningStage) -> float:
    """How far the greatest value within the stage is below the greatest of all."""
    if not stage.happens:
        return float("nan")
    return float(np.nanmax(values) - np.nanmax(values[stage.first : stage.last + 1]))


Table = dict[str, Any]
SEEDS = tuple(range(FIRST_SEED, FIRST_SEED + 5))  # of the network at its first modulus


@dataclass(frozen=True)
class Part:
    """One stored table: its place among the others, and what it is computed with.

    Without `real` the network is in the limit of no weight decay.
    """

    kind: Literal["direction", "network"]
    name: str
    settings: Direction | Simulation
    seeds: tuple[int, ...]
    real: RealTraining | None = None


def rounded(values: Any) -> Any:
    """Numbers as lists, six digits each: more than a long run is reproducible to."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.tolist()
    return np.vectorize(lambda x: float(f"{x:.6g}") if np.isfinite(x) else None)(
        array.astype(float)
    ).tolist()


def rung(settings: Direction, seeds: Sequence[int], label: str) -> Table:
    """One rung of the direction ladder: settings, and curves with one row per seed."""
    record = direction.measure_updates(settings, seeds, label=label)
    curves = {name: rounded(part) for name, part in record._asdict().items() if name != "steps"}
    chosen = asdict(settings)
    chosen["sharpness"] = None if np.isinf(settings.sharpness) else settings.sharpness
    return {"settings": chosen, "steps": record.steps.tolist()} | curves


def runs_table(
    paths: Sequence[direction.FirstLayerPath] | Sequence[TrainingRun],
) -> Table:
    """Curves of several runs of one kind, one row per run, without their embeddings."""
    rows = []
    for path in paths:
        norm = path.embeddings.square().sum(dim=(1, 2))
        row = {"accuracy": path.accuracy, "embedding_norm": norm} | model.features(path.embeddings)
        if isinstance(path, TrainingRun):
            row |= {"memorised": path.memorised, "norm": path.norm}
        rows.append(row)
    table = {name: rounded(torch.stack([row[name] for row in rows])) for name in rows[0]}
    return {"clock": rounded(paths[0].clock)} | table


def declared(settings: GrokkingSettings) -> tuple[Part, ...]:
    """All tables: the ladder of directions, and the network."""
    ladder, simulation = settings.ladder, settings.simulation
    real: dict[str, RealTraining | None] = {
        name: getattr(settings, name) for name in ("real", "equal", "slowed", "slowed_little")
    }
    network = {"predicted": None} | real | {"ridge": settings.real, "ridge_equal": settings.equal}
    return (
        *(Part("direction", name, each, ladder.seeds) for name, each in ladder.rungs().items()),
        *(Part("network", name, simulation, SEEDS, real) for name, real in network.items()),
    )


def run(part: Part) -> Table:
    """What is stored of a part: one table, of training or of its prediction (Eqs. 17 and 20)."""
    settings, real, label = part.settings, part.real, f"{part.kind} {part.name}"
    if isinstance(settings, Direction):
        return rung(settings, part.seeds, label)
    if real is not None and not part.name.startswith("ridge"):
        return runs_table([train(settings, real, seed, label=label) for seed in part.seeds])
    ridge = 0.0
    if real is not None:  # at the decay of a real training, and to the end of its clock
        size, ridge = settings.ridge_step, real.decay
        steps, every = round(real.clock / size), max(1, round(real.log_every / size))
        settings = replace(settings, step=size, steps=steps, log_every=every)
    return runs_table(
        [direction.simulate(settings, seed, ridge=ridge, label=label) for seed in part.seeds]
    )


RUNS = StoredRuns(run, declared(GrokkingSettings()))


def read(text: str) -> Table:
    """The tables by kind and name, with arrays for lists of numbers; ValueError for other runs."""
    tables: Table = {}
    for part, table in RUNS.read(text).items():
        tables.setdefault(part.kind, {})[part.name] = _arrays(table)
    return tables


def _arrays(part: Any) -> Any:
    if isinstance(part, dict):
        return {
            name: value if name == "settings" else _arrays(value) for name, value in part.items()
        }
    if isinstance(part, list) and part and not isinstance(part[0], str):
        return np.array(part, dtype=float)  # None becomes NaN
    return part
