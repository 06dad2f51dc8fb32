"""Two laws of a loss at many positions for many pairs: for late prefixes, and for all."""

from typing import NamedTuple

import numpy as np

from emergence import theory
from emergence.running.memo import kept
from emergence.theory import Landscape, positions
from emergence.theory.limits import gauss

from . import Weights

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
