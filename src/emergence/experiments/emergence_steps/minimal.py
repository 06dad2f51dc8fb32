"""Steps until the disentangled transformer emerges."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int

from emergence.analysis.curves import first_fallen, first_reached
from emergence.subspace import INDUCTION_HEAD, NAMES
from emergence.training.minimal import train_minimal
from emergence.training.predicted import predict_minimal
from emergence.training.settings import MinimalTraining


def minimal_steps(
    settings: MinimalTraining,
    seeds: Sequence[int],
    *,
    device: torch.device,
    label: str,
    levels: tuple[float, float, float] = (0.5, 0.5, 0.5),
) -> Float[np.ndarray, "seeds 4"]:
    """The first steps at which alpha_3, beta_2, gamma_3 pass their levels and the loss is 1/2."""
    record = train_minimal(settings, seeds, device=device, label=label)
    return _first(record.steps.numpy(), record.pseudo.numpy(), record.loss.numpy(), levels)


def predicted_minimal_steps(
    settings: MinimalTraining, *, levels: tuple[float, float, float] = (0.5, 0.5, 0.5)
) -> Float[np.ndarray, "4"]:
    """The same steps of population descent of all nineteen, with nothing fitted."""
    path = predict_minimal(settings)
    return _first(path.steps, path.pseudo[None], path.loss[None], levels)[0]


def _first(
    steps: Int[np.ndarray, " times"],
    pseudo: Float[np.ndarray, "runs times 19"],
    loss: Float[np.ndarray, "runs times"],
    levels: tuple[float, float, float],
) -> Float[np.ndarray, "runs 4"]:
    reached = [
        first_reached(steps, pseudo[..., NAMES.index(name)], level)
        for name, level in zip(INDUCTION_HEAD, levels, strict=True)
    ]
    return np.stack([*reached, first_fallen(steps, loss, 0.5)], axis=1)
