"""Long runs of the grokking chapter, as tables for data/companions/grokking.json.

`data/companions/grokking.py` computes the tables that the file lacks, and writes it after each; the
chapter reads them, and recomputes a part to hold them against.
"""

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from emergence.running import records

from . import direction, first_layer, fourier, training
from .settings import Direction, Moduli, RealTraining, Settings, Simulation

Table = dict[str, Any]
SEEDS = range(5)  # of the network at its first modulus
FEATURES = ("norm_spread", "cosine_within", "cosine_between", "overlap_within", "overlap_between")


def plain(values: Any) -> Any:
    """Numbers as lists, six digits each: more than a long run is reproducible to."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.tolist()
    return np.vectorize(lambda x: float(f"{x:.6g}") if np.isfinite(x) else None)(
        array.astype(float)
    ).tolist()


def rung(settings: Direction, seeds: Sequence[int], label: str) -> Table:
    """One rung of the direction ladder: settings, and curves with a row a seed."""
    record = direction.measure_updates(settings, seeds, ("entries",), label=label)
    return rung_table(settings, record)


def rung_table(settings: Direction, record: direction.Record) -> Table:
    """The curves of a record with one reading."""
    curves = {name: plain(part[0]) for name, part in record._asdict().items() if name != "steps"}
    chosen = asdict(settings)
    chosen["sharpness"] = None if np.isinf(settings.sharpness) else settings.sharpness
    return {"settings": chosen, "steps": record.steps.tolist()} | curves


def features(embeddings: Tensor) -> Table:
    """What the Fourier components of embeddings look like over time."""
    table, shared = fourier.cosines(embeddings), fourier.overlaps(embeddings)
    values = (
        fourier.norm_spread(embeddings), fourier.within(table), fourier.between(table),
        fourier.within(shared), fourier.between(shared),
    )  # fmt: skip
    return dict(zip(FEATURES, values, strict=True))


def runs_table(paths: Sequence[first_layer.Path] | Sequence[training.Trained]) -> Table:
    """Curves of several runs of one kind, a row a run, without their embeddings."""
    rows = []
    for path in paths:
        norm = path.embeddings.square().sum(dim=(1, 2))
        row = {"accuracy": path.accuracy, "embedding_norm": norm} | features(path.embeddings)
        if isinstance(path, training.Trained):
            row |= {"memorised": path.memorised, "norm": path.norm}
        rows.append(row)
    table = {name: plain(torch.stack([row[name] for row in rows])) for name in rows[0]}
    return {"clock": plain(paths[0].clock)} | table


def isolated(simulation: Simulation, real: RealTraining) -> Simulation:
    """The settings of the isolated dynamics beside a real training."""
    size = simulation.ridge_step
    return replace(
        simulation,
        step=size,
        steps=round(real.clock / size),
        log_every=max(1, round(real.log_every / size)),
    )


def modulus(simulation: Simulation, settings: Moduli, p: int, clock: float) -> Table:
    """Real training at one modulus, and its prediction at the same decay (Eq. 17)."""
    own = replace(_at(simulation, p), ridge_step=settings.ridge_step)
    real = _with_scaled_rate(simulation, replace(settings.real, clock=clock), p)
    return {
        "real": _trained(own, real, settings.seeds, f"p = {p}"),
        "predicted": _predicted(own, real, settings.seeds, f"p = {p}, predicted"),
    }


def weakly(simulation: Simulation, settings: Moduli, p: int) -> Table:
    """Real training at one modulus with a tenth of the decay."""
    own, real = _at(simulation, p), _with_scaled_rate(simulation, settings.weak, p)
    return {"real": _trained(own, real, settings.weak_seeds, f"p = {p}, weak decay")}


def _at(simulation: Simulation, p: int) -> Simulation:
    return replace(simulation, modulus=p, embedding_std=p**-0.5)


def _with_scaled_rate(simulation: Simulation, real: RealTraining, p: int) -> RealTraining:
    """The training at a rate inversely proportional to p, stable with more pairs too."""
    return replace(real, learning_rate=real.learning_rate * simulation.modulus / p)


def parts(settings: Settings) -> dict[tuple[str, str], Callable[[], Table]]:
    """What computes each table that is stored, by its place in the file."""
    simulation, sizes = settings.simulation, settings.moduli
    found: dict[tuple[str, str], Callable[[], Table]] = {
        ("direction", name): partial(rung, each, settings.ladder.seeds, name)
        for name, each in settings.ladder.rungs().items()
    }
    found["network", "predicted"] = partial(_limit, simulation)
    for name in ("real", "equal", "slowed", "slowed_little"):
        found["network", name] = partial(_trained, simulation, getattr(settings, name), SEEDS, name)
    for name, each in (("ridge", settings.real), ("ridge_equal", settings.equal)):
        found["network", name] = partial(_predicted, simulation, each, SEEDS, name)
    for p, clock in zip(sizes.moduli, sizes.clocks, strict=True):
        found["moduli", str(p)] = partial(modulus, simulation, sizes, p, clock)
    for p in sizes.moduli[-2:]:
        found["weak", str(p)] = partial(weakly, simulation, sizes, p)
    return found


def complete(path: Path, settings: Settings) -> None:
    """Compute and store the tables that are missing."""
    tables: Table = json.loads(path.read_text(encoding="ascii")) if path.is_file() else {}
    tables["provenance"] = tables.get("provenance", {}) | {
        "command": "python data/companions/grokking.py",
        "versions": [f"python {platform.python_version()}", f"torch {torch.__version__}"],
    }
    every = parts(settings)
    known = {(kind, name) for kind, part in tables.items() for name in part}
    for kind, name in records.missing(every, known):
        tables.setdefault(kind, {})[name] = every[kind, name]()
        print(kind, name, flush=True)
        records.write(path, write(tables))


def _limit(simulation: Simulation) -> Table:
    return runs_table([first_layer.simulate(simulation, seed) for seed in SEEDS])


def _trained(simulation: Simulation, real: RealTraining, seeds: Sequence[int], label: str) -> Table:
    return runs_table([training.train(simulation, real, seed, label=label) for seed in seeds])


def _predicted(
    simulation: Simulation, real: RealTraining, seeds: Sequence[int], label: str
) -> Table:
    """The isolated dynamics at the decay of a real training."""
    alone = isolated(simulation, real)
    return runs_table(
        [first_layer.simulate(alone, seed, ridge=real.decay, label=label) for seed in seeds]
    )


def write(tables: Table) -> str:
    """The text of the file: a line a curve."""
    return json.dumps(tables, indent=None, separators=(",", ": ")).replace('],"', '],\n"') + "\n"


def read(text: str) -> Table:
    """The tables, with arrays for lists of numbers; ValueError if this is no such file."""
    found = json.loads(text)
    if not isinstance(found, dict) or "direction" not in found:
        raise ValueError("no stored runs of the grokking chapter: a part called direction lacks")
    return {name: _arrays(part) for name, part in found.items()}


def _arrays(part: Any) -> Any:
    if isinstance(part, dict):
        return {
            name: value if name == "settings" else _arrays(value) for name, value in part.items()
        }
    if isinstance(part, list) and part and not isinstance(part[0], str):
        return np.array(part, dtype=float)  # None becomes NaN
    return part
