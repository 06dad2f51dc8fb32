"""The discussion of §7: the reduced flow for many pairs, and the full model in longer contexts."""

from dataclasses import dataclass

from emergence.presets import preset
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class Discussion:
    """Numbers of pairs N, and the full model's training until its loss is one half."""

    sizes: tuple[int, ...] = tuple(2**k for k in range(2, 15))  # N of the flow
    drawn_pairs: int = 64  # N of the figure
    thresholds: tuple[float, ...] = (0.1, 0.5, 0.75, 1.0, 2.0)  # App. F, Definition 1, and others
    borders: tuple[float, ...] = (0.1, 0.5, 1.0, 1.9, 2.1, 3.0)  # on either side of two
    contexts: tuple[int, ...] = (2, 4, 8, 16)  # N of the trainings
    steps_per_pair: int = 20
    more_steps: int = 60

    def training(self, n_pairs: int) -> MinimalTraining:
        """The full model on Gaussian data (D = 16, B = 512), ended at half the loss."""
        limit = self.steps_per_pair * n_pairs + self.more_steps
        return MinimalTraining(n_pairs, 16, 512, limit, until_loss=0.5)


PRESET = preset(
    paper=Discussion(),
    smoke=Discussion(
        sizes=tuple(2**k for k in range(2, 7)),
        drawn_pairs=16,
        contexts=(2, 3),
        steps_per_pair=0,
        more_steps=120,
    ),
)
