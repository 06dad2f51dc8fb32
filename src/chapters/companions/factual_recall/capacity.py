"""What trials say: facts against parameters, and the worth of a weight.

Both are read off recall where facts do not quite fit. It is taken to depend on one quantity, the
logarithm of P_A + ratio P_M, which is counted in weights of attention, less that of the weights
that S R facts ask for, (S R)^(1/power).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats
from scipy.optimize import curve_fit

Models = Float[np.ndarray, " models"]


class Interval(NamedTuple):
    """An estimate with a two-sided confidence interval."""

    value: float
    low: float
    high: float


class Exchange(NamedTuple):
    """Recall = base + slope ln(P_A + ratio P_M)."""

    base: float
    slope: float
    ratio: Interval

    def mlp_at(self, attention: float, recall: float) -> float:
        """The weights of the MLP that it takes for a recall beside so many of attention."""
        return (np.exp((recall - self.base) / self.slope) - attention) / self.ratio.value


def exchange(attention: Models, mlp: Models, recall: Models, confidence: float = 0.95) -> Exchange:
    """What a weight of the MLP is worth in weights of attention, for models with the same facts.

    Least squares; the interval is Student's, of the logarithm of the ratio. Raises ValueError where
    there are no more models than numbers to fit.
    """

    def law(weights, base, slope, log_ratio):
        return base + slope * np.log(weights[0] + np.exp(log_ratio) * weights[1])

    found, half = _fitted(law, np.stack([attention, mlp]), recall, (0.0, 0.1, 1.0), confidence)
    ends = np.array([found[2] - half[2], found[2], found[2] + half[2]])
    low, value, high = np.exp(ends).tolist()
    return Exchange(float(found[0]), float(found[1]), Interval(value, low, high))


def power(
    attention: Models, mlp: Models, facts: Models, recall: Models, confidence: float = 0.95
) -> Interval:
    """The power of parameters that facts follow at equal recall; the ratio is fitted along.

    Least squares; the interval is Student's, of the power's inverse. Raises ValueError where there
    are no more models than numbers to fit.
    """

    def law(weights, base, slope, log_ratio, inverse):
        worth = np.log(weights[0] + np.exp(log_ratio) * weights[1])
        return base + slope * (worth - inverse * np.log(weights[2]))

    given = np.stack([attention, mlp, facts])
    found, half = _fitted(law, given, recall, (0.0, 0.1, 1.0, 1.0), confidence)
    inverse, half = float(found[3]), float(half[3])
    return Interval(1 / inverse, 1 / (inverse + half), 1 / (inverse - half))


def _fitted(law, given, recall, start, confidence):
    """Fitted numbers, and half the widths of their intervals."""
    free = len(recall) - len(start)
    if free < 1:
        raise ValueError(f"{len(recall)} models leave nothing for an interval of {len(start)} fits")
    found, covariance = curve_fit(law, given, recall, start)
    return found, stats.t.ppf((1 + confidence) / 2, free) * np.diag(covariance) ** 0.5
