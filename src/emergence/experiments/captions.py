"""Trainings with the settings of the captions of Apps. C and D, and tiny versions of them."""

from dataclasses import replace

from emergence.subspace import INDUCTION_HEAD
from emergence.training import MinimalTraining


def weights_training(n_pairs: int, *snapshots: int) -> MinimalTraining:
    """A training as in the captions of App. C: weights at three moments, B = 512, D = 16 (App. C).

    Args:
        n_pairs: pairs N in a sequence, >= 1.
        snapshots: numbers of updates after which weights are kept; training ends at the last.
    """
    last = snapshots[-1]
    return MinimalTraining(
        n_pairs, 16, 512, last, snapshots=snapshots, record_every=max(1, last // 100)
    )


SMALL_WEIGHTS = MinimalTraining(2, 8, 32, 30, snapshots=(10, 20, 30), record_every=5)


def dynamics_training(n_pairs: int, dim: int, steps: int) -> MinimalTraining:
    """A training as in the captions of App. D: learning rate 1, B = 256 (App. D, Figs. 4, 15, 16).

    Args:
        n_pairs: pairs N in a sequence, >= 1.
        dim: dimension D of an item, label or position, even.
        steps: number of updates, >= 1; the paper does not print it.

    Example:
        >>> captions.dynamics_training(4, 16, 300).batch_size
        256
    """
    return MinimalTraining(n_pairs, dim, 256, steps, record_every=2)


SMALL_DYNAMICS = MinimalTraining(2, 8, 64, 90, record_every=2)


def constrained(settings: MinimalTraining) -> MinimalTraining:
    """The same training with only alpha_3, beta_2 and gamma_3 free (Fig. 4, bottom; §5).

    Args:
        settings: the settings of a training of all weights.
    """
    return replace(settings, trained=INDUCTION_HEAD)


def lengthened(settings: MinimalTraining, rate: float = 1.0) -> MinimalTraining:
    """The same training with more steps, in proportion to one over its learning rate (Fig. 4; §5).

    Args:
        settings: a training whose number of steps is not printed.
        rate: the learning rate, > 0, for which its number of steps was chosen.

    Returns:
        The settings with k times as many steps, and snapshots k times as late, where k is `rate`
        over the learning rate, rounded to a whole number, and at least 1.
    """
    times = max(1, round(rate / settings.learning_rate))
    snapshots = tuple(times * step for step in settings.snapshots)
    return replace(settings, steps=times * settings.steps, snapshots=snapshots)
