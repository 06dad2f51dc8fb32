"""The time to emergence of an induction head under AdamW, from counts."""

import math

from ._counts import Pulls

ROOT = 4  # the previous token grows with the fourth power of time
CONSTANT = 3.0  # in units of learning rate times steps, from eight pilot trainings on made-up texts


def strength(found: Pulls, batch_tokens: int) -> float:
    """The geometric mean of the signal-to-noise ratios of a step of B C tokens, the output twice.

    It divides the time to emergence, and is 0 if the text drives a weight in the wrong direction.
    Raises ValueError if a step has less than one token.
    """
    if batch_tokens < 1:
        raise ValueError(f"a step has at least one token, got {batch_tokens}")
    signals = found.output, found.output, found.match, found.previous
    if min(signal for signal, _ in signals) <= 0:
        return 0.0
    product = math.prod(signal / noise for signal, noise in signals)
    return float(product ** (1 / ROOT) * batch_tokens**0.5)


def steps_to_head(found: Pulls, batch_size: int, *, learning_rate: float = 3e-3) -> float:
    """Steps of AdamW until a two-layer network has an induction head, from counts (this book).

    The constant comes from eight pilot trainings of a network of width 128 with one head per layer;
    the rest follows from counts.

    Args:
        found: as from `clock.pulls`, for the context that is trained on.
        batch_size: windows B of a step, >= 1.
        learning_rate: the learning rate of AdamW, > 0.

    Returns:
        The number of steps; infinity if no head forms.

    Raises:
        ValueError: if a number is out of its range.

    Example:
        >>> found = clock.Pulls(8, 9, (0.1, 1.0), (0.1, 1.0), (0.1, 1.0), 0.5, 0.5, 0.1, 0.2)
        >>> round(clock.steps_to_head(found, 50))
        500
    """
    if batch_size < 1 or not learning_rate > 0:
        raise ValueError(f"no training with batch size {batch_size} and rate {learning_rate}")
    pull = strength(found, batch_size * found.context)
    return CONSTANT / (learning_rate * pull) if pull else math.inf
