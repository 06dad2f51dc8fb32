"""Prediction of a training on Gaussian data by the population gradient on orthonormal inputs."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from emergence import theory
from emergence.running.memo import kept
from emergence.subspace import NAMES
from emergence.theory import positions

from ._settings import MinimalTraining


class Prediction(NamedTuple):
    """The path of population descent, in the units of `training.MinimalRecord` (§4).

    Attributes:
        steps: updates made before each row, 0, 1, 2 and so on.
        pseudo: the 19 pseudo-parameters in the order of `subspace.NAMES`.
        loss: the population loss, a mean over dimensions.
    """

    steps: Int[np.ndarray, " times"]
    pseudo: Float[np.ndarray, "times 19"]
    loss: Float[np.ndarray, " times"]


@kept
def predict_minimal(settings: MinimalTraining) -> Prediction:
    """Predict `training.train_minimal` on Gaussian data, without data and with nothing fitted (§4).

    This is descent on the population loss in the 19 dimensions of Theorem 1, with a row after every
    update. It neglects overlaps of inputs, of relative size 1/sqrt(D), and the noise of batches.

    Args:
        settings: a training on Gaussian data from zero, of all weights or of named
            pseudo-parameters, under either mask and supervision; its batch size does not matter.

    Raises:
        ValueError: if the closed form does not cover the settings.

    Example:
        >>> settings = training.MinimalTraining(n_pairs=8, dim=16, batch_size=256, steps=41)
        >>> int((training.predict_minimal(settings).loss > 0.5).sum())
        39
    """
    choices = (settings.data, settings.copies, settings.windows)
    if choices != ("gaussian", 1, (None, None)) or settings.initial_scale:
        raise ValueError(
            "the prediction is for Gaussian data, no copies, no windows and a start at zero, got "
            f"data = {settings.data}, copies = {settings.copies}, windows = {settings.windows} and "
            f"initial_scale = {settings.initial_scale}"
        )
    n, query, mask = settings.n_pairs, settings.query, settings.mask
    landscape = (
        theory.landscape_of(n, query, model="full", mask=mask)
        if settings.supervision == "query"
        else positions.landscape(positions.weighting(n, "every"), query, model="full", mask=mask)
    )
    rates = theory.gaussian_rates(float(settings.dim), settings.learning_rate)
    # The landscape's coordinates are scores, D times the weights of both layers of attention.
    units = np.repeat([settings.dim, settings.dim, 1.0], landscape.groups)
    held = dict(settings.held)
    free = [name not in held and name in (settings.trained or NAMES) for name in NAMES]
    start = units * [held.get(name, 0.0) for name in NAMES]
    path = theory.descent_in(
        landscape, settings.steps, rates=np.repeat(rates, landscape.groups) * free, start=start
    )
    return Prediction(np.arange(settings.steps + 1), path.points / units, path.loss)
