"""Steps until the disentangled transformer emerges."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float

from emergence.analysis.curves import first_fallen, first_reached
from emergence.subspace import INDUCTION_HEAD, NAMES
from emergence.training.minimal import train_minimal
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
    steps = record.steps.numpy()
    reached = [
        first_reached(steps, record.pseudo[..., NAMES.index(name)].numpy(), level)
        for name, level in zip(INDUCTION_HEAD, levels, strict=True)
    ]
    return np.stack([*reached, first_fallen(steps, record.loss.numpy(), 0.5)], axis=1)
