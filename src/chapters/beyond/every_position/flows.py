"""Emergence times of all nineteen and of weighted mixtures; each flow is a run of a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emergence import theory
from emergence.models import Mask
from emergence.tasks import Query
from emergence.theory import Landscape, Model
from running import sweep

from . import inverse_power

GIVEN = 40.0  # layer 1 given: e^40 outweighs any context
DIM = 1024  # an output that learns at the rate 1/d, as in their equations


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
        theory.EmergenceTimes(*found) for found in sweep.run(mixture_times, mixtures, label=label)
    ]


def one_step_time(landscape: Landscape) -> float:
    """When beta emerges with layer 1 given and an output that learns at the rate 1/d.

    This is the law of Zucchet and others, as in the chapter Rival laws. Infinity for never, in flow
    time at unit learning rate.
    """
    return theory.times_in(
        landscape, rates=theory.Rates(0.0, 1.0, 1 / DIM), start=(GIVEN, 0.0, 0.0),
        end=100.0 * landscape.pairs * DIM**0.5,
    ).beta  # fmt: skip
