"""All nineteen pseudo-parameters: their flow, validated for each N, and training to compare."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from emergence import theory
from emergence.experiments import first_passage
from emergence.proofs.intervals import Bounds
from emergence.proofs.tubes import TimeBounds, time_bounds
from emergence.running import sweep
from emergence.tasks import Query
from emergence.theory import Model
from emergence.training import MinimalTraining

from . import overlaps


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


TOGETHER = 16  # N in one run


@dataclass(frozen=True)
class Range:
    """Every N from `least` to `largest`, one after the other, and how it is followed."""

    least: int
    largest: int
    query: Query
    until: str
    tolerance: float
    farthest: float
    growth: float = 1.5


def all_bounds(some: Range) -> Float[np.ndarray, "pairs 4 2"]:
    """The numbers of `time_bounds` for each N of a range; a run of a sweep."""
    pairs = range(some.least, some.largest + 1)
    return np.array([_tried(n_pairs, some) for n_pairs in pairs])


def _tried(n_pairs: int, some: Range) -> TimeBounds:
    """The bounds at one N, in a second try with a tenth of the tolerance."""
    try:
        return _followed(n_pairs, some)
    except ArithmeticError:
        return _followed(n_pairs, replace(some, tolerance=some.tolerance / 10))


def _followed(n_pairs: int, some: Range) -> TimeBounds:
    names = "query", "until", "tolerance", "farthest", "growth"
    return time_bounds(n_pairs, **{name: getattr(some, name) for name in names})


def as_bounds(numbers: Float[np.ndarray, "pairs 4 2"]) -> list[TimeBounds]:
    """What `all_bounds` returned, with its names."""
    return [TimeBounds(*map(Bounds._make, row)) for row in numbers.tolist()]


def uniform_ranges(first: int, many: int) -> list[Range]:
    """Every N from the first to the last before `many`, followed under uniform queries."""
    ranges = []
    for n in range(first, many, TOGETHER):
        largest = min(n + TOGETHER, many) - 1
        tolerance = 1e-6 if n == first else 2e-5  # with few pairs the flow is quick
        ranges.append(Range(n, largest, "uniform", "beta", tolerance, 0.1, growth=4.0))
    return ranges
