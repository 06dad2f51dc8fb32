"""Figure 4: the 19 pseudo-parameters and the loss, all weights free or three parameters."""

from dataclasses import dataclass, replace

from emergence.experiments.captions import SMALL_DYNAMICS, dynamics_training
from emergence.presets import preset
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class Emergence:
    """Figure 4's training, and the same with batches larger than printed."""

    training: MinimalTraining
    double: MinimalTraining
    fourfold: MinimalTraining  # drawn beside Figure 4
    largest: MinimalTraining  # for what is left without noise
    larger_seeds: int = 2
    largest_seeds: int = 1
    level: int = 80  # a step just before the loss falls


def _all(training: MinimalTraining, halfway: int, largest: int, level: int) -> Emergence:
    """Weights are kept halfway, where trainings end that are not drawn."""
    halved = replace(training, snapshots=(halfway,))

    def larger(times: int, steps: int) -> MinimalTraining:
        return replace(halved, batch_size=times * training.batch_size, steps=steps)

    return Emergence(
        halved,
        larger(2, halfway),
        larger(4, training.steps),
        larger(largest, halfway + training.record_every),
        level=level,
    )


PRESET = preset(
    paper=_all(dynamics_training(16, 32, 400), 200, 16, 80), smoke=_all(SMALL_DYNAMICS, 44, 4, 20)
)
