"""Training of the induction head without data or network, where inputs are orthonormal."""

import numpy as np
import torch

from emergence import theory
from emergence.subspace import HEAD, INDUCTION_HEAD, NAMES

from ._minimal import MinimalRecord
from ._settings import MinimalTraining


def train_closed(settings: MinimalTraining, runs: int = 1) -> MinimalRecord:
    """The training of `training.train_minimal` without data, by the closed gradient of App. B.4.

    On orthonormal data, every batch has the population gradient.

    Args:
        settings: a training of the three parameters of the induction head on orthonormal data,
            with queries for the last pair.
        runs: the number of identical runs that are returned, >= 1.

    Returns:
        Measurements after every `record_every` updates.

    Raises:
        ValueError: if the closed form does not cover the settings.

    Example:
        >>> head = {"data": "orthonormal", "query": "last", "trained": subspace.INDUCTION_HEAD}
        >>> settings = training.MinimalTraining(2, 8, batch_size=1, steps=3, **head)
        >>> round(float(training.train_closed(settings).loss[0, 0]), 6)  # 1/D
        0.125
    """
    choices = (settings.data, settings.query, settings.mask, set(settings.trained))
    changed = settings.copies > 1 or settings.windows != (None, None)
    extras = changed or settings.snapshots or settings.held or settings.until_loss is not None
    if choices != ("orthonormal", "last", "strict", set(INDUCTION_HEAD)) or extras:
        raise ValueError(
            "the closed form is for orthonormal data, the last query, the strict mask, "
            f"{', '.join(INDUCTION_HEAD)}, and for no copies, windows, snapshots, held values or "
            f"early end; got {settings}"
        )
    # One 1/D from the mean over dimensions, one from the coordinates (chapter F).
    rate = settings.learning_rate / settings.dim**2
    run = theory.gradient_descent(settings.n_pairs, rate, settings.steps - 1)
    steps = torch.arange(0, settings.steps, settings.record_every)
    pseudo = torch.zeros(len(steps), len(NAMES), dtype=torch.float64)
    head = torch.from_numpy(np.stack([run.alpha, run.beta, run.gamma], axis=-1))
    pseudo[:, HEAD] = head[steps]
    loss = torch.from_numpy(run.loss)[steps] / settings.dim
    return MinimalRecord(
        steps, pseudo.expand(runs, -1, -1), torch.zeros(runs, len(steps)), loss.expand(runs, -1), {}
    )
