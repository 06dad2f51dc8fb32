"""The stored runs, data/companions/distributional.json: declared, measured and read."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from chapters.companions.birth import bigrams
from chapters.companions.birth.bigrams import Bigrams
from chapters.companions.birth.runs.cells import rounded
from running.cache import plain
from running.records import StoredRuns

from . import Recipe, probes, task
from .training import probe, train

# Whether the number format of products matters is tried at a quarter of the size
SMALL = replace(Recipe(), length=64, dim=64, width=256, steps=400)


@dataclass(frozen=True)
class Cell:
    """One run: its name, its recipe, its seed."""

    name: str
    recipe: Recipe
    seed: int


CELLS = (
    *(Cell("source", Recipe(), seed) for seed in range(3)),
    Cell("small", SMALL, 0),
    Cell("small, float32", replace(SMALL, precision="float32"), 0),
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
    pushes: dict[str, float]  # as `probes.pushes` gives it
    spectra: dict[str, probes.Spectrum]  # by `layer.matrix`

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
    """What is stored of a run. Spectra are of the matrices that write, against u of noise."""
    recipe, device = cell.recipe, torch.device("cpu")
    record = train(recipe, bigrams, cell.seed, device=device, label=f"{cell.name} {cell.seed}")
    found = probe(recipe, bigrams, cell.seed, device)
    model, shares = record.model, recipe.shares
    noise = model.u[task.NOISE]
    writing = {f"{layer}.w_out": getattr(model, layer).w_out for layer in probes.LAYERS}
    spectra = {name: probes.spectrum(w, noise) for name, w in writing.items()}
    table, pushes = probes.table(model, found, shares), probes.pushes(model, found, shares)
    return {
        "loss": rounded(record.loss),
        "probed": record.probed.tolist(),
        "readings": rounded(record.readings.T),
        "table": {name: rounded(values) for name, values in table.items()},
        "pushes": {name: round(value, 4) for name, value in pushes.items()},
        "spectra": {name: [rounded(part) for part in own] for name, own in spectra.items()},
    }


RUNS = StoredRuns(
    measure, CELLS, tables={"bigrams": ("data/shakespeare_bigrams.csv", bigrams.read)}
)


def read(text: str) -> list[DistributionalRun]:
    """The runs of a file; ValueError for other runs, and for other readings than are taken."""
    wanted = len(probes.Answers._fields) * (1 + len(probes.FOLLOWED)) + 2
    found = []
    for cell, entry in RUNS.read(text).items():
        readings = np.array(entry["readings"])
        if len(readings) != wanted:
            raise ValueError(f"a run has {len(readings)} readings a step, expected {wanted}")
        settings = {name: value for name, value in plain(cell.recipe).items() if name}
        table = {name: probes.Answers(*values) for name, values in entry["table"].items()}
        spectra = {
            name: probes.Spectrum(*map(torch.tensor, own)) for name, own in entry["spectra"].items()
        }
        found.append(
            DistributionalRun(
                cell.name,
                cell.seed,
                settings,
                np.array(entry["loss"]),
                np.array(entry["probed"], dtype=int),
                readings,
                table,
                entry["pushes"],
                spectra,
            )
        )
    return found
