"""The first integral along the flow, under finite steps, and in the full model."""

from dataclasses import dataclass

from emergence.presets import preset
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class FirstIntegral:
    """Full training where the first integral holds for three parameters, and sizes of the flow.

    Orthonormal vectors are short, hence the rate: 64 is a quarter of a unit of flow time a step.
    """

    training: MinimalTraining
    followed_pairs: tuple[int, ...] = (2, 3, 10, 100, 10**4, 10**6)
    ordered_pairs: tuple[int, ...] = (*range(2, 65), *(2**k for k in range(7, 21)))


PRESET = preset(
    paper=FirstIntegral(
        MinimalTraining(4, 16, 512, 400, learning_rate=64.0, data="orthonormal", query="last"),
    ),
    smoke=FirstIntegral(
        MinimalTraining(2, 8, 32, 160, learning_rate=16.0, data="orthonormal", query="last"),
        followed_pairs=(2, 10),
        ordered_pairs=tuple(range(2, 9)),
    ),
)
