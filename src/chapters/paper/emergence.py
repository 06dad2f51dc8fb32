"""Figure 4: the 19 pseudo-parameters and the loss, all weights free or three parameters."""

from dataclasses import dataclass, replace

from emergence.experiments.captions import SMALL_DYNAMICS, dynamics_training
from emergence.presets import preset
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class Emergence:
    """Figure 4's training, and the same with batches larger than printed.

    The larger ones follow from the first, so they change with it. Weights are kept halfway, where
    trainings end that are not drawn, and at the end.
    """

    training: MinimalTraining
    most: int = 16  # the largest batch over the printed one, for what is left without noise
    larger_seeds: int = 2
    largest_seeds: int = 1
    level: int = 80  # a step just before the loss falls

    def __post_init__(self) -> None:
        if len(self.training.snapshots) != 2:
            raise ValueError(f"snapshots should be two steps, got {self.training.snapshots}")

    @property
    def double(self) -> MinimalTraining:
        """Twice the batch, until halfway."""
        return self._larger(2, self.training.snapshots[0])

    @property
    def fourfold(self) -> MinimalTraining:
        """Four times the batch, drawn beside Figure 4."""
        return self._larger(4, self.training.steps)

    @property
    def largest(self) -> MinimalTraining:
        """The largest batch, until the first record after halfway."""
        return self._larger(self.most, self.training.snapshots[0] + self.training.record_every)

    def _larger(self, times: int, steps: int) -> MinimalTraining:
        larger = times * self.training.batch_size
        halfway = self.training.snapshots[:1]
        return replace(self.training, batch_size=larger, steps=steps, snapshots=halfway)


PRESET = preset(
    paper=Emergence(replace(dynamics_training(16, 32, 400), snapshots=(200, 400))),
    smoke=Emergence(replace(SMALL_DYNAMICS, snapshots=(44, 90)), most=4, level=20),
)
