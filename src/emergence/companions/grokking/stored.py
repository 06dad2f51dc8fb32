"""Long runs of the grokking chapter, as tables for data/companions/grokking.json.

`python data/companions/grokking.py` computes them anew; the chapter reads them, and recomputes a
part to hold them against.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import direction, first_layer, fourier, training
from .settings import Direction, Ladder, Moduli, RealTraining, Simulation

Table = dict[str, Any]
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


def ladder(settings: Ladder) -> dict[str, Table]:
    """All rungs of the direction ladder, by name."""
    return {name: rung(each, settings.seeds, name) for name, each in settings.rungs().items()}


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


def moduli(simulation: Simulation, settings: Moduli) -> dict[str, Table]:
    """Real training and its prediction at the same decay (Eq. 17), by modulus."""
    found = {}
    for p, clock in zip(settings.moduli, settings.clocks, strict=True):
        own = replace(
            simulation,
            modulus=p,
            embedding_std=p**-0.5,
            ridge_step=settings.ridge_step,
        )
        rate = settings.real.learning_rate * simulation.modulus / p
        real = replace(settings.real, clock=clock, learning_rate=rate)
        trained = [training.train(own, real, s, label=f"p = {p}") for s in settings.seeds]
        alone = isolated(own, real)
        predicted = [
            first_layer.simulate(alone, s, ridge=real.decay, label=f"p = {p}, predicted")
            for s in settings.seeds
        ]
        found[str(p)] = {"real": runs_table(trained), "predicted": runs_table(predicted)}
    return found


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
