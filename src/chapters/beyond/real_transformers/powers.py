"""An exponent fitted to the sizes at which every run emerged."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.analysis import Exponent, exponent


class PowerLaw(NamedTuple):
    """A power fitted to the sizes at which every run emerged (§6, App. F).

    Attributes:
        exponent: the fit.
        sizes: those that count.
        never: how many runs never emerged.
    """

    exponent: Exponent
    sizes: Float[np.ndarray, " sizes"]
    never: int


def power_law(
    sizes: Sequence[int] | np.ndarray,
    times: Float[np.ndarray, "sizes seeds"],
    confidence: float = 0.95,
) -> PowerLaw:
    """A power fitted to times to emergence, every run a point (§6, App. F).

    A size with a run that never emerged is left out of the fit and counted: keeping its other runs
    would bend the line down.

    Args:
        sizes: > 0, one per row of `times`.
        times: > 0, one run per column; infinity if never reached.
        confidence: of Student's interval, between 0 and 1.

    Returns:
        The fit, the sizes that count and the number of runs that never emerged.

    Raises:
        ValueError: if fewer than three sizes are left.

    Example:
        >>> times = np.array([[1.0, 1.0], [4.0, 4.0], [16.0, 16.0], [np.inf, 64.0]])
        >>> law = power_law([1, 2, 4, 8], times)
        >>> round(law.exponent.slope, 9), law.never
        (2.0, 1)
    """
    complete = np.isfinite(times).all(axis=1)
    if complete.sum() < 3:
        raise ValueError(
            f"a power needs three sizes at which all runs emerged, got {complete.sum()}"
        )
    kept = np.asarray(sizes, dtype=float)[complete]
    points = np.repeat(kept, times.shape[1])
    fit = exponent(points, times[complete].ravel(), confidence)
    return PowerLaw(fit, kept, int((~np.isfinite(times)).sum()))
