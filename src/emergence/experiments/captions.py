"""Trainings as the captions of Apps. C and D give them, and their tiny counterparts."""

from dataclasses import replace

from emergence.subspace import INDUCTION_HEAD
from emergence.training import MinimalTraining


def weights(n_pairs: int, *snapshots: int) -> MinimalTraining:
    """App. C: weights at three moments, learning rate 1, B = 512, D = 16."""
    last = snapshots[-1]
    return MinimalTraining(
        n_pairs, 16, 512, last, snapshots=snapshots, record_every=max(1, last // 100)
    )


SMALL_WEIGHTS = MinimalTraining(2, 8, 32, 30, snapshots=(10, 20, 30), record_every=5)


def dynamics(n_pairs: int, dim: int, steps: int) -> MinimalTraining:
    """App. D: learning rate 1 and B = 256. The step counts are not printed.

    Ours go on well past the step at which the induction head has formed.
    """
    return MinimalTraining(n_pairs, dim, 256, steps, record_every=2)


SMALL_DYNAMICS = MinimalTraining(2, 8, 64, 90, record_every=2)


def constrained(settings: MinimalTraining) -> MinimalTraining:
    """The same training with only alpha_3, beta_2 and gamma_3 free (Fig. 4, bottom)."""
    return replace(settings, trained=INDUCTION_HEAD)
