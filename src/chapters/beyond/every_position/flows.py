"""Mixtures of prefixes: emergence times of their flows, and their laws for many pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence import theory
from emergence.models import Mask
from emergence.running import sweep
from emergence.running.memo import kept
from emergence.tasks import Query
from emergence.theory import Landscape, Model, positions
from emergence.theory.limits import gauss

Weights = Float[np.ndarray, " pairs"]
RULES: dict[Query, str] = {"last": "last pair", "uniform": "any pair"}


def inverse_power(n_pairs: int, power: float) -> Weights:
    """Weights of the prefixes in proportion to n^-power, with a sum of 1."""
    weights = np.arange(1, n_pairs + 1.0) ** -power
    return weights / weights.sum()


def late(n_pairs: int, skipped: int) -> Weights:
    """Equal weights of all prefixes but the shortest."""
    weights = (np.arange(n_pairs) >= skipped).astype(float)
    return weights / weights.sum()


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


LONGEST = 2**18  # pairs; longer prefixes push by less than 1e-5 of the whole
FAR = 400.0  # a harmonic number at which what is left of order 1/H^2 is a hundredth of 1/H


class LateAreas(NamedTuple):
    """Areas under gamma at which alpha and beta emerge if late prefixes are queried."""

    alpha: float
    beta: float


class LimitTime(NamedTuple):
    """A time of the form N (constant + next/H_N), H_N = 1 + 1/2 + ... + 1/N."""

    constant: float
    next: float

    def at(self, n_pairs: float | int, harmonic: float) -> float:
        """The flow time for N pairs and a given H_N, or what replaces it in another mixture."""
        return n_pairs * (self.constant + self.next / harmonic)


class LimitTimes(NamedTuple):
    """The law with queries for the last pair; the collapse's `next` is that at H = FAR."""

    alpha: LimitTime
    beta: LimitTime
    collapse: LimitTime


def late_areas(weights: Weights) -> LateAreas:
    """The area law for any weights on late prefixes, with queries for the last pair.

    There the shares of layer 1 are e^alpha/2n and attention is even. So alpha and beta follow the
    flow of Theorem 2 with the mean of 1/n^2 in place of 1/N^2, up to log n/n at the shortest n.
    """
    mean = float(weights @ (1 / np.arange(1, len(weights) + 1) ** 2))
    return LateAreas(2 * gauss(1.0) / mean, 2 * gauss(0.5) / mean)


def limit_landscape(harmonic: float) -> Landscape:
    """The sum of losses over infinitely many prefixes up to a constant, on the clock t/N.

    For bounded alpha and beta, a prefix of n pairs adds a part of order 1/n^2 to their gradient, so
    the sum converges. Only the gradient of gamma, of order 1/n, does not: its sum is H_N.
    """
    used, sizes = positions.compressed(np.ones(LONGEST))
    ratio = sizes.astype(float)
    beyond = harmonic - float(used @ (1 / ratio))

    def loss(alpha: float, beta: float, gamma: float) -> float:
        return float(used @ theory.reduced_loss(alpha, beta, gamma, ratio)) / LONGEST

    def gradient(alpha: float, beta: float, gamma: float) -> tuple[float, float, float]:
        by_alpha, by_beta, by_gamma = theory.reduced_gradient(alpha, beta, gamma, ratio)
        pull = float(used @ by_gamma) + beyond * (gamma - 1)
        return float(used @ by_alpha), float(used @ by_beta), pull

    return Landscape(loss, gradient, LONGEST)


@kept
def law_of_every() -> LimitTimes:
    """Constants, to 1e-4 for the collapse and 1e-5 for the others, and the next order.

    For infinite H, gamma is 1 from the beginning and a planar flow is left. The next order is what
    a large H changes: the delay of gamma by 1/H, and its rise above 1 once the head answers.
    """

    def found(harmonic: float, gamma: float, rate: float) -> np.ndarray:
        rates, start = (1.0, 1.0, rate), (0.0, 0.0, gamma)
        times = theory.times_in(limit_landscape(harmonic), rates=rates, start=start, end=1e3)
        return np.array([times.alpha, times.beta, times.collapse])

    constant = found(FAR, 1.0, 0.0)
    near, far = ((found(h, 0.0, 1.0) - constant) * h for h in (FAR / 2, FAR))
    after = 2 * far - near  # what is left is of order 1/H
    after[2] = far[2]
    pairs = zip(constant.tolist(), after.tolist(), strict=True)
    return LimitTimes(*(LimitTime(*pair) for pair in pairs))
