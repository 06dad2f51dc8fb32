"""Trainings in batches of several sizes, for the law of their noise."""

from dataclasses import dataclass

from emergence.preset import preset
from emergence.training.settings import MinimalTraining


@dataclass(frozen=True)
class Setting:
    """N pairs in D dimensions, trained for so many steps in batches of each of these sizes."""

    n_pairs: int
    dim: int
    steps: int
    batch_sizes: tuple[int, ...]

    def training(self, batch_size: int) -> MinimalTraining:
        return MinimalTraining(self.n_pairs, self.dim, batch_size, self.steps, record_every=2)


@dataclass(frozen=True)
class BatchNoise:
    """Sizes of the trainings, and of the estimates that the law needs."""

    floors: tuple[Setting, ...]
    weights: Setting  # whose weights are read against the batch size
    early: int = 20  # steps at which nothing has emerged
    draws: int = 8
    sequences: int = 128

    def widest(self) -> Setting:
        return max(self.floors, key=lambda setting: setting.dim)


PRESET = preset(
    paper=BatchNoise(
        # Figure 4's setting, and half of it
        (Setting(16, 32, 240, (256, 512, 1024)), Setting(8, 16, 400, (256, 512, 1024))),
        Setting(4, 16, 400, (128, 256, 512, 1024, 2048)),  # Figure 3's
    ),
    smoke=BatchNoise(
        (Setting(2, 4, 12, (16, 32)), Setting(2, 8, 12, (16, 32))),
        Setting(2, 4, 12, (16, 32)),
        early=4,
        draws=2,
        sequences=16,
    ),
)
