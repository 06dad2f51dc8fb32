"""Emergence times of all nineteen and of weighted mixtures; each flow is a run of a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emergence import theory
from emergence.models import Mask
from emergence.running import sweep
from emergence.tasks import Query
from emergence.theory import Model, positions

from . import inverse_power


@dataclass(frozen=True)
class Mixture:
    """A flow with the weights n^-power on prefixes."""

    n_pairs: int  # pairs N
    query: Query = "last"  # which pair of each prefix is asked for
    model: Model = "full"  # `reduced`, three parameters, or `full`, nineteen
    power: float = 0.0  # of the weights; 0 for equal ones
    # whether the loss that collapses is that of the full context, asked for its last pair, instead
    # of the one that is trained
    whole: bool = False
    without: tuple[int, ...] = ()  # places of parameters that are held at zero
    mask: Mask = "strict"  # whether a position attends to itself, as in `theory.emergence_times`


def mixture_times(mixture: Mixture) -> list[float]:
    """The emergence times of one flow, as in `theory.EmergenceTimes`; a run of a sweep."""
    n, model = mixture.n_pairs, mixture.model
    weights = inverse_power(n, mixture.power)
    landscape = theory.landscape_of(
        n, mixture.query, model=model, supervision=weights, mask=mixture.mask
    )
    if mixture.whole:
        landscape = landscape._replace(
            loss=theory.landscape_of(n, model=model, mask=mixture.mask).loss
        )
    rates = np.ones(sum(landscape.groups))
    rates[list(mixture.without)] = 0
    return list(theory.times_in(landscape, rates=rates.tolist()))


def all_mixtures(mixtures: Sequence[Mixture], *, label: str) -> list[theory.EmergenceTimes]:
    """The times of each flow, in their order."""
    return [
        theory.EmergenceTimes(*times) for times in sweep.run(mixture_times, mixtures, label=label)
    ]


@dataclass(frozen=True)
class Limit:
    """The flow of all nineteen that is left for infinitely many prefixes, any pair, in t/N."""

    mask: Mask
    prefixes: int  # of the infinitely many; those that are left out push like log n/n^2


def limit_times(limit: Limit) -> list[float]:
    """When alpha_3 and beta_2 emerge in a limit flow; a run of a sweep.

    The long prefixes, whose pull of order 1/n has no finite sum, pin the output where it minimises
    the loss of even attention: gamma_1 = gamma_4 = 0, and gamma_2 + gamma_3 = 1.
    """
    landscape = positions.landscape(
        np.ones(limit.prefixes), "uniform", model="full", mask=limit.mask
    )

    def pinned(*point: float) -> tuple[float, ...]:
        slope = landscape.gradient(*point)
        apart = (slope[16] - slope[17]) / 2
        return *slope[:15], 0.0, apart, -apart, 0.0

    times = theory.times_in(
        landscape._replace(gradient=pinned), start=[0.0] * 16 + [0.5, 0.5, 0.0],
        low_loss=np.inf, end=100.0,
    )  # fmt: skip
    return [times.alpha, times.beta]
