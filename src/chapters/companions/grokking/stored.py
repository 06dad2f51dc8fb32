"""Long runs of the grokking chapter, as tables in data/companions/grokking.json.

The chapter reads them, and recomputes a part to compare. All take about a quarter of an hour on one
core. The first tables of the network are those that the book's build at commit baea7b7198c8
published with its figures, six digits each; `slowed_little` was computed by `run`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import torch

from emergence.running.records import StoredRuns

from . import (
    FIRST_SEED,
    Direction,
    GrokkingSettings,
    RealTraining,
    Simulation,
    direction,
    model,
    training,
)

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
    paths: Sequence[direction.FirstLayerPath] | Sequence[training.TrainingRun],
) -> Table:
    """Curves of several runs of one kind, one row per run, without their embeddings."""
    rows = []
    for path in paths:
        norm = path.embeddings.square().sum(dim=(1, 2))
        row = {"accuracy": path.accuracy, "embedding_norm": norm} | model.features(path.embeddings)
        if isinstance(path, training.TrainingRun):
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
        return runs_table(
            [training.train(settings, real, seed, label=label) for seed in part.seeds]
        )
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
