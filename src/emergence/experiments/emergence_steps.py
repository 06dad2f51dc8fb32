"""Steps until a training run emerges, and the loss that says so."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float

from emergence.analysis.curves import first_fallen, first_reached
from emergence.subspace import INDUCTION_HEAD, NAMES
from emergence.training.minimal import train_minimal
from emergence.training.settings import MinimalTraining, TokenTraining
from emergence.training.transformer import train_tokens


def knows_labels_only(n_pairs: int) -> float:
    """The cross-entropy of a model that knows which labels are in the context and no more."""
    return float(np.log(n_pairs))


def token_steps(
    settings: TokenTraining, seeds: Sequence[int], *, device: torch.device, label: str
) -> Float[np.ndarray, " seeds"]:
    """The first step at which the batch loss is at most half of ln N.

    Infinity for a run that does not get there in time and for one that diverges before.
    """
    level = knows_labels_only(settings.n_pairs) / 2

    def one(seed: int) -> float:
        try:
            record = train_tokens(settings, seed, device=device, label=label)
        except ArithmeticError:
            return np.inf
        steps = np.arange(len(record.loss))
        return float(first_fallen(steps, record.loss.numpy()[None], level)[0])

    return np.array([one(seed) for seed in seeds])


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
