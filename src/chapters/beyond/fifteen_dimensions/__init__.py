"""A literal reading of Theorem 1: only the 19 pseudo-parameters are free (sizes of §4)."""

from dataclasses import dataclass

from emergence.presets import preset
from emergence.subspace import NAMES
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class FifteenDimensions:
    """The training, and the fresh batches over which gradients are averaged at each moment."""

    training: MinimalTraining
    batches: int = 200


PRESET = preset(
    paper=FifteenDimensions(
        MinimalTraining(4, 16, 512, 400, trained=NAMES, snapshots=(0, 10, 30, 60, 100, 200, 400))
    ),
    smoke=FifteenDimensions(
        MinimalTraining(2, 8, 32, 30, trained=NAMES, snapshots=(0, 10, 30)), batches=20
    ),
)
