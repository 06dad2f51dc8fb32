"""Trainings compared with their predictions, up to emergence and at the end."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from emergence.subspace import NAMES

from ._curves import first_fallen


class Agreement(NamedTuple):
    """How far trained networks are from their prediction, one value per seed (Apps. C, D).

    Attributes:
        half_loss: first step with a loss of 1/2, measured over predicted.
        nineteen: of each coordinate, the largest difference of its mean over seeds while
            D alpha_3 is predicted to be at most 1/2, over the largest predicted there of its kind:
            the three alpha and twelve beta, which are scores once multiplied by D, or the gamma.
        end: mean loss of the last fifth of the steps, minus the predicted one.
        head: alpha_3 after the last recorded step, over the predicted value.
    """

    half_loss: Float[np.ndarray, " seeds"]  # first step with a loss of 1/2, measured over predicted
    nineteen: Float[np.ndarray, "19"]
    end: Float[np.ndarray, " seeds"]  # mean loss of the last fifth of the steps, less the predicted
    head: Float[np.ndarray, " seeds"]  # alpha_3 after the last recorded step, over the predicted


def agreement(
    steps: Int[np.ndarray, " times"],
    measured: tuple[Float[np.ndarray, "seeds times 19"], Float[np.ndarray, "seeds times"]],
    predicted: tuple[Float[np.ndarray, "times 19"], Float[np.ndarray, " times"]],
    dim: int,
) -> Agreement:
    """Compare trained coordinates and losses with the predicted ones (Apps. C, D).

    Args:
        steps: the increasing steps of at least five measurements.
        measured: coordinates and losses of all seeds.
        predicted: those of `training.predict_minimal` at the same steps.
        dim: dimension D of an item, label or position.

    Returns:
        Ratios and differences, one value per seed or coordinate.

    Example:
        >>> steps, loss = np.arange(10), np.linspace(1.0, 0.1, 10)
        >>> pseudo = np.outer(np.linspace(0.1, 1.0, 10), np.ones(19))
        >>> found = analysis.agreement(steps, (pseudo[None], loss[None]), (pseudo, loss), 1)
        >>> float(found.nineteen.max())
        0.0
    """
    (pseudo, loss), (expected, expected_loss) = measured, predicted
    three = NAMES.index("alpha_3")
    before = dim * expected[:, three] <= 0.5
    scores = len(NAMES) - 4  # of layers 1 and 2; the rest are the output's
    largest = np.repeat(
        [np.abs(expected[before, :scores]).max(), np.abs(expected[before, scores:]).max()],
        [scores, 4],
    )
    tail = slice(-(len(steps) // 5), None)
    (half,) = first_fallen(steps, expected_loss[None], 0.5)
    return Agreement(
        first_fallen(steps, loss, 0.5) / half,
        np.abs(pseudo.mean(axis=0) - expected)[before].max(axis=0) / largest,
        (loss - expected_loss)[:, tail].mean(axis=1),
        pseudo[:, -1, three] / expected[-1, three],
    )
