"""First passage: the steps at which a training of either network passes its thresholds."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int

from emergence import training
from emergence.analysis import first_fallen, first_reached
from emergence.running.memo import kept
from emergence.subspace import INDUCTION_HEAD, NAMES


def minimal_steps(
    settings: training.MinimalTraining,
    seeds: Sequence[int],
    *,
    device: torch.device,
    label: str,
    levels: tuple[float, float, float] = (0.5, 0.5, 0.5),
) -> Float[np.ndarray, "seeds 4"]:
    """The first recorded steps at which the head and the loss pass levels, or infinity (§4, §5).

    Args:
        settings, seeds, device, label: as `training.train_minimal` takes them.
        levels: the levels of the three, in the units of the weights; that of the loss is 1/2.

    Raises:
        ArithmeticError: if a run diverges.
        ValueError: if there are no seeds, or the data are out of their range.
    """
    record = training.train_minimal(settings, seeds, device=device, label=label)
    return _first(record.steps.numpy(), record.pseudo.numpy(), record.loss.numpy(), levels)


def predicted_minimal_steps(
    settings: training.MinimalTraining, *, levels: tuple[float, float, float] = (0.5, 0.5, 0.5)
) -> Float[np.ndarray, "4"]:
    """The steps of `first_passage.minimal_steps` on the path of population descent (§4).

    Args:
        settings: a training on Gaussian data from zero initialisation.
        levels: the levels of alpha_3, beta_2 and gamma_3.

    Raises:
        ValueError: if the closed form does not cover the settings.

    Example:
        >>> settings, levels = captions.dynamics_training(8, 16, 60), (0.5 / 16, 0.5 / 16, 0.5)
        >>> first_passage.predicted_minimal_steps(settings, levels=levels).tolist()
        [33.0, 19.0, 41.0, 39.0]
    """
    path = training.predict_minimal(settings)
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
    """The cross-entropy ln N, in nats, of a model that only knows the labels of the context (§2).

    Args:
        n_pairs: pairs N in the context, >= 1.
    """
    return float(np.log(n_pairs))


@kept
def token_steps(
    settings: training.TokenTraining,
    seeds: Sequence[int],
    *,
    device: torch.device,
    label: str,
    start: training.Start | None = None,
) -> Float[np.ndarray, " seeds"]:
    """The first steps at which the batch loss of the transformer is at most half of ln N (§2).

    Args:
        settings, device, label, start: as `training.train_tokens` takes them.
        seeds: the seeds, one training for each.

    Returns:
        One step per seed; infinity if a run does not get there in time or diverges before.

    Raises:
        ValueError: if the data are out of their range.
    """
    level = knows_labels_only(settings.n_pairs) / 2

    def one(seed: int) -> float:
        try:
            record = training.train_tokens(settings, seed, device=device, start=start, label=label)
        except ArithmeticError:
            return np.inf
        steps = np.arange(len(record.loss))
        return float(first_fallen(steps, record.loss.numpy()[None], level)[0])

    return np.array([one(seed) for seed in seeds])
