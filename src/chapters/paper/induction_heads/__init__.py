"""Figures 2 and 17: the transformer of §2 and App. E, in all settings that are not given."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from emergence.experiments.silences import MASK, TRANSFORMER, TRANSFORMER_PAIRS, Silence, variations
from emergence.presets import Preset, preset
from emergence.training import TokenTraining

from .products import (
    HEAD_BANDS,
    Dominance,
    Products,
    TransformerRun,
    answering_entries,
    dominance_of,
)

LAST = 6  # the last sixth of training is its end

# App. E gives the sizes and the optimiser, but no initialisation: `TokenTraining` says ours, and
# `silences` the others.
PRESET = preset(
    paper=TokenTraining(),
    smoke=TokenTraining(
        dim=64,
        vocabulary=8,
        block_size=8,
        n_pairs=2,
        batch_size=64,
        steps=120,
        learning_rate=1e-2,
        embedding_scale=0.1,
    ),
)
# Silences to vary one at a time, and pairs of them to vary together.
Grid = tuple[Sequence[Silence], Sequence[tuple[Silence, Silence]]]
GRID = preset(paper=(TRANSFORMER, TRANSFORMER_PAIRS), smoke=((MASK,), ()))


def planned(
    preset: Preset, grid: Grid, seed: int, device: torch.device
) -> dict[str, list[TransformerRun]]:
    """The runs of §2 by setting: all seeds in the base, one in each other setting (App. E).

    Raises ValueError for a negative seed.
    """
    base, seeds = preset.settings, preset.seeds(seed)
    return {
        name: [
            TransformerRun(settings, s, device.type)
            for s in (seeds if settings == base else seeds[:1])
        ]
        for name, settings in variations(base, *grid).items()
    }


def final(losses: Sequence[np.ndarray]) -> list[float]:
    """The mean over the last sixth of training, of each run's loss or accuracy."""
    return [float(loss[-max(1, len(loss) // LAST) :].mean()) for loss in losses]


def level(settings: TokenTraining) -> float:
    """The loss by which a head is said to have emerged, in all of the book: half of ln N.

    A model that knows which labels are in the context, and no more, has ln N.
    """
    return float(np.log(settings.n_pairs)) / 2


def learns(results: Sequence[Mapping[str, Any]], settings: TokenTraining) -> bool:
    """Whether every run of a setting knows the task at the end, as Figure 17 shows it."""
    ends = final([result["loss"] for result in results])
    return all(end <= level(settings) for end in ends)


def picture(result: Mapping[str, Any], moment: int = -1) -> Products:
    """Figure 2 of a run, at the end or at another of its moments."""
    return Products(*(result[name][moment] for name in Products._fields))


def dominances(description: Products, settings: TokenTraining) -> dict[str, Dominance]:
    """How far the three bands of the head dominate Figure 2, by matrix."""
    reach = answering_entries(
        settings.vocabulary, settings.block_size, 2 * settings.n_pairs + 1, settings.mask
    )
    return {
        name: dominance_of(
            getattr(description, name),
            band,
            getattr(reach, name),
            settings.vocabulary,
            columns=name == "output",
        )
        for name, band in HEAD_BANDS.items()
    }
