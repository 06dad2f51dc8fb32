"""Curves of both probes during the training of two models, and when each part arrives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.birth import task
from chapters.companions.birth.bigrams import Bigrams
from chapters.companions.birth.model import Frozen, Trained
from chapters.companions.birth.training import train
from chapters.companions.two_accounts import readings
from emergence.analysis import settled
from emergence.models import Weights
from emergence.training import train_minimal
from running.memo import kept

from . import TwoAccountsSettings
from .readings import Head, Reading, read_memory


class Curves(NamedTuple):
    """Readings during training; the last two axes are the parts of `Head` and of `Reading`."""

    steps: Int[np.ndarray, " times"]
    readings: Float[np.ndarray, "seeds times 3 4"]
    sizes: tuple[int, ...]  # M of each memory
    final: Float[np.ndarray, " seeds"]  # loss (minimal) or accuracy at the end of training

    def of(self, probe: str) -> Float[np.ndarray, "3 seeds times"]:
        """One field of `Reading`, memory by memory."""
        return self.readings[..., Reading._fields.index(probe)].transpose(2, 0, 1)


def _curves(runs: Sequence[Mapping[int, Sequence[Any]]], head: Head, final: list[float]) -> Curves:
    return Curves(
        np.array([*runs[0]]),
        np.array([[*run.values()] for run in runs], dtype=float),
        tuple(len(memory.left) for memory in head),
        np.array(final),
    )


@dataclass(frozen=True)
class StreamReader:
    """Reads both probes of the three memories in the model of bigrams."""

    def __call__(
        self, frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]
    ) -> list[Reading]:
        return [*map(read_memory, readings.stream_head(frozen, trained, triggers))]


@kept
def minimal(settings: TwoAccountsSettings, seeds: Sequence[int], *, device: torch.device) -> Curves:
    """The disentangled transformer, all weights free, all seeds at once."""
    what = replace(settings.minimal, snapshots=settings.read_at())
    record = train_minimal(what, seeds, device=device, label="minimal")
    runs = []
    for i in range(len(seeds)):
        heads = {
            step: readings.minimal_head(Weights(*(part[i] for part in weights)))
            for step, weights in record.snapshots.items()
        }
        runs.append({step: [*map(read_memory, head)] for step, head in heads.items()})
    return _curves(runs, heads[0], record.loss[:, -1].tolist())


@kept
def stream(
    settings: TwoAccountsSettings, bigrams: Bigrams, seeds: Sequence[int], *, device: torch.device
) -> Curves:
    """The model of bigrams in context, by descent with momentum."""
    records = [
        train(settings.stream, bigrams, seed, n_layers=2, device=device,
              label=f"stream, seed {seed}", read=StreamReader())
        for seed in seeds
    ]  # fmt: skip
    triggers = task.make(bigrams, settings.stream.n_triggers, device).triggers
    head = readings.stream_head(records[0].frozen, records[0].trained, triggers)
    runs = [dict(zip(r.probed.tolist(), r.readings.tolist(), strict=True)) for r in records]
    return _curves(runs, head, [float(r.accuracy[-20:].mean()) for r in records])


Moment = Literal["begun", "half"]
Probe = Literal["recall", "coefficient"]
DEVIATIONS = 3.0  # a part has begun when chance does not explain what is seen of it


def arrivals(curves: Curves, probe: Probe, moment: Moment) -> Float[np.ndarray, "3 seeds"]:
    """The step from which on each part is there for good; infinity if never.

    Begun is three standard deviations above chance: of recall, of as many blind guesses; of the
    coefficient, of a direction of white noise. Half is a recall of 1/2, and for the coefficient
    Definition 1: a mean score of 1/2, which for orthonormal vectors is the coefficient itself.
    """
    series, levels = curves.of(probe), [0.5] * 3
    if (probe, moment) == ("coefficient", "begun"):
        series, levels = curves.of("contrast"), [DEVIATIONS] * 3
    elif probe == "coefficient":
        series = curves.of("strength")
    elif moment == "begun":
        levels = [beyond_chance(size) for size in curves.sizes]
    pairs = zip(series, levels, strict=True)
    return np.stack([settled(curves.steps, part, level) for part, level in pairs])


def beyond_chance(size: int) -> float:
    """A recall that M guesses among as many candidates do not reach."""
    chance = 1 / size
    return chance + DEVIATIONS * (chance * (1 - chance) / size) ** 0.5
