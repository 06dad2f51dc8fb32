"""The time to emergence of an induction head under AdamW, from counts."""

import math

from ._counts import Pulls

CONSTANT = 3.0  # in units of learning rate times steps, from eight pilot trainings on made-up texts


def steps_to_head(found: Pulls, batch_size: int, *, learning_rate: float = 3e-3) -> float:
    """Steps of AdamW until a two-layer network has an induction head, from counts (this book).

    Args:
        found: as from `clock.pulls`, for the context that is trained on.
        batch_size: windows B of a step, >= 1.
        learning_rate: the learning rate of AdamW, > 0.

    Returns:
        The number of steps; infinity if no head forms.

    Raises:
        ValueError: if a number is out of its range.
    """
    if batch_size < 1 or not learning_rate > 0:
        raise ValueError(f"no training with batch size {batch_size} and rate {learning_rate}")
    pulls = found.output, found.output, found.match, found.previous  # the output drives all three
    if min(signal for signal, _ in pulls) <= 0:
        return math.inf  # the text drives a weight in the wrong direction
    noise_over_signal = math.prod(noise / signal for signal, noise in pulls) ** (1 / len(pulls))
    batch_tokens = batch_size * found.context
    return float(CONSTANT / learning_rate * noise_over_signal / batch_tokens**0.5)
