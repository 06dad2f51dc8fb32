"""Long runs of the grokking chapter, as tables in data/companions/grokking.json.

The chapter reads them, and recomputes a part to compare. All take about an hour and a half on one
core. The first tables of the network are those that the book's build at commit baea7b7198c8
published with its figures, six digits each; `slowed_little` was computed by `run`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import torch

from running.records import StoredRuns

from . import (
    PRESET,
    Direction,
    GrokkingSettings,
    RealTraining,
    Simulation,
    direction,
    first_layer,
    fourier,
    training,
)

Table = dict[str, Any]
SEEDS = (0, 1, 2, 3, 4)  # of the network at its first modulus


@dataclass(frozen=True)
class Part:
    """One stored table: its place among the others, and what it is computed with.

    Without `real` the network is in the limit of no weight decay.
    """

    kind: Literal["direction", "network", "moduli", "weak"]
    name: str
    settings: Direction | Simulation
    seeds: tuple[int, ...]
    real: RealTraining | None = None


def plain(values: Any) -> Any:
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
    curves = {name: plain(part) for name, part in record._asdict().items() if name != "steps"}
    chosen = asdict(settings)
    chosen["sharpness"] = None if np.isinf(settings.sharpness) else settings.sharpness
    return {"settings": chosen, "steps": record.steps.tolist()} | curves


def runs_table(paths: Sequence[first_layer.Path] | Sequence[training.Trained]) -> Table:
    """Curves of several runs of one kind, one row per run, without their embeddings."""
    rows = []
    for path in paths:
        norm = path.embeddings.square().sum(dim=(1, 2))
        row = {"accuracy": path.accuracy, "embedding_norm": norm} | fourier.features(
            path.embeddings
        )
        if isinstance(path, training.Trained):
            row |= {"memorised": path.memorised, "norm": path.norm}
        rows.append(row)
    table = {name: plain(torch.stack([row[name] for row in rows])) for name in rows[0]}
    return {"clock": plain(paths[0].clock)} | table


def declared(settings: GrokkingSettings) -> tuple[Part, ...]:
    """All tables: the ladder of directions, the network, and the network at other moduli."""
    ladder, simulation, sizes = settings.ladder, settings.simulation, settings.moduli
    real: dict[str, RealTraining | None] = {
        name: getattr(settings, name) for name in ("real", "equal", "slowed", "slowed_little")
    }
    network = {"predicted": None} | real | {"ridge": settings.real, "ridge_equal": settings.equal}

    def resized(p: int, real: RealTraining, **changes: Any) -> tuple[Simulation, RealTraining]:
        """Both at another modulus; with more pairs only smaller learning rates are stable."""
        simulated = replace(simulation, modulus=p, embedding_std=p**-0.5, **changes)
        return simulated, replace(real, learning_rate=real.learning_rate * simulation.modulus / p)

    moduli = {
        p: resized(p, replace(sizes.real, clock=clock), ridge_step=sizes.ridge_step)
        for p, clock in zip(sizes.moduli, sizes.clocks, strict=True)
    }
    weak = {p: resized(p, sizes.weak) for p in sizes.moduli[-2:]}
    return (
        *(Part("direction", name, each, ladder.seeds) for name, each in ladder.rungs().items()),
        *(Part("network", name, simulation, SEEDS, real) for name, real in network.items()),
        *(
            Part("moduli", str(p), simulated, sizes.seeds, real)
            for p, (simulated, real) in moduli.items()
        ),
        *(
            Part("weak", str(p), simulated, sizes.weak_seeds, real)
            for p, (simulated, real) in weak.items()
        ),
    )


def run(part: Part) -> Table:
    """What is stored of a part: one table, or real training and its prediction (Eq. 17)."""
    settings, real, label = part.settings, part.real, f"{part.kind} {part.name}"
    if isinstance(settings, Direction):
        return rung(settings, part.seeds, label)
    if real is None:
        return runs_table(
            [first_layer.simulate(settings, seed, label=label) for seed in part.seeds]
        )
    if part.kind == "network" and part.name.startswith("ridge"):
        return _predicted(settings, real, part.seeds, label)
    trained = runs_table([training.train(settings, real, seed, label=label) for seed in part.seeds])
    if part.kind == "network":
        return trained
    if part.kind == "weak":
        return {"real": trained}
    return {
        "real": trained,
        "predicted": _predicted(settings, real, part.seeds, f"{label}, predicted"),
    }


def _predicted(
    simulation: Simulation, real: RealTraining, seeds: Sequence[int], label: str
) -> Table:
    """The isolated dynamics at the decay of a real training, and to the end of its clock."""
    size = simulation.ridge_step
    steps, every = round(real.clock / size), max(1, round(real.log_every / size))
    alone = replace(simulation, step=size, steps=steps, log_every=every)
    return runs_table(
        [first_layer.simulate(alone, seed, ridge=real.decay, label=label) for seed in seeds]
    )


RUNS = StoredRuns(run, declared(PRESET["paper"].settings))


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
