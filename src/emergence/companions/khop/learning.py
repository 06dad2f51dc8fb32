"""When is each number of hops learned, and in which order?"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from ...probes import first_reached
from ..retrieval.train import RetrievalRecord


def learned(
    record: RetrievalRecord, hops: Sequence[int], level: float
) -> Float[np.ndarray, "runs hops"]:
    """The first recorded step at which accuracy on each number of hops is at least `level`."""
    steps, accuracy = record.steps.numpy(), record.accuracy.numpy()
    times = [first_reached(steps, accuracy[..., hop - 1], level) for hop in hops]
    return np.stack(times, axis=1)


def in_order(times: Float[np.ndarray, "runs events"]) -> Float[np.ndarray, " runs"]:
    """1 for a run whose times rise strictly and are all finite, else 0."""
    earlier, later = times[:, :-1], times[:, 1:]
    return ((earlier < later) & np.isfinite(later)).all(axis=1).astype(float)
