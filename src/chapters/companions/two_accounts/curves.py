"""Curves of both probes during the training of three models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.birth import task
from chapters.companions.birth.bigrams import Bigrams
from chapters.companions.birth.model import Frozen, Trained
from chapters.companions.birth.training import train
from emergence.models import AttentionOnlyTransformer, Weights
from emergence.training import train_minimal, train_tokens

from . import circuits
from .circuits import Head
from .readings import Reading, read
from .settings import Settings


class Curves(NamedTuple):
    """Readings during training; the last two axes are the parts of `Head` and of `Reading`."""

    steps: Int[np.ndarray, " times"]
    readings: Float[np.ndarray, "seeds times 3 6"]
    sizes: tuple[int, ...]  # M of each memory
    final: Float[np.ndarray, " seeds"]  # loss (minimal) or accuracy at the end of training

    def of(self, probe: str) -> Float[np.ndarray, "3 seeds times"]:
        """One field of `Reading`, memory by memory."""
        return self.readings[..., Reading._fields.index(probe)].transpose(2, 0, 1)


def _read(head: Head, few: int) -> list[Reading]:
    return [read(memory, few) for memory in head]


def _curves(runs: Sequence[Mapping[int, Sequence[Any]]], head: Head, final: list[float]) -> Curves:
    return Curves(
        np.array([*runs[0]]),
        np.array([[*run.values()] for run in runs], dtype=float),
        tuple(len(memory.left) for memory in head),
        np.array(final),
    )


@dataclass(frozen=True)
class TokenReader:
    """Reads both probes of the three memories in the transformer of §2."""

    every: int
    few: int

    def __call__(self, model: AttentionOnlyTransformer) -> list[Reading]:
        return _read(circuits.tokens(model), self.few)


@dataclass(frozen=True)
class StreamReader:
    """Reads both probes of the three memories in the model of bigrams."""

    few: int

    def __call__(
        self, frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]
    ) -> list[Reading]:
        return _read(circuits.stream(frozen, trained, triggers), self.few)


def minimal(settings: Settings, seeds: Sequence[int], *, device: torch.device) -> Curves:
    """The disentangled transformer, all weights free, all seeds at once."""
    what = replace(settings.minimal, snapshots=settings.read_at())
    record = train_minimal(what, seeds, device=device, label="minimal")
    runs = []
    for i in range(len(seeds)):
        heads = {
            step: circuits.minimal(Weights(*(part[i] for part in weights)))
            for step, weights in record.snapshots.items()
        }
        runs.append({step: _read(head, settings.few) for step, head in heads.items()})
    return _curves(runs, heads[0], record.loss[:, -1].tolist())


def tokens(settings: Settings, seeds: Sequence[int], *, device: torch.device) -> Curves:
    """The transformer of §2 by AdamW."""
    reader = TokenReader(settings.every_token, settings.few)
    records = [
        train_tokens(settings.tokens, s, device=device, read=reader, label=f"tokens, seed {s}")
        for s in seeds
    ]
    head = circuits.tokens(records[0].model)
    final = [float(record.accuracy[-20:].mean()) for record in records]
    return _curves([record.readings for record in records], head, final)


def stream(
    settings: Settings, bigrams: Bigrams, seeds: Sequence[int], *, device: torch.device
) -> Curves:
    """The model of bigrams in context, by descent with momentum."""
    records = [
        train(settings.stream, bigrams, seed, n_layers=2, device=device,
              label=f"stream, seed {seed}", read=StreamReader(settings.few))
        for seed in seeds
    ]  # fmt: skip
    triggers = task.make(bigrams, settings.stream.n_triggers, device).triggers
    head = circuits.stream(records[0].frozen, records[0].trained, triggers)
    runs = [dict(zip(r.probed.tolist(), r.readings.tolist(), strict=True)) for r in records]
    return _curves(runs, head, [float(r.accuracy[-20:].mean()) for r in records])
