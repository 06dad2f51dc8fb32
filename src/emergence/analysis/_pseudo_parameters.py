"""The 19 pseudo-parameters of trained networks: their order, their presence, their prediction."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.subspace import HEAD, INDUCTION_HEAD, NAMES

from ._curves import first_fallen

OUTPUT = [NAMES.index(name) for name in NAMES if name.startswith("gamma")]
APART = 0.1  # of the largest output, how far any may be from its prediction


def head_lead(pseudo: Float[Tensor, "*runs 19"]) -> Float[Tensor, "*runs"]:
    """The smallest size of alpha_3, beta_2, gamma_3 over the greatest of the other sixteen (§5).

    Args:
        pseudo: the 19 in the order of `subspace.NAMES`, of one network or of several runs.

    Returns:
        The ratio, above 1 where the head leads.
    """
    head = torch.tensor([name in INDUCTION_HEAD for name in NAMES])
    return pseudo[..., head].abs().amin(dim=-1) / pseudo[..., ~head].abs().amax(dim=-1)


def presence(
    pseudo: Float[Tensor, "runs 19"],
    law: Float[np.ndarray, "19"],
    alone: Float[np.ndarray, "19"],
    smallest: float,
) -> tuple[float, int]:
    """How clearly trained runs have the pseudo-parameters that are expected (Theorem 1).

    The means over runs should have the predicted head, and what else the 19 have when they are
    trained alone, with the right signs. What should be at least twice `smallest` counts as visible.
    The four gamma should be within a tenth of the largest of their predicted values.

    Args:
        pseudo: the 19 of every run.
        law: the values of `training.predict_minimal`.
        alone: those of the 19 trained without any other weight.
        smallest: the smallest visible size, as in `analysis.Structure`, > 0.

    Returns:
        A margin, at least 1 if both hold, and the number of visible ones. The margin is the lesser
        of the smallest visible one over `smallest`, and that tenth over the largest distance of a
        gamma; it is 0 if nothing should be visible.
    """
    expected = alone.copy()
    expected[HEAD] = law[HEAD]
    visible = np.abs(expected) >= 2 * smallest
    if not visible.any():
        return 0.0, 0
    means = pseudo.mean(dim=0).numpy()
    signed = means * np.sign(expected) / smallest
    apart = np.abs(means - law)[OUTPUT].max()
    margin = APART * np.abs(law[OUTPUT]).max() / apart if apart > 0 else np.inf
    return float(min(signed[visible].min(), margin)), int(visible.sum())


class Agreement(NamedTuple):
    """How far trained networks are from their prediction, one value per seed (Apps. C, D).

    Attributes:
        half_loss: first step with a loss of 1/2, measured over predicted; infinity if the measured
            loss never falls so low, 0 if only the predicted one never does, `nan` if neither does.
        nineteen: of each coordinate, the largest difference of its mean over seeds while
            D alpha_3 is predicted to be at most 1/2, over the largest value predicted until then
            for the same layers: those of alpha and beta, or of gamma.
        end: mean loss of the last fifth of the steps, minus the predicted one.
        head: alpha_3 after the last recorded step, over the predicted value.
    """

    half_loss: Float[np.ndarray, " seeds"]
    nineteen: Float[np.ndarray, "19"]
    end: Float[np.ndarray, " seeds"]
    head: Float[np.ndarray, " seeds"]


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
    with np.errstate(invalid="ignore"):
        half_loss = first_fallen(steps, loss, 0.5) / half
    return Agreement(
        half_loss,
        np.abs(pseudo.mean(axis=0) - expected)[before].max(axis=0) / largest,
        (loss - expected_loss)[:, tail].mean(axis=1),
        pseudo[:, -1, three] / expected[-1, three],
    )
