"""Figure 3, and the noise of batches in gradients and weights."""

from dataclasses import dataclass

from emergence.experiments import captions
from emergence.presets import preset
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class TrainingDynamics:
    """Figure 3's training, and the batch sizes at which the noise outside the subspace is read."""

    training: MinimalTraining
    smallest_batch: int = 64  # of a gradient
    doublings: int = 9  # every batch size has the sequences of one batch of the largest
    batch_sizes: tuple[int, ...] = (128, 256, 512, 1024, 2048, 4096)  # of trainings
    turns: int = 1999  # of the null of `analysis.structure`


PRESET = preset(
    paper=TrainingDynamics(captions.weights(4, 100, 200, 400)),
    smoke=TrainingDynamics(
        captions.SMALL_WEIGHTS,
        smallest_batch=8,
        doublings=4,
        batch_sizes=(16, 32, 64, 128, 256),
        turns=800,
    ),
)
