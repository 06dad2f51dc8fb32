"""Whether trained weights have the pseudo-parameters that theory expects (Theorem 1)."""

import numpy as np
from jaxtyping import Float
from torch import Tensor

from emergence.subspace import HEAD, NAMES

OUTPUT = [NAMES.index(name) for name in NAMES if name.startswith("gamma")]
APART = 0.1  # of the largest output, how far any may be from its prediction


def presence(
    pseudo: Float[Tensor, "runs 19"],
    law: Float[np.ndarray, "19"],
    alone: Float[np.ndarray, "19"],
    smallest: float,
) -> tuple[float, int]:
    """How clearly trained runs have the pseudo-parameters that are expected (Theorem 1).

    Two things are asked of the means over runs. The head that is predicted, and what else the 19
    have when they are trained alone, is there with its sign; only what should be at least twice
    `smallest` counts, which noise cannot hide. And the output has its size, which the noise of
    batches leaves as it is: all four are within a tenth of the largest of their prediction.

    Args:
        pseudo: the 19 of every run.
        law: the values of `training.predict_minimal`.
        alone: those of the 19 trained without any other weight.
        smallest: the smallest visible size, as in `analysis.Structure`, > 0.

    Returns:
        A margin and the number of those that should be visible. The margin is the least of the
        first, in units of `smallest`, or how often the largest distance of an output goes into that
        tenth, whichever is less; 0 if nothing should be visible. It is at least 1 if both are so.

    Example:
        >>> law = np.linspace(0.1, 1.0, 19)
        >>> trained = torch.from_numpy(1.05 * law)[None]
        >>> margin, count = analysis.presence(trained, law, np.zeros(19), 0.05)
        >>> round(margin, 6), count
        (2.0, 3)
    """
    expected = alone.copy()
    expected[HEAD] = law[HEAD]
    visible = np.abs(expected) >= 2 * smallest
    if not visible.any():
        return 0.0, 0
    means = pseudo.mean(dim=0).numpy()
    signed = means * np.sign(expected) / smallest
    apart = np.abs(means - law)[OUTPUT].max()
    margin = APART * np.abs(law[OUTPUT]).max() / apart if apart > 0 else np.inf
    return float(min(signed[visible].min(), margin)), int(visible.sum())
