"""Trainings in batches of several sizes, for the law of their noise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from emergence.running import sweep
from emergence.training import MinimalRecord, MinimalTraining, train_minimal

from .following import NoiseRecord, follow_noise


@dataclass(frozen=True)
class Setting:
    """N pairs in D dimensions, trained for so many steps in batches of each of these sizes."""

    n_pairs: int
    dim: int
    steps: int
    batch_sizes: tuple[int, ...]

    def training(self, batch_size: int) -> MinimalTraining:
        return MinimalTraining(self.n_pairs, self.dim, batch_size, self.steps, record_every=2)


@dataclass(frozen=True)
class NoisyRun:
    """A training of all weights from one seed."""

    settings: MinimalTraining
    seed: int
    device: str


@dataclass(frozen=True)
class NoiseLaw(NoisyRun):
    """A training without a network: the law of its noise, and how its means are estimated."""

    draws: int
    sequences: int
    noise: bool = True


def train_noisy(run: NoisyRun) -> list[np.ndarray]:
    """A record without its snapshots; a run of a sweep."""
    record = train_minimal(
        run.settings, (run.seed,), device=torch.device(run.device), label=_named(run)
    )
    return [part.numpy() for part in record[:-1]]


def law_of_run(law: NoiseLaw) -> list[np.ndarray]:
    """What `training.follow_noise` gives; a run of a sweep."""
    record = follow_noise(
        law.settings,
        device=torch.device(law.device),
        seed=law.seed,
        draws=law.draws,
        sequences=law.sequences,
        noise=law.noise,
        label=f"law, {_named(law)}",
    )
    return [part.numpy() for part in record]


def train_all(
    trainings: Sequence[MinimalTraining], seeds: Sequence[int], device: torch.device
) -> list[MinimalRecord]:
    """The record of each training, of all seeds."""
    runs = [NoisyRun(settings, seed, str(device)) for settings in trainings for seed in seeds]
    results = iter(sweep.run(train_noisy, runs, label="trainings"))
    return [_joined([next(results) for _ in seeds]) for _ in trainings]


def follow_all(laws: Sequence[NoiseLaw]) -> list[NoiseRecord]:
    """The record of each law."""
    results = sweep.run(law_of_run, laws, label="laws")
    return [NoiseRecord(*map(torch.as_tensor, parts)) for parts in results]


def _joined(found: Sequence[Sequence[np.ndarray]]) -> MinimalRecord:
    """The record of all seeds, from that of each."""
    steps, *curves = (torch.as_tensor(np.stack(parts)) for parts in zip(*found, strict=True))
    pseudo, outside, loss = (curve[:, 0] for curve in curves)
    return MinimalRecord(steps[0], pseudo, outside, loss, snapshots={})


def _named(run: NoisyRun) -> str:
    return f"N = {run.settings.n_pairs}, B = {run.settings.batch_size}, seed {run.seed}"
