"""All nineteen pseudo-parameters: sizes of their flow, and training of all weights to compare."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from emergence import theory
from emergence.experiments import first_passage
from emergence.presets import preset
from emergence.tasks import Query
from emergence.theory import Model
from emergence.training import MinimalTraining
from running import sweep

from . import overlaps


@dataclass(frozen=True)
class FullFlow:
    """The flow of the full model over N, with parameters frozen, and trainings of all weights."""

    checked_pairs: tuple[int, ...] = (1, 2, 3, 5, 8)
    flow_pairs: tuple[int, ...] = (
        *range(2, 17), 20, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
    )  # fmt: skip
    followed_pairs: int = 64  # N whose curves are drawn
    frozen_pairs: int = 16  # N of the flows with parameters frozen
    far: int = 64  # N from which the laws are judged
    gaussian_pairs: tuple[int, ...] = (2, 4, 8, 16, 32, 64)
    gaussian_from: int = 8  # N from which steps are fine enough to judge by
    dim: int = 32
    batch_size: int = 256
    overlap_pairs: int = 8  # N where overlaps are followed, in steps half as long
    overlap_rate: float = 0.5
    overlap_dims: tuple[int, ...] = (16, 32, 64)
    overlap_from: int = 16  # D from which the order 1/D is judged
    overlap_batch: int = 512

    def overlapping(self, dim: int, steps: int) -> MinimalTraining:
        """All weights on Gaussian data of this dimension, in large batches."""
        return MinimalTraining(
            self.overlap_pairs, dim, self.overlap_batch, steps, learning_rate=self.overlap_rate
        )

    def gaussian(self, n_pairs: int, steps: int) -> MinimalTraining:
        """All weights on Gaussian data, as in §4."""
        return MinimalTraining(n_pairs, self.dim, self.batch_size, steps)


@dataclass(frozen=True)
class Flow:
    """A gradient flow from zero: its pairs, its query rule, and the rate of each parameter."""

    n_pairs: int
    query: Query
    model: Model = "full"
    rates: tuple[float, ...] = (1.0, 1.0, 1.0)


def flow_times(flow: Flow) -> Float[np.ndarray, "5"]:
    """When the parameters emerge on a flow, as `theory.EmergenceTimes`; a run of a sweep."""
    landscape = theory.landscape_of(flow.n_pairs, flow.query, model=flow.model)
    return np.array(theory.times_in(landscape, rates=flow.rates))


def all_times(flows: Iterable[Flow], *, label: str) -> list[theory.EmergenceTimes]:
    """The emergence times of each flow."""
    return [theory.EmergenceTimes(*times) for times in sweep.run(flow_times, flows, label=label)]


@dataclass(frozen=True)
class FullFlowRun:
    """A training of all weights, its seed, and the levels at which alpha, beta, gamma count."""

    settings: MinimalTraining
    seed: int
    device: str
    levels: tuple[float, float, float]


def trained_steps(run: FullFlowRun) -> Float[np.ndarray, "4"]:
    """The first steps at which alpha, beta, gamma and the loss get there; a run of a sweep."""
    return first_passage.minimal_steps(
        run.settings,
        (run.seed,),
        device=torch.device(run.device),
        label=f"N = {run.settings.n_pairs}, B = {run.settings.batch_size}, seed {run.seed}",
        levels=run.levels,
    )[0]


def train_all(
    trainings: Sequence[MinimalTraining],
    seeds: Sequence[int],
    device: torch.device,
    *,
    label: str,
) -> Float[np.ndarray, "trainings seeds 4"]:
    """The first steps of each training from each seed, at half of what theory scales by.

    That is D alpha_3 and D beta_2.
    """
    runs = [
        FullFlowRun(settings, seed, str(device), (0.5 / settings.dim, 0.5 / settings.dim, 0.5))
        for settings in trainings
        for seed in seeds
    ]
    steps = np.array(sweep.run(trained_steps, runs, label=label))
    return steps.reshape(len(trainings), len(seeds), 4)


def corrected_steps(settings: MinimalTraining) -> Float[np.ndarray, "4"]:
    """The first steps of descent on the loss to the order 1/D; a run of a sweep."""
    path = theory.descent_in(
        overlaps.landscape(settings.n_pairs, settings.dim, settings.query),
        settings.steps,
        rates=theory.gaussian_rates(float(settings.dim), settings.learning_rate),
    )
    return theory.first_steps(path)


PRESET = preset(
    paper=FullFlow(),
    smoke=FullFlow(
        checked_pairs=(1, 3),
        flow_pairs=(2, 4, 8, 16, 32),
        followed_pairs=8,
        frozen_pairs=4,
        far=16,
        gaussian_pairs=(2, 4),
        gaussian_from=2,
        dim=8,
        batch_size=32,
        overlap_pairs=2,
        overlap_dims=(8, 16),
        overlap_batch=64,
    ),
)
