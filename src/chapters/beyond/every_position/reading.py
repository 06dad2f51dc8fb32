"""The stored trainings as the chapter reads them, and the predictions of population descent."""

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from emergence import theory
from emergence.running.memo import kept
from emergence.tasks import Query
from emergence.theory import Landscape
from emergence.training import Kind

from .minimal import FLOW_STEP
from .stored import RUNS, TokensCell, WeightsCell, crossed

Cell = WeightsCell | TokensCell
Steps = Float[np.ndarray, " seeds"]
LEVELS = "alpha", "beta", "gamma", "loss"


class StoredTrainings:
    """The stored trainings.

    Attributes:
        entries: what is stored, by cell.
    """

    def __init__(self, path: Path) -> None:
        """Read the file; ValueError where it is damaged or has other runs."""
        self.entries: dict[Cell, list[dict[str, Any]]] = RUNS.read(path.read_text(encoding="utf-8"))

    def of(self, cell: WeightsCell, level: str) -> Steps:
        """Steps of a cell until a level of a score, or of its own loss."""
        return np.array([_number(row[level]) for row in self.entries[cell]])

    def weights(self, kind: Kind, data: str, level: str) -> dict[int, Steps]:
        """Steps of all weights until a level of a score, or of their own loss, by N."""
        return {
            cell.n_pairs: self.of(cell, level)
            for cell in sorted(self.entries, key=lambda cell: cell.n_pairs)
            if isinstance(cell, WeightsCell) and (cell.kind, cell.data) == (kind, data)
        }

    def tokens(
        self, kind: Kind, optimiser: str, *, batch_size: int = 32, level: int = -1
    ) -> dict[int, Steps]:
        """Steps of the transformer until its loss on whole contexts passes a level, by N."""
        return {
            cell.n_pairs: np.array([_number(row["steps"][level]) for row in rows])
            for cell, rows in sorted(self.entries.items(), key=lambda pair: pair[0].n_pairs)
            if isinstance(cell, TokensCell)
            and (cell.kind, cell.optimiser, cell.batch_size) == (kind, optimiser, batch_size)
        }

    def batches(self, kind: Kind, n_pairs: int) -> dict[int, Steps]:
        """Steps of AdamW by batch size at one N."""
        sizes = sorted(
            cell.batch_size
            for cell in self.entries
            if isinstance(cell, TokensCell)
            and (cell.kind, cell.n_pairs, cell.optimiser) == (kind, n_pairs, "adamw")
        )
        return {size: self.tokens(kind, "adamw", batch_size=size)[n_pairs] for size in sizes}


def _number(value: float | None) -> float:
    return np.inf if value is None else float(value)


def population(kind: Kind, n_pairs: int) -> Landscape:
    """The loss of all nineteen whose descent a training of this kind is, but for its noise."""
    query: Query = "last" if kind == "last" else "uniform"
    if kind in ("one", "queries"):
        return theory.landscape_of(n_pairs, query, model="full")
    weights = 1 / np.arange(1, n_pairs + 1.0) if kind == "inverse" else np.ones(n_pairs)
    return theory.landscape_of(
        n_pairs, query, model="full", supervision=(weights / weights.sum()).tolist()
    )


@kept
def population_steps(cell: WeightsCell) -> dict[str, float]:
    """The steps of population descent at which the levels of a training are passed."""
    rates = (
        theory.gaussian_rates(2.0 * cell.n_pairs)
        if cell.data == "gaussian"
        else theory.Rates(FLOW_STEP, FLOW_STEP, FLOW_STEP)
    )
    path = theory.descent_in(population(cell.kind, cell.n_pairs), cell.steps, rates=rates)
    curves = dict(zip(LEVELS, (path.alpha, path.beta, path.gamma, -path.loss), strict=True))
    return {
        name: _number(crossed(path.t, curve, -0.5 if name == "loss" else 0.5))
        for name, curve in curves.items()
    }
