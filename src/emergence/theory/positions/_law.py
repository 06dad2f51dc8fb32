"""Two laws of a loss at many positions for many pairs: for late prefixes, and for all."""

from typing import NamedTuple

import numpy as np

from running.memo import kept

from .._flow import Landscape
from .._reduced import reduced_gradient, reduced_loss
from .._times import times_in
from ..limits import gauss
from ._weighting import Weighting, compressed

LONGEST = 2**18  # pairs; longer prefixes push by less than 1e-5 of the whole
FAR = 400.0  # a harmonic number at which what is left of order 1/H^2 is a hundredth of 1/H


class LateAreas(NamedTuple):
    """Areas under gamma at which alpha and beta emerge if late prefixes are queried (this book).

    Attributes:
        alpha: area for alpha_3.
        beta: area for beta_2.
    """

    alpha: float
    beta: float


class LimitTime(NamedTuple):
    """A time of the form N (constant + next/H_N), H_N = 1 + 1/2 + ... + 1/N (this book).

    Attributes:
        constant: the limit of T/N.
        next: the factor of 1/H_N.
    """

    constant: float
    next: float

    def at(self, n_pairs: float | int, harmonic: float) -> float:
        """The time for N pairs and a given H_N.

        Args:
            n_pairs: pairs N, > 0.
            harmonic: H_N, or what replaces it in another mixture, > 0.

        Returns:
            Flow time at unit learning rate.
        """
        return n_pairs * (self.constant + self.next / harmonic)


class LimitTimes(NamedTuple):
    """The law of a loss at every position, with queries for the last pair (this book).

    Attributes:
        alpha: the time of alpha_3.
        beta: the time of beta_2.
        collapse: the time of the loss; its `next` is the value at H = 400 and grows like -log H.
    """

    alpha: LimitTime
    beta: LimitTime
    collapse: LimitTime


def late_areas(weights: Weighting, *, threshold: float = 0.5) -> LateAreas:
    """The area law for any weights on late prefixes, with queries for the last pair (this book).

    There the shares of layer 1 are e^alpha/2n and attention is even. So alpha and beta follow the
    flow of Theorem 2 with the mean of 1/n^2 in place of 1/N^2.

    Args:
        weights: the weight of each prefix n = 1 .. N in the loss, with a sum of 1.
        threshold: the threshold of alpha_3 and beta_2, > 0.

    Returns:
        The areas, with a relative error log n/n at the shortest prefix queried.

    Example:
        >>> last = positions.late_areas(positions.weighting(100, "last"))
        >>> round(last.alpha / 100**2, 3)  # 2 A(1), the constant of Theorem 2
        1.711
    """
    mean = float(weights @ (1 / np.arange(1, len(weights) + 1) ** 2))
    return LateAreas(2 * gauss((2 * threshold) ** 0.5) / mean, 2 * gauss(threshold) / mean)


def limit_landscape(harmonic: float) -> Landscape:
    """The sum of losses over infinitely many prefixes, on the clock t/N (this book).

    For bounded alpha and beta, a prefix of n pairs adds a part of order 1/n^2 to their gradient, so
    the sum converges. Only the gradient of gamma, of order 1/n, does not: its sum is H_N.

    Args:
        harmonic: H_N, > 0; nothing else depends on N.

    Returns:
        The loss up to a constant, and its gradient, with unit rates on the clock t/N.

    Example:
        >>> land = positions.limit_landscape(10.0)
        >>> round(land.gradient(0.0, 0.0, 0.0)[2], 6)  # gamma' = H (1 - gamma)
        -10.0
    """
    used, sizes = compressed(np.ones(LONGEST))
    ratio = sizes.astype(float)
    beyond = harmonic - float(used @ (1 / ratio))

    def loss(alpha: float, beta: float, gamma: float) -> float:
        return float(used @ reduced_loss(alpha, beta, gamma, ratio)) / LONGEST

    def gradient(alpha: float, beta: float, gamma: float) -> tuple[float, float, float]:
        by_alpha, by_beta, by_gamma = reduced_gradient(alpha, beta, gamma, ratio)
        pull = float(used @ by_gamma) + beyond * (gamma - 1)
        return float(used @ by_alpha), float(used @ by_beta), pull

    return Landscape(loss, gradient, LONGEST)


@kept
def limit_times(*, threshold: float = 0.5) -> LimitTimes:
    """Constants and next order of a loss at every position, for the last pair (this book).

    For infinite H, gamma is 1 from the beginning and a planar flow is left. The next order is what
    a large H changes: the delay of gamma by 1/H, and its rise above 1 once the head answers.

    Args:
        threshold: the threshold of alpha_3 and beta_2, > 0.

    Returns:
        The constants, to 1e-4 for the collapse and 1e-5 for the others.

    Raises:
        ArithmeticError: if the solver fails.

    Example:
        >>> law = positions.limit_times()
        >>> round(law.alpha.constant, 3), round(law.beta.constant, 3)
        (2.096, 0.658)
    """

    def found(harmonic: float, gamma: float, rate: float) -> np.ndarray:
        times = times_in(
            limit_landscape(harmonic), rates=(1.0, 1.0, rate), start=(0.0, 0.0, gamma),
            threshold=threshold, end=1e3,
        )  # fmt: skip
        return np.array([times.alpha, times.beta, times.collapse])

    constant = found(FAR, 1.0, 0.0)
    near, far = ((found(h, 0.0, 1.0) - constant) * h for h in (FAR / 2, FAR))
    after = 2 * far - near  # what is left is of order 1/H
    after[2] = far[2]
    pairs = zip(constant.tolist(), after.tolist(), strict=True)
    return LimitTimes(*(LimitTime(*pair) for pair in pairs))
