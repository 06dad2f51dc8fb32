"""Whether the pseudo-parameters that should be visible in trained weights are there (Theorem 1)."""

import numpy as np
from jaxtyping import Float
from torch import Tensor


def presence(
    pseudo: Float[Tensor, "runs 19"], expected: Float[np.ndarray, "19"], smallest: float
) -> tuple[float, int]:
    """Whether trained runs have the pseudo-parameters that theory expects (Theorem 1).

    Only those count that should be at least twice `smallest`, which noise cannot hide.

    Args:
        pseudo: the 19 of every run.
        expected: the values from `training.predict_minimal`.
        smallest: the smallest visible size, as in `analysis.Structure`, > 0.

    Returns:
        The least mean over runs with the sign expected, in units of `smallest`, or 0 if there are
        none; and the number of those that should be visible.

    Example:
        >>> expected = np.array([1.0] + [0.0] * 18)
        >>> analysis.presence(2 * torch.from_numpy(expected)[None], expected, 0.25)
        (8.0, 1)
    """
    visible = np.abs(expected) >= 2 * smallest
    there = pseudo.mean(dim=0).numpy() * np.sign(expected) / smallest
    return float(there[visible].min(initial=np.inf)) if visible.any() else 0.0, int(visible.sum())
