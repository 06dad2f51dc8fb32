"""Figures 15 and 16: standard and constrained training at two other sizes."""

from dataclasses import dataclass

from emergence.experiments.captions import SMALL_DYNAMICS, dynamics
from emergence.presets import preset
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class TrainingDynamics:
    """One training a figure."""

    figure_15: MinimalTraining
    figure_16: MinimalTraining


PRESET = preset(
    paper=TrainingDynamics(dynamics(32, 16, 400), dynamics(8, 32, 200)),
    smoke=TrainingDynamics(SMALL_DYNAMICS, SMALL_DYNAMICS),
)
