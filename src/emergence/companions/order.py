"""Whether things come one after the other."""

import numpy as np
from jaxtyping import Float


def in_order(times: Float[np.ndarray, "runs events"]) -> Float[np.ndarray, " runs"]:
    """1 for a run whose times rise strictly and are all finite, else 0."""
    earlier, later = times[:, :-1], times[:, 1:]
    return ((earlier < later) & np.isfinite(later)).all(axis=1).astype(float)
