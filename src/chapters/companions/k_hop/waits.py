"""Times to emergence of several runs, of which some may be censored at the limit."""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int


@runtime_checkable
class Waiting(Protocol):
    """What was measured of several runs."""

    @property
    def moments(self) -> Int[np.ndarray, " times"]:
        """The recorded steps; the last one is the limit of a run that has not learned."""

    @property
    def waits(self) -> Float[np.ndarray, " runs"]:
        """The step at which each run has learned; infinity if never."""


def median_wait(measured: Waiting) -> float:
    """The median over the runs, in steps; a censored one counts as its limit."""
    return float(np.median(np.minimum(measured.waits, measured.moments[-1])))


def in_words(measured: Waiting) -> str:
    """All runs as text, such as 75, 100, > 2000."""
    limit = measured.moments[-1]
    return ", ".join(f"{w:.0f}" if np.isfinite(w) else f"> {limit}" for w in measured.waits)
