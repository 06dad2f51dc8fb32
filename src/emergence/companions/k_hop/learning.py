"""Steps at which each number of hops is learned."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from emergence.analysis.curves import first_reached
from emergence.companions.retrieval.training import RetrievalRecord


def learned(
    record: RetrievalRecord, hops: Sequence[int], level: float
) -> Float[np.ndarray, "runs hops"]:
    """The first recorded step at which accuracy on each number of hops is at least `level`."""
    steps, accuracy = record.steps.numpy(), record.accuracy.numpy()
    times = [first_reached(steps, accuracy[..., hop - 1], level) for hop in hops]
    return np.stack(times, axis=1)
