"""Emergence times of all nineteen and of weighted mixtures; each flow is a run of a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emergence import theory
from emergence.models import Mask
from emergence.tasks import Query
from emergence.theory import Model
from running import sweep

from . import inverse_power


@dataclass(frozen=True)
class Mixture:
    """A flow with the weights n^-power on prefixes.

    Attributes:
        n_pairs: pairs N.
        query: which pair of each prefix is asked for.
        model: `reduced`, three parameters, or `full`, nineteen.
        power: of the weights; 0 for equal ones.
        whole: whether the loss that collapses is that of the full context, asked for its last
            pair, instead of the one that is trained.
        without: places of parameters that are held at zero.
        mask: whether a position attends to itself, as in `theory.emergence_times`.
    """

    n_pairs: int
    query: Query = "last"
    model: Model = "full"
    power: float = 0.0
    whole: bool = False
    without: tuple[int, ...] = ()
    mask: Mask = "strict"


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
    """The times of each flow, in their order; the longest go first."""
    longest = sorted(range(len(mixtures)), key=lambda i: -_work(mixtures[i]))
    found = sweep.run(mixture_times, [mixtures[i] for i in longest], label=label)
    by_place = dict(zip(longest, found, strict=True))
    return [theory.EmergenceTimes(*by_place[i]) for i in range(len(mixtures))]


def _work(mixture: Mixture) -> int:
    """In proportion to what a flow costs, about."""
    return (
        mixture.n_pairs
        * (1 if mixture.model == "reduced" else 4)
        * (4 if mixture.query == "uniform" else 1)
    )
