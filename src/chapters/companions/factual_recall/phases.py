"""Phases of a recorded run: when relation and answer are known, and the plateau between."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from emergence.analysis import first_fallen, first_reached

from .linear import Record


class Phases(NamedTuple):
    """Steps of each run: relation known, plateau from and to, everything known.

    Known means a loss of at most `level`; the plateau is where the loss is within `tolerance` of
    `height`, relative to it. Infinity where something never happens.
    """

    relation: Float[np.ndarray, " runs"]
    plateau_from: Float[np.ndarray, " runs"]
    plateau_to: Float[np.ndarray, " runs"]
    answer: Float[np.ndarray, " runs"]


def phases(record: Record, height: float, *, tolerance: float = 0.05, level: float = 0.1) -> Phases:
    """The phases of every run."""
    steps = record.steps.astype(float)
    near = np.abs(record.loss / height - 1) < tolerance
    ever = near.any(axis=1)
    first, last = near.argmax(axis=1), near.shape[1] - 1 - near[:, ::-1].argmax(axis=1)
    return Phases(
        first_fallen(steps, record.relation_loss, level),
        np.where(ever, steps[first], np.inf),
        np.where(ever, steps[last], np.inf),
        first_fallen(steps, record.loss, level),
    )


def emergence(record: Record, level: float = 1.0) -> Float[np.ndarray, "2 runs"]:
    """Steps at which the mean attention to relations, and to subjects, first reaches `level`."""
    steps = record.steps.astype(float)
    return np.stack([first_reached(steps, record.attention[..., i], level) for i in (1, 0)])


def midway(record: Record, phase: Phases) -> Int[np.ndarray, " runs"]:
    """The record nearest the middle of each run's plateau."""
    middle = (phase.plateau_from + phase.plateau_to) / 2
    return np.abs(record.steps[None] - middle[:, None]).argmin(axis=1)
