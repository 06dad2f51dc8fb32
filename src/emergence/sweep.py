"""Many runs: have them done, find when each emerges, and how that grows with what varies."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from . import probes
from .engine import run
from .minimal import MinimalTraining
from .probes import Exponent
from .subspace import INDUCTION_HEAD, NAMES
from .training import TokenTraining, train_minimal, train_tokens

__all__ = ["Scaling", "knows_labels_only", "minimal_steps", "run", "scaling", "token_steps"]


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
        return float(probes.first_fallen(steps, record.loss.numpy()[None], level)[0])

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
        probes.first_reached(steps, record.pseudo[..., NAMES.index(name)].numpy(), level)
        for name, level in zip(INDUCTION_HEAD, levels, strict=True)
    ]
    return np.stack([*reached, probes.first_fallen(steps, record.loss.numpy(), 0.5)], axis=1)


class Scaling(NamedTuple):
    """A power fitted to the sizes at which every run emerged, and how many runs never did."""

    exponent: Exponent
    sizes: Float[np.ndarray, " sizes"]
    never: int


def scaling(
    sizes: Sequence[int] | np.ndarray,
    times: Float[np.ndarray, "sizes seeds"],
    confidence: float = 0.95,
) -> Scaling:
    """Fit log time against log size, every run a point; ValueError if too few sizes are left.

    A size with a run that never emerged is left out of the fit and counted: keeping its other runs
    would bend the line down.
    """
    complete = np.isfinite(times).all(axis=1)
    if complete.sum() < 3:
        raise ValueError(
            f"a power needs three sizes at which all runs emerged, got {complete.sum()}"
        )
    kept = np.asarray(sizes, dtype=float)[complete]
    points = np.repeat(kept, times.shape[1])
    fit = probes.exponent(points, times[complete].ravel(), confidence)
    return Scaling(fit, kept, int((~np.isfinite(times)).sum()))
