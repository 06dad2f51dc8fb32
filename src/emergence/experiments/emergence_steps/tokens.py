"""Steps until the transformer of §2 emerges, and the loss that says so."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float

from emergence.analysis.curves import first_fallen
from emergence.training.settings import TokenTraining
from emergence.training.transformer import Start, train_tokens


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
