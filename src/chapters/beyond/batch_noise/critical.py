"""The batch size from which on the loss no longer rises after emergence (chapter Batch noise)."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

TENTH = 10
LEAST = 1e-3  # a rise below is none, and has no logarithm


def rise(loss: Float[np.ndarray, " times"]) -> float:
    """How far a loss has risen again at the end of a training (chapter Batch noise).

    Args:
        loss: of a training or of a law, at least ten values at equal distances, > 0.

    Returns:
        The mean over the last tenth, over the least mean of a tenth; 1 where it does not rise.

    Raises:
        ValueError: for fewer than ten values.

    Example:
        >>> rise(np.array([8.0, 4.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0]))
        3.0
    """
    if len(loss) < TENTH:
        raise ValueError(f"a tenth of {len(loss)} values has none")
    means = np.lib.stride_tricks.sliding_window_view(loss, len(loss) // TENTH).mean(axis=-1)
    return float(means[-1] / means.min())


def critical_batch(batch_sizes: Sequence[float], rises: Sequence[float], threshold: float) -> float:
    """The batch size at which a rise falls to a threshold (chapter Batch noise).

    Args:
        batch_sizes: two, > 0.
        rises: what `rise` gives at each.
        threshold: > 1.

    Returns:
        The batch size, with the logarithm of the rise over one linear in that of the batch size;
        NaN where the rise does not fall.

    Example:
        >>> round(critical_batch((100.0, 400.0), (1.4, 1.1), 1.2))
        200
    """
    sizes = np.log(batch_sizes)
    first, second = np.log(np.maximum(np.asarray(rises) - 1, LEAST))
    if first <= second:
        return float("nan")
    share = (first - np.log(threshold - 1)) / (first - second)
    return float(np.exp(sizes[0] + share * (sizes[1] - sizes[0])))
