"""Figures 6 to 14: weights at three moments of training, for 4, 8 and 16 pairs."""

from dataclasses import dataclass

from emergence.experiments.captions import SMALL_WEIGHTS, weights_training
from emergence.presets import preset
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class WeightsDuringTraining:
    """One training a number of pairs, with the moments that the captions give."""

    four: MinimalTraining  # Figures 6 to 8
    eight: MinimalTraining  # Figures 9 to 11
    sixteen: MinimalTraining  # Figures 12 to 14
    turns: int = 3999  # of the null of `analysis.structure`
    chance: float = 0.05  # of one false alarm in all figures and settings
    sequences: int = 4096  # of one gradient
    gradients: int = 10  # their mean stands for the population


PRESET = preset(
    paper=WeightsDuringTraining(
        weights_training(4, 100, 200, 400),
        weights_training(8, 200, 400, 800),
        weights_training(16, 250, 500, 1000),
    ),
    smoke=WeightsDuringTraining(
        SMALL_WEIGHTS,
        SMALL_WEIGHTS,
        SMALL_WEIGHTS,
        turns=800,
        chance=0.2,
        sequences=64,
        gradients=2,
    ),
)
