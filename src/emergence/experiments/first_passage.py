"""First passage: the steps at which a training of either network passes its thresholds."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int

from emergence.analysis import first_fallen, first_reached
from emergence.subspace import INDUCTION_HEAD, NAMES
from emergence.training import (
    MinimalTraining,
    Start,
    TokenTraining,
    predict_minimal,
    train_minimal,
    train_tokens,
)


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


def knows_labels_only(n_pairs: int) -> float:
    """The cross-entropy of a model that knows which labels are in the context and no more."""
    return float(np.log(n_pairs))


def token_steps(
    settings: TokenTraining,
    seeds: Sequence[int],
    *,
    device: torch.device,
    label: str,
    start: Start | None = None,
) -> Float[np.ndarray, " seeds"]:
    """The first step at which the batch loss is at most half of ln N.

    Infinity for a run that does not get there in time and for one that diverges before.
    """
    level = knows_labels_only(settings.n_pairs) / 2

    def one(seed: int) -> float:
        try:
            record = train_tokens(settings, seed, device=device, start=start, label=label)
        except ArithmeticError:
            return np.inf
        steps = np.arange(len(record.loss))
        return float(first_fallen(steps, record.loss.numpy()[None], level)[0])

    return np.array([one(seed) for seed in seeds])
