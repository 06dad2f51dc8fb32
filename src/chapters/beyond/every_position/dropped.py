"""Trainings in which the first positions have no loss, under either mask, and their predictions."""

from dataclasses import dataclass

import numpy as np
import torch

from emergence import theory
from emergence.experiments.first_passage import knows_labels_only
from emergence.models import Mask
from emergence.tasks import Query
from emergence.training import Optimiser

from .flows import late
from .stored import TokensCell, crossed
from .training import AskedWeights, train_asked_tokens, train_asked_weights

CPU = torch.device("cpu")
LEVEL = 0.5
LOOK = 10  # steps of the transformer from one look at the fixed contexts to the next


@dataclass(frozen=True)
class Dropped:
    """All 28 D^2 weights from zero on Gaussian pairs with D = 2N, at learning rate 1."""

    n_pairs: int  # pairs N
    skipped: int  # how many of the shortest prefixes have no loss
    mask: Mask
    query: Query  # which pair of each prefix is asked for
    steps: int  # updates of a run
    seed: int  # of the data
    batch_size: int = 32  # contexts a step


@dataclass(frozen=True)
class DroppedTokens:
    """The transformer of §2, any pair of each prefix being asked for, from the same weights."""

    n_pairs: int
    skipped: int
    optimiser: Optimiser  # `adamw` or `sgd`
    limit: int  # updates, after which it counts as not formed
    seed: int  # of start and data


def steps_to_both(curve: np.ndarray) -> float:
    """Steps until alpha_3 and beta_2, the columns, are both at their level; infinity for never."""
    reached = [crossed(np.arange(float(len(curve))), part, LEVEL) for part in curve.T]
    return max(np.inf if step is None else step for step in reached)


def predicted_course(run: Dropped) -> np.ndarray:
    """alpha_3 and beta_2 by step on population descent of the nineteen, in units of the weights."""
    landscape = theory.landscape_of(
        run.n_pairs, run.query, model="full", mask=run.mask,
        supervision=late(run.n_pairs, run.skipped).tolist(),
    )  # fmt: skip
    path = theory.descent_in(landscape, run.steps, rates=theory.gaussian_rates(2.0 * run.n_pairs))
    return np.stack([path.alpha, path.beta], axis=1)


def trained(run: Dropped) -> np.ndarray:
    """D alpha_3 and D beta_2 before each step, until both have emerged; a run of a sweep."""
    settings = AskedWeights(
        "last" if run.query == "last" else "every",
        run.n_pairs, run.batch_size, run.steps, mask=run.mask, skipped=run.skipped,
    )  # fmt: skip
    label = f"without {run.skipped}, {run.mask}, {run.query}, seed {run.seed}"
    rows = train_asked_weights(settings, run.seed, device=CPU, label=label, until_both=LEVEL)
    return rows[:, :2]


def trained_tokens(run: DroppedTokens) -> float:
    """Steps until the loss on whole contexts is half of ln N; a run of a sweep."""
    settings = TokensCell("every", run.n_pairs, run.optimiser, run.limit).training()
    level = LEVEL * knows_labels_only(run.n_pairs)
    times, losses = train_asked_tokens(
        settings, "every", run.seed,
        level=level, device=CPU, skipped=run.skipped, look_every=LOOK,
        label=f"{run.optimiser}, without {run.skipped}, seed {run.seed}",
    )  # fmt: skip
    steps = crossed(times, -losses, -level)
    return np.inf if steps is None else steps
